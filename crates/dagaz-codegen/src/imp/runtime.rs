//! The functions of the run-time library, and the intrinsics of the C compiler, that generated code calls.

use dagaz_core::prim::PrimType;

use super::{Access, Combine, Repr};

/// A function of the run-time library, or an intrinsic of the C compiler.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Runtime {
    /// The product of two sizes, saturated at the greatest number; so is that of a negative size.
    SaturatingProduct,
    /// The sum of two numbers, saturated at both ends.
    SaturatingSum,
    /// The grain of a parallel loop: how many iterations a thread takes at once, by their number and the cost of one.
    Grain,
    /// Cache blocking: into how many parts rows are divided so that a part fits the caches.
    CountParts,
    /// Allocates a reference-counted block for so many elements; null if there is no memory.
    Alloc(PrimType),
    /// A block with one reference and the elements of another one: that one itself, or a copy.
    Unique(PrimType),
    /// Whether a block has one reference.
    IsUnique,
    /// Whether a block has so many references.
    IsSharedBy,
    /// Adds a reference to a block, or takes one away, with which the last the block is freed.
    Retain,
    Release,
    /// Copies so many elements.
    Copy(PrimType),
    /// As above, by threads where there is much to copy.
    CopyOnThreads(PrimType),
    /// Makes so many elements zero.
    Zero(PrimType),
    /// A pointer to memory that can be read, for loads whose result is masked.
    Nothing(PrimType),
    /// Prefetches the element at an index, for reading or for writing. There need be no memory.
    Fetch(PrimType),
    /// Prefetches a row of so many elements.
    FetchRow(PrimType),
    /// Prefetches the row after one of so many elements, into the second-level cache.
    FetchNextRow(PrimType),
    /// Privatisation of a histogram: how many copies of so many bins pay for so many values.
    CountCopies,
    /// Privatisation of an accumulator: the same, by iterations, the cost of one, and elements.
    CountAccCopies,
    /// Whether logging the additions to an accumulator pays, by iterations, the cost of one, and elements.
    IsLogged,
    /// As `Grain`, for pieces that log additions.
    LogGrain,
    /// How many partitions of the accumulator a log has.
    CountLogParts,
    /// Initialises the flags by which pieces commit their logs in order: the first piece may begin.
    BeginTurns,
    /// Opens the log of a piece: for an array, by the flags, the number of pieces and the number of the piece.
    OpenLog(PrimType),
    AddToLog(PrimType),
    /// Commits what is left in a log when all pieces before have.
    CloseLog(PrimType),
    /// The number of threads.
    CountThreads,
    /// Spins until a flag is set (acquire); fails if another piece has failed.
    WaitFor,
    /// Sets a flag (release).
    Raise,
    /// A select without a branch.
    Choose(PrimType),
    /// Keeps the C compiler from computing a pointer again: it is in a register from here on.
    InRegister,
    /// The number of lanes of a vector.
    CountLanes(PrimType),
    /// A vector with the neutral element in all lanes.
    NeutralLanes(PrimType, Combine),
    /// A vector load.
    LoadLanes(PrimType),
    /// A horizontal reduction of the lanes of a vector.
    CombineLanes(PrimType, Combine),
    /// Whether the target has masked vector operations.
    HasMasks,
    /// Where a block of rows is written in transposed order: a buffer, or the array itself where transposing does not pay (`turn.c`).
    RoomFor(PrimType),
    /// The index of an element of a row there.
    Turned,
    /// Transposes the rows of that buffer into the array.
    Turn,
    /// Counts the depth of calls, and fails on overflow of the stack.
    Enter,
    Leave,
    /// Polls for interruption, and fails if there was one.
    Tick,
    /// Starts and stops the clock of a profiled statement.
    ProfileStart,
    ProfileStop,
}

impl Runtime {
    /// What a call gives; those that give nothing or a failure are statements, and nobody asks.
    pub fn result(self) -> Repr {
        match self {
            Runtime::SaturatingProduct
            | Runtime::SaturatingSum
            | Runtime::Grain
            | Runtime::CountParts
            | Runtime::CountLanes(_)
            | Runtime::CountCopies
            | Runtime::CountAccCopies
            | Runtime::LogGrain
            | Runtime::CountLogParts
            | Runtime::CountThreads
            | Runtime::Turned
            | Runtime::ProfileStart => Repr::I64,
            Runtime::Alloc(_) | Runtime::Unique(_) => Repr::Block,
            Runtime::IsUnique
            | Runtime::IsSharedBy
            | Runtime::HasMasks
            | Runtime::InRegister
            | Runtime::IsLogged
            | Runtime::BeginTurns
            | Runtime::OpenLog(_)
            | Runtime::AddToLog(_)
            | Runtime::CloseLog(_)
            | Runtime::WaitFor
            | Runtime::Raise
            | Runtime::Fetch(_)
            | Runtime::FetchRow(_)
            | Runtime::FetchNextRow(_)
            | Runtime::Turn
            | Runtime::Retain
            | Runtime::Release
            | Runtime::Copy(_)
            | Runtime::CopyOnThreads(_)
            | Runtime::Zero(_)
            | Runtime::Enter
            | Runtime::Leave
            | Runtime::Tick
            | Runtime::ProfileStop => Repr::BOOL,
            Runtime::Choose(ty) | Runtime::CombineLanes(ty, _) => ty.into(),
            Runtime::NeutralLanes(ty, _) | Runtime::LoadLanes(ty) => Repr::Lanes(ty),
            Runtime::RoomFor(elem) => Repr::pointer(elem),
            Runtime::Nothing(elem) => Repr::Pointer(elem, Access::ReadOnly),
        }
    }
}
