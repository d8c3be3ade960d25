// Loops in Rust that look at an object to which only the stack leads: an Arc, a scoped thread's reference, a field of either.
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{mpsc, Arc, Mutex};
use std::thread;
use std::time::Duration;

static SHELF: Mutex<()> = Mutex::new(());
const ROUNDS: usize = 4;

struct Job {
    frames: AtomicUsize,
    name: String,
    done: AtomicBool,
}

struct Decoder {
    done: Arc<AtomicBool>,
}

impl Decoder {
    #[inline(never)]
    fn wait(&self) {
        while !self.done.load(Ordering::Acquire) {
            thread::sleep(Duration::from_millis(2));
        }
    }
}

fn take_request(requests: &mpsc::Receiver<()>) -> bool {
    if requests.recv().is_err() {
        return false;
    }
    thread::sleep(Duration::from_millis(5));
    drop(SHELF.lock());
    true
}

fn send_request(ask: &mpsc::Sender<()>, round: usize) {
    if round == ROUNDS - 1 {
        thread::spawn(|| {
            let _held = SHELF.lock();
            thread::sleep(Duration::from_millis(2500));
        });
        thread::sleep(Duration::from_millis(3));
    }
    ask.send(()).unwrap();
}

fn rest() {
    thread::sleep(Duration::from_millis(60));
}

fn wait_for_arc() {
    let done = Arc::new(AtomicBool::new(false));
    let theirs = done.clone();
    let (ask, requests) = mpsc::channel::<()>();
    thread::spawn(move || {
        while take_request(&requests) {
            theirs.store(true, Ordering::SeqCst);
        }
    });
    for round in 0..ROUNDS {
        done.store(false, Ordering::SeqCst);
        send_request(&ask, round);
        while !done.load(Ordering::SeqCst) {
            thread::sleep(Duration::from_millis(2));
        }
        rest();
    }
}

fn wait_for_job() {
    let job = Arc::new(Job { frames: AtomicUsize::new(0), name: "work".into(), done: AtomicBool::new(false) });
    let theirs = Arc::clone(&job);
    let (ask, requests) = mpsc::channel::<()>();
    thread::spawn(move || {
        while take_request(&requests) {
            theirs.frames.fetch_add(theirs.name.len(), Ordering::Relaxed);
            theirs.done.store(true, Ordering::Release);
        }
    });
    for round in 0..ROUNDS {
        job.done.store(false, Ordering::SeqCst);
        send_request(&ask, round);
        while !job.done.load(Ordering::Acquire) {
            thread::sleep(Duration::from_millis(2));
        }
        rest();
    }
}

fn wait_for_scoped() {
    let done = AtomicBool::new(false);
    let (ask, requests) = mpsc::channel::<()>();
    thread::scope(|scope| {
        let seen = &done;
        scope.spawn(move || {
            while take_request(&requests) {
                seen.store(true, Ordering::SeqCst);
            }
        });
        for round in 0..ROUNDS {
            done.store(false, Ordering::SeqCst);
            send_request(&ask, round);
            while !done.load(Ordering::SeqCst) {
                thread::sleep(Duration::from_millis(2));
            }
            rest();
        }
        std::process::exit(0);
    });
}

fn wait_for_method() {
    let decoder = Decoder { done: Arc::new(AtomicBool::new(false)) };
    let theirs = decoder.done.clone();
    let (ask, requests) = mpsc::channel::<()>();
    thread::spawn(move || {
        while take_request(&requests) {
            theirs.store(true, Ordering::SeqCst);
        }
    });
    for round in 0..ROUNDS {
        decoder.done.store(false, Ordering::SeqCst);
        send_request(&ask, round);
        decoder.wait();
        rest();
    }
}

fn main() {
    match std::env::args().nth(1).as_deref() {
        Some("arc") => wait_for_arc(),
        Some("job") => wait_for_job(),
        Some("scoped") => wait_for_scoped(),
        _ => wait_for_method(),
    }
}
