//! The threads that parallel loops of generated code run on.
#![allow(unsafe_code)]

use std::ffi::c_void;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::pool::{Pool, Thread};

/// Runs a loop until there is nothing left of it to do.
pub(crate) type Work = unsafe extern "C" fn(job: *mut c_void, thread: Thread);

/// A pool with one thread less than there are to be, for the caller works too. It is made when a loop first needs it.
pub(crate) struct Threads {
    count: usize,
    pool: OnceLock<Option<Pool>>,
}

/// A pointer that the threads of one loop share.
#[derive(Clone, Copy)]
struct Job(*mut c_void);

// SAFETY: `Work` of the prelude shares a job between threads by atomic operations and a lock.
unsafe impl Send for Job {}
// SAFETY: as above.
unsafe impl Sync for Job {}

impl Job {
    /// # Safety
    /// The job is one that `work` takes, and lives until this returns.
    unsafe fn run(self, work: Work, thread: Thread) {
        // SAFETY: by the contract of this function.
        unsafe { work(self.0, thread) }
    }
}

impl Threads {
    pub(crate) fn new(count: usize) -> Threads {
        Threads { count: count.max(1), pool: OnceLock::new() }
    }

    pub(crate) fn count(&self) -> usize {
        self.count
    }

    fn pool(&self) -> Option<&Pool> {
        let build = || if self.count > 1 { Pool::new(self.count - 1) } else { None };
        self.pool.get_or_init(build).as_ref()
    }

    /// Calls `each` with all numbers below `count`, in as many threads as there are.
    pub(crate) fn each(&self, count: usize, each: impl Fn(usize) + Sync) {
        let Some(pool) = self.pool().filter(|_| count > 1) else { return (0..count).for_each(each) };
        let next = AtomicUsize::new(0);
        pool.share(self.count.min(count) - 1, Thread::CALLER, &|_| {
            let numbers = std::iter::repeat_with(|| next.fetch_add(1, Ordering::Relaxed));
            numbers.take_while(|i| *i < count).for_each(&each);
        });
    }

    /// Calls `work` in so many threads at once, and in this one; without a pool, in this one alone, which then does all.
    ///
    /// # Safety
    /// `work` may be called with `job` from several threads at once, as often as it is wanted.
    pub(crate) unsafe fn run(&self, work: Work, job: *mut c_void, threads: usize, thread: Thread) {
        let job = Job(job);
        // SAFETY: by the contract of this function; the job lives until the work is done.
        let run = |thread: Thread| unsafe { job.run(work, thread) };
        match self.pool() {
            Some(pool) => pool.share(threads.saturating_sub(1), thread, &run),
            None => run(thread),
        }
    }
}
