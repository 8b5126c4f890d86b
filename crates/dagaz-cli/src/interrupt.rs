//! What happens when the user presses Ctrl-C, or when the process is asked to end.
//!
//! A flag is set. Running programs and C compilers look at it, stop, and clean up behind them. What does not look, such as
//! a command that waits for its input, has nothing to clean up, and ends a moment later with the process.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// As shells have it: 128 and the number of the signal.
pub const EXIT_CODE: u8 = 130;

/// Time to stop in an orderly way.
const GRACE: Duration = Duration::from_millis(400);

pub struct Interrupt {
    flag: Arc<AtomicBool>,
}

impl Interrupt {
    pub fn listen() -> Interrupt {
        let flag = Arc::new(AtomicBool::new(false));
        let set = flag.clone();
        // Without a handler, the system ends the process at once.
        let _ = ctrlc::set_handler(move || {
            if set.swap(true, Ordering::Relaxed) {
                std::process::exit(i32::from(EXIT_CODE));
            }
            std::thread::spawn(|| {
                std::thread::sleep(GRACE);
                std::process::exit(i32::from(EXIT_CODE));
            });
        });
        Interrupt { flag }
    }

    pub fn has_come(&self) -> bool {
        self.flag.load(Ordering::Relaxed)
    }

    /// For those who look whether to stop.
    pub fn flag(&self) -> Option<Arc<AtomicBool>> {
        Some(self.flag.clone())
    }
}
