// Loops in Rust: the variable is a static, a field of one, or is looked at through nested calls.
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{mpsc, Mutex};
use std::thread;
use std::time::Duration;

struct State {
    frames: AtomicUsize,
    done: AtomicBool,
}

static IS_DONE: AtomicBool = AtomicBool::new(false);
static STATE: State = State { frames: AtomicUsize::new(0), done: AtomicBool::new(false) };
static SHELF: Mutex<()> = Mutex::new(());

#[inline(never)]
fn finish_work(by_field: bool) {
    if by_field {
        STATE.frames.fetch_add(1, Ordering::Relaxed);
        STATE.done.store(true, Ordering::Release);
    } else {
        IS_DONE.store(true, Ordering::SeqCst);
    }
}

#[inline(never)]
fn has_finished() -> bool {
    STATE.done.load(Ordering::Acquire)
}

#[inline(never)]
fn wait_for_static() {
    while !IS_DONE.load(Ordering::SeqCst) {
        thread::sleep(Duration::from_millis(2));
    }
}

#[inline(never)]
fn wait_for_field() {
    while !has_finished() {
        thread::sleep(Duration::from_millis(2));
    }
}

fn main() {
    let by_field = std::env::args().nth(1).as_deref() == Some("field");
    let (ask, requests) = mpsc::channel::<()>();
    let worker = move || {
        for _ in requests {
            thread::sleep(Duration::from_millis(5));
            drop(SHELF.lock());
            finish_work(by_field);
        }
    };
    thread::Builder::new().name("worker".into()).spawn(worker).unwrap();
    for round in 0..4 {
        IS_DONE.store(false, Ordering::SeqCst);
        STATE.done.store(false, Ordering::SeqCst);
        if round == 3 {
            let holder = || {
                let _held = SHELF.lock();
                thread::sleep(Duration::from_millis(2500));
            };
            thread::Builder::new().name("holder".into()).spawn(holder).unwrap();
            thread::sleep(Duration::from_millis(3));
        }
        ask.send(()).unwrap();
        if by_field {
            wait_for_field();
        } else {
            wait_for_static();
        }
        thread::sleep(Duration::from_millis(60));
    }
}
