//! What generated code asks of us: rare scalar operations, whether to go on, traces, and threads.
#![allow(unsafe_code)]

use std::ffi::c_void;
use std::sync::atomic::Ordering;
use std::time::Instant;

use dagaz_codegen::{Site, SiteKind};
use dagaz_core::formats::text;
use dagaz_core::interp::Limits;
use dagaz_core::prim::{BinOp, Prim, PrimType, TernOp, UnOp};
use dagaz_core::prim_eval::{PrimError, convert, eval_binop, eval_ternop, eval_unop};
use dagaz_core::value::{Array, Elems, Value};

use crate::packed::pack;
use crate::pool::Thread;
use crate::prim_of_bits;
use crate::product::{Product, product};
use crate::threads::{Threads, Work};

/// `dz_note` of the prelude.
#[repr(C)]
pub(crate) struct Note {
    ty: i32,
    rank: i32,
    bits: u64,
    data: *const c_void,
    dims: [i64; 16],
}

/// `dz_host` of the prelude.
#[repr(C)]
pub(crate) struct Host {
    unop: extern "C" fn(i32, i32, u64) -> u64,
    binop: extern "C" fn(i32, i32, u64, u64) -> u64,
    ternop: extern "C" fn(i32, i32, u64, u64, u64) -> u64,
    convert: extern "C" fn(i32, i32, u64) -> u64,
    poll: unsafe extern "C" fn(*const Call<'_>) -> i32,
    trace: unsafe extern "C" fn(*const Call<'_>, i32, *const Note, i64),
    parallel: unsafe extern "C" fn(*const Call<'_>, Work, *mut c_void, i64, Thread),
    product:
        unsafe extern "C" fn(*const Call<'_>, i32, *const Product, *const c_void, *const c_void, *mut c_void),
    pack: unsafe extern "C" fn(i32, *const Product, *const c_void, *mut c_void) -> i64,
}

pub(crate) static HOST: Host = Host {
    unop: host_unop,
    binop: host_binop,
    ternop: host_ternop,
    convert: host_convert,
    poll,
    trace,
    parallel,
    product,
    pack,
};

/// The call under way.
pub(crate) struct Call<'a> {
    pub(crate) limits: &'a Limits,
    pub(crate) sites: &'a [Site],
    pub(crate) threads: &'a Threads,
}

impl Call<'_> {
    /// Why the program has to stop, if it has to.
    pub(crate) fn stopped(&self) -> Option<&'static str> {
        if self.limits.cancel.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed)) {
            return Some("cancelled");
        }
        let is_over = self.limits.deadline.is_some_and(|deadline| Instant::now() >= deadline);
        is_over.then_some("the time limit is reached")
    }
}

fn pick<T: Copy>(all: &[T], number: i32) -> Option<T> {
    usize::try_from(number).ok().and_then(|i| all.get(i).copied())
}

/// The generated code uses operations only at the types that have them.
fn bits(result: Result<Prim, PrimError>) -> u64 {
    result.map_or(0, Prim::bits)
}

extern "C" fn host_unop(op: i32, ty: i32, x: u64) -> u64 {
    match (pick(UnOp::ALL, op), pick(&PrimType::ALL, ty)) {
        (Some(op), Some(ty)) => bits(eval_unop(op, prim_of_bits(ty, x))),
        _ => 0,
    }
}

extern "C" fn host_binop(op: i32, ty: i32, x: u64, y: u64) -> u64 {
    match (pick(BinOp::ALL, op), pick(&PrimType::ALL, ty)) {
        (Some(op), Some(ty)) => bits(eval_binop(op, prim_of_bits(ty, x), prim_of_bits(op.second(ty), y))),
        _ => 0,
    }
}

extern "C" fn host_ternop(op: i32, ty: i32, x: u64, y: u64, z: u64) -> u64 {
    match (pick(TernOp::ALL, op), pick(&PrimType::ALL, ty)) {
        (Some(op), Some(ty)) => {
            bits(eval_ternop(op, prim_of_bits(ty, x), prim_of_bits(ty, y), prim_of_bits(ty, z)))
        }
        _ => 0,
    }
}

extern "C" fn host_convert(from: i32, to: i32, x: u64) -> u64 {
    match (pick(&PrimType::ALL, from), pick(&PrimType::ALL, to)) {
        (Some(from), Some(to)) => convert(to, prim_of_bits(from, x)).bits(),
        _ => 0,
    }
}

unsafe extern "C" fn poll(call: *const Call<'_>) -> i32 {
    // SAFETY: `Library::call` passes a pointer to a `Call` that lives until the generated code returns.
    let call = unsafe { &*call };
    i32::from(call.stopped().is_some())
}

unsafe extern "C" fn parallel(
    call: *const Call<'_>,
    work: Work,
    job: *mut c_void,
    threads: i64,
    thread: Thread,
) {
    // SAFETY: as in `poll`.
    let call = unsafe { &*call };
    // SAFETY: the prelude passes a function and a job that threads may share.
    unsafe { call.threads.run(work, job, usize::try_from(threads).unwrap_or(1), thread) }
}

unsafe extern "C" fn trace(call: *const Call<'_>, site: i32, notes: *const Note, count: i64) {
    // SAFETY: as in `poll`.
    let call = unsafe { &*call };
    // SAFETY: the generated code passes its own notes.
    let values = unsafe { read_notes(notes, count) };
    let shown: Vec<String> = values.iter().map(text::print).collect();
    if let Some(Site { kind: SiteKind::Trace(tag), .. }) =
        usize::try_from(site).ok().and_then(|i| call.sites.get(i))
    {
        eprintln!("{tag}: {}", shown.join(" "));
    }
}

/// The values that generated code has noted.
///
/// # Safety
/// `notes` points to `count` notes of the prelude, or `count` is zero.
pub(crate) unsafe fn read_notes(notes: *const Note, count: i64) -> Vec<Value> {
    let count = usize::try_from(count).unwrap_or(0);
    if count == 0 || notes.is_null() {
        return Vec::new();
    }
    // SAFETY: by the contract of this function.
    let notes = unsafe { std::slice::from_raw_parts(notes, count) };
    let values = notes.iter().filter_map(|note| {
        let ty = pick(&PrimType::ALL, note.ty)?;
        if note.rank == 0 {
            return Some(Value::Prim(prim_of_bits(ty, note.bits)));
        }
        let rank = usize::try_from(note.rank).ok()?;
        // SAFETY: the note holds a copy of all elements.
        unsafe { read_array(ty, note.data, note.dims.get(..rank)?) }.map(Value::Array)
    });
    values.collect()
}

/// An array from memory of the generated code.
///
/// # Safety
/// `data` points to as many elements of the type as the sizes say, unless they say none. Booleans are 0 or 1.
pub(crate) unsafe fn read_array(ty: PrimType, data: *const c_void, dims: &[i64]) -> Option<Array> {
    let shape: Vec<usize> = dims.iter().map(|d| usize::try_from(*d).ok()).collect::<Option<_>>()?;
    let count = dagaz_core::value::elements_of(&shape)?;
    macro_rules! read {
        ($con:ident, $t:ty) => {
            Elems::$con(if count == 0 {
                Vec::new()
            } else {
                // SAFETY: by the contract of this function; the generated code aligns all elements.
                unsafe { std::slice::from_raw_parts(data.cast::<$t>(), count) }.to_vec()
            })
        };
    }
    let elems = match ty {
        PrimType::I8 => read!(I8, i8),
        PrimType::I16 => read!(I16, i16),
        PrimType::I32 => read!(I32, i32),
        PrimType::I64 => read!(I64, i64),
        PrimType::U8 => read!(U8, u8),
        PrimType::U16 => read!(U16, u16),
        PrimType::U32 => read!(U32, u32),
        PrimType::U64 => read!(U64, u64),
        PrimType::F16 => read!(F16, half::f16),
        PrimType::F32 => read!(F32, f32),
        PrimType::F64 => read!(F64, f64),
        PrimType::Bool => read!(Bool, bool),
    };
    Array::new(&shape, elems)
}
