//! Threads that wait for work and share it.
//!
//! Who has work that several threads can do offers it to those that wait, and begins with it at once. When nothing is left
//! to do, the offer is withdrawn, and only those who have come are waited for: a thread that is slow to wake costs nothing.
//! Threads look for offers for a while before they sleep, since one loop is often followed by another. Work may offer more
//! work; who waits for others helps with offers that are newer than its own, and so nobody ever waits in a circle.
//!
//! Loops can be as short as some microseconds, and it takes a good part of one until a core sees what another has written.
//! So a thread that waits has a seat, one word of memory: who offers work puts it there, and the thread takes it from there
//! and says there when it is done. The list of offers, with its lock, is for those that found too few threads waiting.
#![allow(unsafe_code)]

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering, fence};
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

/// `dz_thread` of the prelude: the lowest address of the stack that generated code may use, and a number, by which a thread
/// knows its part of the work.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Thread {
    stack_low: *mut u8,
    number: i64,
}

impl Thread {
    /// One that calls no generated code.
    pub(crate) const CALLER: Thread = Thread { stack_low: std::ptr::null_mut(), number: 0 };
}

/// What threads do together: it returns when there is nothing left to do.
pub(crate) type Work<'a> = &'a (dyn Fn(Thread) + Sync);

pub(crate) struct Pool {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
}

struct Shared {
    /// Those of the threads, in order.
    seats: Vec<Seat>,
    /// Offers that want more threads than there were waiting, the oldest first.
    open: Mutex<Vec<Listed>>,
    /// How many threads these offers together still want.
    wanted: AtomicUsize,
    /// The number of the newest of them.
    newest: AtomicU64,
    /// The last thread may have left an offer. So many wait for that.
    done: Condvar,
    waiting: AtomicUsize,
    is_over: AtomicBool,
}

/// What the thread is at: [`LOOKING`], [`ASLEEP`] or [`AWAY`]; or the address of an offer that is made to it, with
/// [`TAKEN`] added while it is at work there. Alone on its lines, which processors may fetch in pairs.
#[repr(align(128))]
struct Seat(AtomicUsize);

const LOOKING: usize = 0;
const ASLEEP: usize = 1;
/// At work on an offer of the list.
const AWAY: usize = 2;
/// Addresses of offers are even.
const TAKEN: usize = 1;

struct Offer {
    work: *const (dyn Fn(Thread) + Sync),
    /// How many threads from the list it still wants, and how many are at work. Both change under the lock.
    wanted: AtomicUsize,
    active: AtomicUsize,
    has_panicked: AtomicBool,
}

#[derive(Clone, Copy)]
struct Listed {
    number: u64,
    offer: *const Offer,
}

// SAFETY: what `work` points to can be shared by threads, and `Pool::share` keeps offers alive while they are listed, seated
// or taken.
unsafe impl Send for Listed {}

impl Pool {
    /// A pool with so many threads besides those that call it; none if the system has no more threads.
    pub(crate) fn new(count: usize) -> Option<Pool> {
        let shared = Arc::new(Shared {
            seats: (0..count).map(|_| Seat(AtomicUsize::new(LOOKING))).collect(),
            open: Mutex::default(),
            wanted: AtomicUsize::new(0),
            newest: AtomicU64::new(0),
            done: Condvar::new(),
            waiting: AtomicUsize::new(0),
            is_over: AtomicBool::new(false),
        });
        let mut pool = Pool { shared, threads: Vec::new() };
        for i in 0..count {
            let shared = pool.shared.clone();
            let builder = std::thread::Builder::new().name(format!("dagaz-{i}")).stack_size(STACK);
            let thread = builder.spawn(move || {
                let here = 0u8;
                let low = (&raw const here).addr().saturating_sub(STACK - STACK_RESERVE);
                let stack_low = std::ptr::with_exposed_provenance_mut(low);
                shared.work_until_the_end(&shared.seats[i], Thread { stack_low, number: i as i64 + 1 });
            });
            pool.threads.push(thread.ok()?);
        }
        Some(pool)
    }

    /// Does work in this thread, and in up to so many others.
    pub(crate) fn share(&self, others: usize, thread: Thread, work: Work<'_>) {
        // SAFETY: the lifetime alone changes. This function returns after all who use the pointer have left.
        let shared_work = unsafe { std::mem::transmute::<Work<'_>, Work<'static>>(work) };
        let offer = Offer {
            work: shared_work,
            wanted: AtomicUsize::new(0),
            active: AtomicUsize::new(0),
            has_panicked: AtomicBool::new(false),
        };
        let before = self.shared.newest.load(Ordering::Relaxed);
        let others = others.min(self.threads.len());
        let unseated = others - self.seat(&offer, others);
        let number = if unseated > 0 { Some(self.list(&offer, unseated)) } else { None };
        let mine = catch_unwind(AssertUnwindSafe(|| work(thread)));
        self.shared.withdraw(&offer, (before, number), thread);
        if let Err(panic) = mine {
            resume_unwind(panic);
        }
        assert!(!offer.has_panicked.load(Ordering::Relaxed), "a thread has panicked");
    }

    /// Offers work to threads that wait for some. Gives their number.
    fn seat(&self, offer: &Offer, others: usize) -> usize {
        let mut seated = 0;
        for (seat, thread) in self.shared.seats.iter().zip(&self.threads) {
            if seated == others {
                break;
            }
            let state = seat.0.load(Ordering::Relaxed);
            if (state == LOOKING || state == ASLEEP) && seat.change(state, offer.address()) {
                seated += 1;
                if state == ASLEEP {
                    thread.thread().unpark();
                }
            }
        }
        seated
    }

    /// Offers work to so many of the threads that have time for it later.
    fn list(&self, offer: &Offer, wanted: usize) -> u64 {
        let mut open = self.shared.lock();
        let number = self.shared.newest.fetch_add(1, Ordering::Release) + 1;
        offer.wanted.store(wanted, Ordering::Relaxed);
        open.push(Listed { number, offer });
        self.shared.wanted.fetch_add(wanted, Ordering::SeqCst);
        drop(open);
        // Threads that have gone to sleep meanwhile.
        for (seat, thread) in self.shared.seats.iter().zip(&self.threads) {
            if seat.0.load(Ordering::SeqCst) == ASLEEP {
                thread.thread().unpark();
            }
        }
        number
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.shared.is_over.store(true, Ordering::SeqCst);
        for thread in self.threads.drain(..) {
            thread.thread().unpark();
            // It has nothing to tell: what panics there is reported by `share`.
            let _ = thread.join();
        }
    }
}

impl Seat {
    fn change(&self, from: usize, to: usize) -> bool {
        self.0.compare_exchange(from, to, Ordering::SeqCst, Ordering::Relaxed).is_ok()
    }
}

impl Offer {
    fn address(&self) -> usize {
        (&raw const *self).expose_provenance()
    }

    /// Does the work.
    fn run(&self, thread: Thread) {
        // SAFETY: who made the offer waits until all have left that are seated, or counted as active.
        let work = unsafe { &*self.work };
        if catch_unwind(AssertUnwindSafe(|| work(thread))).is_err() {
            self.has_panicked.store(true, Ordering::Relaxed);
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Vec<Listed>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends an offer whose work is done but for what others are at, and which was made after the one with the number `before`.
    fn withdraw(&self, offer: &Offer, (before, number): (u64, Option<u64>), thread: Thread) {
        let mut are_coming = false;
        for seat in &self.seats {
            let was = seat.0.load(Ordering::Acquire);
            are_coming |= was == offer.address() | TAKEN
                || was == offer.address() && !seat.change(offer.address(), LOOKING);
        }
        if let Some(number) = number {
            let mut open = self.lock();
            open.retain(|listed| listed.number != number);
            self.wanted.fetch_sub(offer.wanted.swap(0, Ordering::Relaxed), Ordering::Relaxed);
        } else if !are_coming {
            return;
        }
        let is_done = || {
            let has_left = |seat: &Seat| seat.0.load(Ordering::Acquire) != offer.address() | TAKEN;
            offer.active.load(Ordering::Acquire) == 0 && self.seats.iter().all(has_left)
        };
        while !is_done() {
            let newest = self.newest.load(Ordering::Relaxed);
            if self.wanted.load(Ordering::Acquire) > 0 && self.help(before, thread) {
                continue;
            }
            if !look(|| is_done() || self.newest.load(Ordering::Acquire) > newest) {
                self.sleep_until_one_leaves(is_done);
            }
        }
    }

    /// Waits until a thread has left an offer, unless the one that matters has done so.
    fn sleep_until_one_leaves(&self, is_done: impl Fn() -> bool) {
        let open = self.lock();
        self.waiting.fetch_add(1, Ordering::SeqCst);
        // Who leaves a seat does so first and looks then whether somebody waits; here it is the other way round.
        fence(Ordering::SeqCst);
        if !is_done() {
            drop(self.done.wait(open).unwrap_or_else(PoisonError::into_inner));
        }
        self.waiting.fetch_sub(1, Ordering::SeqCst);
    }

    /// Works on the oldest listed offer that wants more threads, of those after the one with this number, if there is one.
    fn help(&self, before: u64, thread: Thread) -> bool {
        let open = self.lock();
        // SAFETY: offers are alive while they are in the list.
        let offers =
            open.iter().filter(|listed| listed.number > before).map(|listed| unsafe { &*listed.offer });
        let Some(offer) = offers.into_iter().find(|offer| offer.wanted.load(Ordering::Relaxed) > 0) else {
            return false;
        };
        offer.wanted.fetch_sub(1, Ordering::Relaxed);
        self.wanted.fetch_sub(1, Ordering::Relaxed);
        offer.active.fetch_add(1, Ordering::Relaxed);
        drop(open);
        offer.run(thread);
        let open = self.lock();
        if offer.active.fetch_sub(1, Ordering::Release) == 1 {
            self.done.notify_all();
        }
        drop(open);
        true
    }

    fn work_until_the_end(&self, seat: &Seat, thread: Thread) {
        let is_wanted = || self.wanted.load(Ordering::SeqCst) > 0;
        while !self.is_over.load(Ordering::SeqCst) {
            look(|| seat.0.load(Ordering::Relaxed) != LOOKING || is_wanted());
            match seat.0.load(Ordering::Acquire) {
                LOOKING if is_wanted() => {
                    if seat.change(LOOKING, AWAY) {
                        self.help(0, thread);
                        seat.0.store(LOOKING, Ordering::Release);
                    }
                }
                LOOKING => {
                    if seat.change(LOOKING, ASLEEP) {
                        if !is_wanted() && !self.is_over.load(Ordering::SeqCst) {
                            std::thread::park();
                        }
                        // Unless there is an offer now.
                        seat.change(ASLEEP, LOOKING);
                    }
                }
                offer => self.take(seat, offer, thread),
            }
        }
    }

    /// Works on an offer in this seat, unless it has been withdrawn.
    fn take(&self, seat: &Seat, offer: usize, thread: Thread) {
        if !seat.change(offer, offer | TAKEN) {
            return;
        }
        let offer: *const Offer = std::ptr::with_exposed_provenance(offer);
        // SAFETY: who made the offer waits until the seat is left.
        unsafe { &*offer }.run(thread);
        seat.0.store(LOOKING, Ordering::SeqCst);
        fence(Ordering::SeqCst);
        if self.waiting.load(Ordering::SeqCst) > 0 {
            drop(self.lock());
            self.done.notify_all();
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
        pool.share(3, Thread::CALLER, &|_| {
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
            pool.share(1, Thread::CALLER, &|_| {
                both.wait();
            });
        }
    }

    #[test]
    fn threads_that_take_long_are_waited_for() {
        let pool = Pool::new(1).expect("threads");
        let (caller, both) = (std::thread::current().id(), std::sync::Barrier::new(2));
        for pause in [0, 20] {
            let is_done = AtomicBool::new(false);
            pool.share(1, Thread::CALLER, &|_| {
                both.wait();
                if std::thread::current().id() != caller {
                    std::thread::sleep(std::time::Duration::from_millis(pause));
                    is_done.store(true, Ordering::Relaxed);
                }
            });
            assert!(is_done.into_inner());
        }
    }

    #[test]
    fn threads_are_told_apart() {
        let pool = Pool::new(2).expect("threads");
        let (numbers, all) = (Mutex::new(Vec::new()), std::sync::Barrier::new(3));
        pool.share(2, Thread::CALLER, &|thread| {
            all.wait();
            numbers.lock().expect("no panics").push(thread.number);
        });
        let mut numbers = numbers.into_inner().expect("no panics");
        numbers.sort_unstable();
        assert_eq!(numbers, [0, 1, 2]);
    }

    #[test]
    #[should_panic(expected = "panicked")]
    fn a_panic_elsewhere_is_not_lost() {
        let pool = Pool::new(1).expect("threads");
        let (caller, both) = (std::thread::current().id(), std::sync::Barrier::new(2));
        pool.share(1, Thread::CALLER, &|_| {
            both.wait();
            assert_eq!(std::thread::current().id(), caller);
        });
    }
}
