// Loops in Rust around what a lock guards, in an Arc.
use std::sync::{Arc, Condvar, Mutex, RwLock};
use std::thread;
use std::time::Duration;

static SHELF: Mutex<()> = Mutex::new(());

#[inline(never)]
fn wait_mutex(m: &Arc<Mutex<bool>>) {
    while !*m.lock().unwrap() {
        thread::sleep(Duration::from_millis(2));
    }
}

#[inline(never)]
fn wait_rwlock(m: &Arc<RwLock<Option<u32>>>) {
    while m.read().unwrap().is_none() {
        thread::sleep(Duration::from_millis(2));
    }
}

#[inline(never)]
fn wait_condvar(p: &Arc<(Mutex<bool>, Condvar)>) {
    let mut guard = p.0.lock().unwrap();
    while !*guard {
        guard = p.1.wait_timeout(guard, Duration::from_millis(3)).unwrap().0;
    }
}

fn start<F: FnOnce() + Send + 'static>(name: &str, work: F) -> thread::JoinHandle<()> {
    thread::Builder::new().name(name.into()).spawn(work).unwrap()
}

fn start_worker<F: FnOnce() + Send + 'static>(finish: F) -> thread::JoinHandle<()> {
    start("worker", move || {
        thread::sleep(Duration::from_millis(5));
        drop(SHELF.lock());
        finish();
    })
}

fn hold() {
    let _held = SHELF.lock();
    thread::sleep(Duration::from_millis(2500));
}

#[inline(never)]
fn play(kind: &str) {
    let worker = match kind {
        "mutex" => {
            let m = Arc::new(Mutex::new(false));
            let own = m.clone();
            let worker = start_worker(move || *own.lock().unwrap() = true);
            wait_mutex(&m);
            worker
        }
        "rwlock" => {
            let m = Arc::new(RwLock::new(None));
            let own = m.clone();
            let worker = start_worker(move || *own.write().unwrap() = Some(3));
            wait_rwlock(&m);
            worker
        }
        _ => {
            let p = Arc::new((Mutex::new(false), Condvar::new()));
            let own = p.clone();
            let worker = start_worker(move || *own.0.lock().unwrap() = true);
            wait_condvar(&p);
            worker
        }
    };
    worker.join().unwrap();
}

fn main() {
    let kind = std::env::args().nth(1).unwrap_or_default();
    for round in 0..4 {
        let holder = (round == 3).then(|| start("holder", hold));
        if holder.is_some() {
            thread::sleep(Duration::from_millis(3));
        }
        play(&kind);
        if let Some(holder) = holder {
            holder.join().unwrap();
        }
        thread::sleep(Duration::from_millis(60));
    }
}
