//! The threads that parallel loops of generated code run on.
#![allow(unsafe_code)]

use std::cell::Cell;
use std::ffi::c_void;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Threads have so much stack, of which only what is used becomes memory.
const STACK: usize = 256 << 20;
/// What must be left for one more call.
const STACK_RESERVE: usize = 1 << 20;

thread_local! {
    /// The lowest address that generated code may use in a thread of the pool.
    static STACK_LOW: Cell<usize> = const { Cell::new(0) };
}

/// Runs a loop until there is nothing left of it to do.
pub(crate) type Work = unsafe extern "C" fn(job: *mut c_void, stack_low: *mut u8);

/// A work-stealing pool with one thread less than there are to be, for the caller works too. It is made when a loop first
/// needs it.
pub(crate) struct Threads {
    count: usize,
    pool: OnceLock<Option<rayon::ThreadPool>>,
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
    unsafe fn run(self, work: Work, stack_low: *mut u8) {
        // SAFETY: by the contract of this function.
        unsafe { work(self.0, stack_low) }
    }
}

impl Threads {
    pub(crate) fn new(count: usize) -> Threads {
        Threads { count: count.max(1), pool: OnceLock::new() }
    }

    pub(crate) fn count(&self) -> usize {
        self.count
    }

    fn pool(&self) -> Option<&rayon::ThreadPool> {
        let build = || {
            let settings = rayon::ThreadPoolBuilder::new()
                .num_threads(self.count - 1)
                .stack_size(STACK)
                .thread_name(|i| format!("dagaz-{i}"))
                .start_handler(|_| {
                    let here = 0u8;
                    STACK_LOW.set((&raw const here).addr().saturating_sub(STACK - STACK_RESERVE));
                });
            settings.build().ok()
        };
        self.pool.get_or_init(|| if self.count > 1 { build() } else { None }).as_ref()
    }

    /// Calls `each` with all numbers below `count`, in as many threads as there are.
    pub(crate) fn each(&self, count: usize, each: impl Fn(usize) + Sync) {
        let Some(pool) = self.pool().filter(|_| count > 1) else { return (0..count).for_each(each) };
        let next = AtomicUsize::new(0);
        let work = || {
            let numbers = std::iter::repeat_with(|| next.fetch_add(1, Ordering::Relaxed));
            numbers.take_while(|i| *i < count).for_each(&each);
        };
        pool.in_place_scope(|scope| {
            for _ in 1..self.count.min(count) {
                scope.spawn(|_| work());
            }
            work();
        });
    }

    /// Calls `work` in so many threads at once, and in this one; without a pool, in this one alone, which then does all.
    ///
    /// # Safety
    /// `work` may be called with `job` from several threads at once, as often as it is wanted.
    pub(crate) unsafe fn run(&self, work: Work, job: *mut c_void, threads: usize, stack_low: *mut u8) {
        let job = Job(job);
        let Some(pool) = self.pool() else {
            // SAFETY: by the contract of this function.
            return unsafe { job.run(work, stack_low) };
        };
        pool.in_place_scope(|scope| {
            for _ in 1..threads {
                scope.spawn(move |_| {
                    let low = std::ptr::with_exposed_provenance_mut(STACK_LOW.get());
                    // SAFETY: the scope ends after all that was spawned in it, and with it the caller's job.
                    unsafe { job.run(work, low) }
                });
            }
            // SAFETY: by the contract of this function.
            unsafe { job.run(work, stack_low) }
        });
    }
}
