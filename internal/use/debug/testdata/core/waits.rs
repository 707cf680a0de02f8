// As waits.c, in Rust.
use std::ffi::c_void;
use std::sync::Mutex;
use std::time::Duration;

extern "C" {
    fn backtrace(at: *mut *mut c_void, size: i32) -> i32;
}

static PRINTING: Mutex<()> = Mutex::new(());

struct Worker {
    name: &'static str,
}

impl Worker {
    #[inline(never)]
    fn inner(&self, secret: u64) -> u64 {
        let mut at = [std::ptr::null_mut(); 64];
        {
            let _lock = PRINTING.lock().unwrap();
            let n = unsafe { backtrace(at.as_mut_ptr(), 64) };
            for a in &at[..n as usize] {
                println!("{} {:p}", self.name, *a);
            }
        }
        std::thread::sleep(Duration::from_secs(1000));
        secret + 1
    }

    #[inline(never)]
    fn outer(&self, secret: u64) -> u64 {
        self.inner(secret * 2) + 1
    }
}

fn main() {
    let t = std::thread::spawn(|| Worker { name: "second" }.outer(21));
    let r = Worker { name: "main" }.outer(50);
    let _ = t.join();
    println!("{}", r);
}
