//! A loaded shared object, and calls of its functions.
#![allow(unsafe_code)]

use std::ffi::c_void;
use std::time::{Duration, Instant};

use dagaz_codegen::CSource;
use dagaz_core::argument::Argument;
use dagaz_core::exp::{Fun, Loc};
use dagaz_core::interp::{Limits, RuntimeError};
use dagaz_core::prim::Prim;
use dagaz_core::types::Type;
use dagaz_core::value::Value;

use crate::compiler::Object;
use crate::host::{Call, HOST, Host, Note, read_array, read_notes};
use crate::message::message;
use crate::prim_of_bits;
use crate::threads::Threads;

/// Recursive programs may use so much stack, of which only what is used becomes memory.
const STACK: usize = 1 << 30;
/// Programs without recursion run on the stack of the caller if there is so much left of it: many times what frames with the arrays
/// of reductions take.
const LEAST_STACK: usize = 4 << 20;
/// What must be left for one more call.
const STACK_RESERVE: usize = 1 << 20;

/// `dz_value` of the prelude.
#[repr(C)]
struct RawValue {
    bits: u64,
    data: *mut c_void,
    mem: *mut c_void,
    dims: [i64; 16],
}

type Context = *mut c_void;
type EntryFn = unsafe extern "C" fn(Context, *mut RawValue, *mut RawValue) -> i32;
type StartFn = unsafe extern "C" fn(Context, *const Host, *const c_void, i64, i32, *const u8, i32);
type LendFn = unsafe extern "C" fn(Context, *mut RawValue, *const c_void, i64) -> i32;

pub(crate) struct Library {
    /// Aligned memory for the context; the generated code says how much.
    context: Vec<u64>,
    entries: Vec<EntryFn>,
    start: StartFn,
    lend: LendFn,
    give_back: unsafe extern "C" fn(Context, *mut c_void),
    error_site: unsafe extern "C" fn(Context) -> i32,
    error_calls: unsafe extern "C" fn(Context, *mut *const i32) -> i64,
    error_notes: unsafe extern "C" fn(Context, *mut *const Note) -> i64,
    clear: unsafe extern "C" fn(Context),
    peak: unsafe extern "C" fn(Context) -> i64,
    /// Only of a program that counts its time.
    profile: Option<unsafe extern "C" fn(*mut i64)>,
    source: CSource,
    /// How long the last call took, without the values that went in and out.
    pub(crate) elapsed: Duration,
    /// Keeps the functions above loaded.
    _library: libloading::Library,
    /// Where a loaded file must not be deleted.
    _object: Option<Object>,
}

/// What a caller wants of the results.
#[derive(Clone, Copy)]
pub(crate) enum Reading {
    All,
    Nothing,
}

// SAFETY: the context belongs to this value alone, and the generated code has no other state.
unsafe impl Send for Library {}

impl Drop for Library {
    fn drop(&mut self) {
        // SAFETY: the context is one of this library, and nothing uses it afterwards.
        unsafe { (self.clear)(self.context.as_mut_ptr().cast()) }
    }
}

impl Library {
    pub(crate) fn open(object: Object, source: CSource) -> Result<Library, String> {
        // SAFETY: the object was made by us from generated code, which runs nothing when it is loaded.
        let library = unsafe { libloading::Library::new(&object.path) }
            .map_err(|error| format!("cannot load the compiled program: {error}"))?;
        macro_rules! symbol {
            ($name:expr, $ty:ty) => {
                // SAFETY: the prelude, or the printer of entry points, defines the function with this type.
                *unsafe { library.get::<$ty>($name) }.map_err(|error| error.to_string())?
            };
        }
        let context_size = symbol!(b"dz_context_size", unsafe extern "C" fn() -> i64);
        // SAFETY: the function only gives a constant.
        let bytes = usize::try_from(unsafe { context_size() }).map_err(|error| error.to_string())?;
        let mut entries = Vec::new();
        for name in &source.entries {
            entries.push(symbol!(name.as_bytes(), EntryFn));
        }
        let profile = match source.profiled.is_empty() {
            true => None,
            false => Some(symbol!(b"dz_profile_read", unsafe extern "C" fn(*mut i64))),
        };
        Ok(Library {
            context: vec![0; bytes.div_ceil(8)],
            entries,
            start: symbol!(b"dz_start", StartFn),
            lend: symbol!(b"dz_lend", LendFn),
            give_back: symbol!(b"dz_give_back", unsafe extern "C" fn(Context, *mut c_void)),
            error_site: symbol!(b"dz_error_site", unsafe extern "C" fn(Context) -> i32),
            error_calls: symbol!(b"dz_error_calls", unsafe extern "C" fn(Context, *mut *const i32) -> i64),
            error_notes: symbol!(b"dz_error_notes", unsafe extern "C" fn(Context, *mut *const Note) -> i64),
            clear: symbol!(b"dz_clear", unsafe extern "C" fn(Context)),
            peak: symbol!(b"dz_peak", unsafe extern "C" fn(Context) -> i64),
            profile,
            source,
            elapsed: Duration::ZERO,
            _library: library,
            _object: (!cfg!(unix)).then_some(object),
        })
    }

    pub(crate) fn peak(&self) -> u64 {
        // SAFETY: the function only reads the context, which is one of this library.
        let bytes = unsafe { (self.peak)(self.context.as_ptr().cast_mut().cast()) };
        u64::try_from(bytes).unwrap_or(0)
    }

    pub(crate) fn profile(&self) -> Vec<(Loc, u64, u64)> {
        let places = &self.source.profiled;
        let mut numbers = vec![0i64; 2 * places.len()];
        if let Some(read) = self.profile {
            // SAFETY: there is room for two numbers for each place.
            unsafe { read(numbers.as_mut_ptr()) };
        }
        let number = |n: &i64| u64::try_from(*n).unwrap_or(0);
        let counted = places.iter().zip(numbers.chunks_exact(2));
        counted.map(|(loc, pair)| (*loc, number(&pair[0]), number(&pair[1]))).collect()
    }

    /// Calls an entry point with values for all parameters of its function.
    pub(crate) fn call(
        &mut self,
        entry: usize,
        fun: &Fun,
        given: (&[Prim], &[Argument<'_>]),
        (limits, threads): (&Limits, &Threads),
        reading: Reading,
    ) -> Result<Vec<Value>, RuntimeError> {
        let Some(function) = self.entries.get(entry).copied() else {
            return Err(RuntimeError::new("internal error: no such entry point"));
        };
        let rest =
            stacker::remaining_stack().filter(|rest| !self.source.is_recursive && *rest >= LEAST_STACK);
        match rest {
            Some(rest) => self.call_on_stack(function, fun, given, (limits, threads), (reading, rest)),
            None => stacker::grow(STACK, || {
                self.call_on_stack(function, fun, given, (limits, threads), (reading, STACK))
            }),
        }
    }

    fn call_on_stack(
        &mut self,
        function: EntryFn,
        fun: &Fun,
        (sizes, args): (&[Prim], &[Argument<'_>]),
        (limits, threads): (&Limits, &Threads),
        (reading, stack): (Reading, usize),
    ) -> Result<Vec<Value>, RuntimeError> {
        let context: Context = self.context.as_mut_ptr().cast();
        let sites = std::mem::take(&mut self.source.sites);
        let call = Call { limits, sites: &sites, threads };
        let count = i32::try_from(threads.count()).unwrap_or(i32::MAX);
        let memory = limits.memory.and_then(|m| i64::try_from(m).ok()).unwrap_or(i64::MAX);
        let depth = i32::try_from(limits.depth).unwrap_or(i32::MAX);
        let here: *const u8 = (&raw const call).cast();
        let stack_low = here.wrapping_sub(stack - STACK_RESERVE);
        // SAFETY: the context has the size that the library wants; host and call outlive the use of it.
        unsafe {
            (self.start)(context, &raw const HOST, (&raw const call).cast(), memory, depth, stack_low, count)
        };
        let mut input: Vec<RawValue> = Vec::with_capacity(sizes.len() + args.len());
        input.extend(sizes.iter().map(|size| RawValue { bits: size.bits(), ..empty() }));
        let mut is_lent = true;
        for arg in args {
            let mut raw = empty();
            match (arg.as_prim(), arg.elems()) {
                (Some(prim), _) => raw.bits = prim.bits(),
                (None, Some(elems)) => {
                    let data: *const c_void = elems.address().cast();
                    let bytes = i64::try_from(arg.bytes()).unwrap_or(i64::MAX);
                    // SAFETY: the elements live as long as `args`; two references keep them from being written.
                    is_lent &= unsafe { (self.lend)(context, &mut raw, data, bytes) } == 0;
                }
                (None, None) => {}
            }
            input.push(raw);
        }
        if !is_lent {
            return Err(RuntimeError::new("out of memory"));
        }
        let mut output: Vec<RawValue> = fun.ret.iter().map(|_| empty()).collect();
        let start = Instant::now();
        // SAFETY: there are as many values as the function has parameters and results, of the types that it has,
        // which `entry_sizes` has checked.
        let status = unsafe { function(context, input.as_mut_ptr(), output.as_mut_ptr()) };
        self.elapsed = start.elapsed();
        let outcome = match status {
            0 => self.results(context, fun, &output, reading),
            _ => Err(self.error(context, &call)),
        };
        for raw in input.iter().filter(|raw| !raw.mem.is_null()) {
            if status == 0 {
                // SAFETY: the generated code has released its own reference, and this one is ours.
                unsafe { (self.give_back)(context, raw.mem) };
            }
        }
        self.source.sites = sites;
        outcome
    }

    /// The results that are to be read. Memory of all of them goes back.
    fn results(
        &self,
        context: Context,
        fun: &Fun,
        output: &[RawValue],
        reading: Reading,
    ) -> Result<Vec<Value>, RuntimeError> {
        let mut values = Vec::with_capacity(output.len());
        let read = match reading {
            Reading::All => fun.ret.as_slice(),
            Reading::Nothing => &[],
        };
        for (raw, param) in output.iter().zip(read) {
            values.push(match &param.ty {
                Type::Prim(ty) => Some(Value::Prim(prim_of_bits(*ty, raw.bits))),
                Type::Array { elem, dims } => {
                    // SAFETY: the generated code gives as many elements as the sizes say.
                    let array =
                        unsafe { read_array(*elem, raw.data, raw.dims.get(..dims.len()).unwrap_or(&[])) };
                    array.map(Value::Array)
                }
                Type::Acc { .. } => None,
            });
        }
        for raw in output.iter().filter(|raw| !raw.mem.is_null()) {
            // SAFETY: every result comes with a reference of its own, which nothing else releases.
            unsafe { (self.give_back)(context, raw.mem) };
        }
        let all: Option<Vec<Value>> = values.into_iter().collect();
        all.ok_or_else(|| RuntimeError::new("internal error: a result has a negative size"))
    }

    /// The error that the generated code has stopped with. Frees everything.
    fn error(&self, context: Context, call: &Call<'_>) -> RuntimeError {
        // SAFETY: the context is one of this library, and what it points to is copied before it is cleared.
        let (site, calls, notes) = unsafe {
            let mut calls = std::ptr::null();
            let count = usize::try_from((self.error_calls)(context, &mut calls)).unwrap_or(0);
            let calls =
                if count == 0 { Vec::new() } else { std::slice::from_raw_parts(calls, count).to_vec() };
            let mut notes = std::ptr::null();
            let count = (self.error_notes)(context, &mut notes);
            ((self.error_site)(context), calls, read_notes(notes, count))
        };
        let place = |number: i32| usize::try_from(number).ok().and_then(|i| call.sites.get(i));
        let mut error = match place(site) {
            Some(site) => {
                let stopped = call.stopped().unwrap_or("cancelled");
                let mut error = RuntimeError::new(message(&site.kind, &notes, stopped));
                error.loc = site.loc;
                error
            }
            None => RuntimeError::new("internal error: an error without a place"),
        };
        for loc in calls.into_iter().filter_map(place).map(|site| site.loc) {
            if error.loc == Loc::NONE && error.stack.is_empty() {
                error.loc = loc;
            } else {
                error.stack.push(loc);
            }
        }
        // SAFETY: nothing uses what the context holds any more.
        unsafe { (self.clear)(context) };
        error
    }
}

fn empty() -> RawValue {
    RawValue { bits: 0, data: std::ptr::null_mut(), mem: std::ptr::null_mut(), dims: [0; 16] }
}
