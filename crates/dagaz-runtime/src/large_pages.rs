//! Memory on large pages, for arrays that go into calls.
//!
//! Generated code has its own large arrays on large pages, where the system has some. Arguments belong to Rust: a program that
//! reads from anywhere in them would wait for the tables of pages more often than for memory. An executable that holds such
//! values asks for large pages with
//!
//! ```text
//! #[global_allocator]
//! static MEMORY: LargePages = LargePages;
//! ```
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};

/// So many bytes are worth it, as in generated code (`DZ_LARGE`).
#[cfg(target_os = "linux")]
const LARGE: usize = 4 << 20;
/// Of most machines; where pages are other ones, the system takes what fits.
#[cfg(target_os = "linux")]
const PAGE: usize = 2 << 20;

/// The allocator of the system, which is told of large memory before it is used.
pub struct LargePages;

// SAFETY: all memory is that of the system's allocator, which does what is asked of it; advice does not change contents.
unsafe impl GlobalAlloc for LargePages {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps to what the allocator asks.
        advised(unsafe { System.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        advised(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: as above; all memory comes from there.
        unsafe { System.dealloc(memory, layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as above.
        advised(unsafe { System.realloc(memory, layout, size) }, size)
    }
}

/// Asks for large pages within memory that was just allocated.
#[cfg(target_os = "linux")]
fn advised(memory: *mut u8, size: usize) -> *mut u8 {
    if size >= LARGE && !memory.is_null() {
        let before = memory.align_offset(PAGE);
        let whole = size.saturating_sub(before) / PAGE * PAGE;
        // SAFETY: these bytes are within the memory. They stay what they are, and a refusal changes nothing.
        let _ = unsafe {
            rustix::mm::madvise(memory.wrapping_add(before).cast(), whole, rustix::mm::Advice::LinuxHugepage)
        };
    }
    memory
}

#[cfg(not(target_os = "linux"))]
fn advised(memory: *mut u8, _: usize) -> *mut u8 {
    memory
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the system has noted about the pages at an address.
    #[cfg(target_os = "linux")]
    fn flags_at(address: usize) -> String {
        let text = std::fs::read_to_string("/proc/self/smaps").unwrap_or_default();
        let mut is_there = false;
        for line in text.lines() {
            let range = line.split(' ').next().and_then(|range| range.split_once('-'));
            let number = |text: &str| usize::from_str_radix(text, 16).ok();
            if let Some((Some(from), Some(to))) = range.map(|(from, to)| (number(from), number(to))) {
                is_there = (from..to).contains(&address);
            }
            if let (true, Some(flags)) = (is_there, line.strip_prefix("VmFlags:")) {
                return flags.to_string();
            }
        }
        String::new()
    }

    #[cfg(target_os = "linux")]
    fn is_on_large_pages(address: usize) -> bool {
        flags_at(address).split(' ').any(|flag| flag == "hg")
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn large_memory_is_on_large_pages_and_small_memory_is_not() {
        if !std::path::Path::new("/sys/kernel/mm/transparent_hugepage").exists() {
            return;
        }
        for (size, is_large) in [(64 << 20, true), (LARGE / 2, false)] {
            let layout = Layout::from_size_align(size, 8).expect("a layout");
            // SAFETY: the layout has a size, and the memory is given back with the same one.
            unsafe {
                let memory = LargePages.alloc(layout);
                assert!(!memory.is_null());
                assert_eq!(is_on_large_pages(memory as usize + size / 2), is_large, "{size} bytes");
                LargePages.dealloc(memory, layout);
            }
        }
    }

    #[test]
    fn memory_keeps_its_contents_as_it_grows_and_shrinks() {
        let sizes = [8 << 20, 1000, 20 << 20, (4 << 20) + 1, 16];
        let mut layout = Layout::from_size_align(64, 64).expect("a layout");
        // SAFETY: every layout has a size, and is the one that the memory has at that time.
        unsafe {
            let mut memory = LargePages.alloc_zeroed(layout);
            assert!((0..64).all(|i| *memory.add(i) == 0));
            memory.write(7);
            memory.add(15).write(9);
            for size in sizes {
                memory = LargePages.realloc(memory, layout, size);
                layout = Layout::from_size_align(size, 64).expect("a layout");
                memory.add(size - 1).write(9);
                assert_eq!((*memory, *memory.add(15), memory.align_offset(64)), (7, 9, 0), "{size} bytes");
            }
            LargePages.dealloc(memory, layout);
            let layout = Layout::from_size_align(LARGE_TEST, 4096).expect("a layout");
            let zeros = LargePages.alloc_zeroed(layout);
            assert!((0..LARGE_TEST).step_by(4093).all(|i| *zeros.add(i) == 0));
            LargePages.dealloc(zeros, layout);
        }
    }

    const LARGE_TEST: usize = 9 << 20;
}
