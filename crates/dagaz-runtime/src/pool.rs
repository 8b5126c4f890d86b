//! Threads that wait for work and share it.
//!
//! Who has work that several threads can do offers it to those that wait, and begins with it at once. When nothing is left
//! to do, the offer is withdrawn, and only those who have come are waited for: a thread that is slow to wake costs nothing.
//! Threads look for offers for a while before they sleep, since one loop is often followed by another. Work may offer more
//! work; who waits for others helps with offers that are newer than its own, and so nobody ever waits in a circle.
#![allow(unsafe_code)]

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

/// Threads have so much stack, of which only what is used becomes memory.
const STACK: usize = 256 << 20;
/// What must be left for one more call.
const STACK_RESERVE: usize = 1 << 20;
/// How often a thread looks for something before it lets others have the core, and how often it does that before it sleeps:
/// for some tens of microseconds in all.
const LOOKS: usize = 64;
const ROUNDS: usize = 16;

/// What threads do together: called with the lowest address of the stack that generated code may use, it returns when there
/// is nothing left to do.
pub(crate) type Work<'a> = &'a (dyn Fn(*mut u8) + Sync);

pub(crate) struct Pool {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
}

#[derive(Default)]
struct Shared {
    offers: Mutex<Offers>,
    /// How many threads all offers together still want.
    wanted: AtomicUsize,
    /// The number of the newest offer.
    newest: AtomicU64,
    /// A thread that sleeps is wanted.
    wake: Condvar,
    /// The last thread has left an offer.
    done: Condvar,
}

#[derive(Default)]
struct Offers {
    /// The oldest first.
    open: Vec<Arc<Offer>>,
    sleeping: usize,
    is_over: bool,
}

struct Offer {
    number: u64,
    work: *const (dyn Fn(*mut u8) + Sync),
    /// How many threads it still wants, and how many are at work. Both change under the lock.
    wanted: AtomicUsize,
    active: AtomicUsize,
    has_panicked: AtomicBool,
}

// SAFETY: `work` is a pointer to something that threads may share, and `Pool::share` keeps it alive while it is used.
unsafe impl Send for Offer {}
// SAFETY: as above.
unsafe impl Sync for Offer {}

impl Pool {
    /// A pool with so many threads besides those that call it; none if the system has no more threads.
    pub(crate) fn new(count: usize) -> Option<Pool> {
        let mut pool = Pool { shared: Arc::default(), threads: Vec::new() };
        for i in 0..count {
            let shared = pool.shared.clone();
            let builder = std::thread::Builder::new().name(format!("dagaz-{i}")).stack_size(STACK);
            let thread = builder.spawn(move || {
                let here = 0u8;
                let low = (&raw const here).addr().saturating_sub(STACK - STACK_RESERVE);
                shared.work_until_the_end(std::ptr::with_exposed_provenance_mut(low));
            });
            pool.threads.push(thread.ok()?);
        }
        Some(pool)
    }

    /// Does work in this thread, and in up to so many others.
    pub(crate) fn share(&self, others: usize, stack_low: *mut u8, work: Work<'_>) {
        let others = others.min(self.threads.len());
        let offer = self.shared.offer(others, work);
        let mine = catch_unwind(AssertUnwindSafe(|| work(stack_low)));
        self.shared.withdraw(&offer, stack_low);
        if let Err(panic) = mine {
            resume_unwind(panic);
        }
        assert!(!offer.has_panicked.load(Ordering::Relaxed), "a thread has panicked");
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.shared.lock().is_over = true;
        self.shared.wake.notify_all();
        for thread in self.threads.drain(..) {
            // It has nothing to tell: what panics there is reported by `share`.
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Offers> {
        self.offers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn offer(&self, others: usize, work: Work<'_>) -> Arc<Offer> {
        // SAFETY: the lifetime alone changes. `Pool::share` returns after all who use the pointer have left.
        let work = unsafe { std::mem::transmute::<Work<'_>, Work<'static>>(work) };
        let mut offers = self.lock();
        let offer = Arc::new(Offer {
            number: self.newest.fetch_add(1, Ordering::Release) + 1,
            work,
            wanted: AtomicUsize::new(others),
            active: AtomicUsize::new(0),
            has_panicked: AtomicBool::new(false),
        });
        offers.open.push(offer.clone());
        self.wanted.fetch_add(others, Ordering::Release);
        let woken = others.min(offers.sleeping);
        drop(offers);
        (0..woken).for_each(|_| self.wake.notify_one());
        offer
    }

    /// Ends an offer whose work is done but for what others are at.
    fn withdraw(&self, offer: &Arc<Offer>, stack_low: *mut u8) {
        let mut offers = self.lock();
        let unused = offer.wanted.swap(0, Ordering::Relaxed);
        self.wanted.fetch_sub(unused, Ordering::Relaxed);
        offers.open.retain(|other| !Arc::ptr_eq(other, offer));
        let is_done = || offer.active.load(Ordering::Acquire) == 0;
        while !is_done() {
            if let Some(newer) = self.take(&offers, offer.number + 1) {
                drop(offers);
                self.run(&newer, stack_low);
                offers = self.lock();
                continue;
            }
            let newest = self.newest.load(Ordering::Relaxed);
            drop(offers);
            let has_changed = look(|| is_done() || self.newest.load(Ordering::Acquire) > newest);
            offers = self.lock();
            if !has_changed && !is_done() {
                offers = self.done.wait(offers).unwrap_or_else(PoisonError::into_inner);
            }
        }
    }

    /// A place in the oldest offer that wants more threads, of those with at least this number.
    fn take(&self, offers: &Offers, least: u64) -> Option<Arc<Offer>> {
        let wants = |offer: &&Arc<Offer>| offer.number >= least && offer.wanted.load(Ordering::Relaxed) > 0;
        let offer = offers.open.iter().find(wants)?;
        offer.wanted.fetch_sub(1, Ordering::Relaxed);
        self.wanted.fetch_sub(1, Ordering::Relaxed);
        offer.active.fetch_add(1, Ordering::Relaxed);
        Some(offer.clone())
    }

    /// Does the work of an offer that has a place for this thread.
    fn run(&self, offer: &Offer, stack_low: *mut u8) {
        // SAFETY: who made the offer waits until `active` is zero again.
        let work = unsafe { &*offer.work };
        if catch_unwind(AssertUnwindSafe(|| work(stack_low))).is_err() {
            offer.has_panicked.store(true, Ordering::Relaxed);
        }
        let guard = self.lock();
        if offer.active.fetch_sub(1, Ordering::Release) == 1 {
            self.done.notify_all();
        }
        drop(guard);
    }

    fn work_until_the_end(&self, stack_low: *mut u8) {
        loop {
            look(|| self.wanted.load(Ordering::Acquire) > 0);
            let mut offers = self.lock();
            let offer = loop {
                if offers.is_over {
                    return;
                }
                if let Some(offer) = self.take(&offers, 0) {
                    break offer;
                }
                offers.sleeping += 1;
                offers = self.wake.wait(offers).unwrap_or_else(PoisonError::into_inner);
                offers.sleeping -= 1;
            };
            drop(offers);
            self.run(&offer, stack_low);
        }
    }
}

/// Looks for a while whether something is so.
fn look(is_so: impl Fn() -> bool) -> bool {
    for _ in 0..ROUNDS {
        for _ in 0..LOOKS {
            if is_so() {
                return true;
            }
            std::hint::spin_loop();
        }
        std::thread::yield_now();
    }
    is_so()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts what is done by work that several threads share, each piece of which may offer more work.
    fn count(pool: &Pool, pieces: usize, depth: usize) -> usize {
        let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
        pool.share(3, std::ptr::null_mut(), &|_| {
            while next.fetch_add(1, Ordering::Relaxed) < pieces {
                let inside = if depth > 0 { count(pool, pieces, depth - 1) } else { 1 };
                done.fetch_add(inside, Ordering::Relaxed);
            }
        });
        done.into_inner()
    }

    #[test]
    fn everything_is_done_once() {
        let pool = Pool::new(3).expect("threads");
        for _ in 0..200 {
            assert_eq!(count(&pool, 7, 0), 7);
            assert_eq!(count(&pool, 5, 2), 125);
        }
    }

    #[test]
    fn threads_that_sleep_are_woken() {
        let pool = Pool::new(1).expect("threads");
        let both = std::sync::Barrier::new(2);
        for pause in [0, 20] {
            std::thread::sleep(std::time::Duration::from_millis(pause));
            // Neither of the two threads goes on without the other.
            pool.share(1, std::ptr::null_mut(), &|_| {
                both.wait();
            });
        }
    }

    #[test]
    #[should_panic(expected = "panicked")]
    fn a_panic_elsewhere_is_not_lost() {
        let pool = Pool::new(1).expect("threads");
        let (caller, both) = (std::thread::current().id(), std::sync::Barrier::new(2));
        pool.share(1, std::ptr::null_mut(), &|_| {
            both.wait();
            assert_eq!(std::thread::current().id(), caller);
        });
    }
}
