//! What generated programs call of their run-time library.

use dagaz_core::prim::PrimType;

use super::{Access, Combine, Repr};

/// A function of the run-time library, or something that only the C compiler knows.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Runtime {
    /// The product of two sizes, or the greatest number where that is too large or a size is negative.
    SaturatingProduct,
    /// The sum of two sizes, or the number at the end that it would be beyond.
    SaturatingSum,
    /// How many iterations of so many are worth a piece, if one takes so many operations.
    Grain,
    /// Into how many parts rows are divided so that a part stays in the caches.
    CountParts,
    /// A block for so many elements, or none.
    Alloc(PrimType),
    /// A block that nobody else refers to, with the elements of another one.
    Unique(PrimType),
    /// Whether nobody else refers to a block.
    IsUnique,
    /// Whether so many references to a block are all there are.
    IsSharedBy,
    Retain,
    Release,
    /// Copies so many elements.
    Copy(PrimType),
    /// As above, by threads where there is much to copy.
    CopyOnThreads(PrimType),
    /// Makes so many elements zero.
    Zero(PrimType),
    /// A pointer to an element that can be read, whatever it is.
    Nothing(PrimType),
    /// Asks for the element at a place behind a pointer, where nothing may be, to be read or, if that is said, written.
    Fetch(PrimType),
    /// The same for a row of so many elements.
    FetchRow(PrimType),
    /// Asks for the row after one of so many elements.
    FetchNextRow(PrimType),
    /// How many copies of so many places so many values are worth.
    CountCopies,
    /// The same for an accumulator, with the cost of an iteration in between.
    CountAccCopies,
    /// Whether additions to so many places are logged, for so many iterations at some cost.
    IsLogged,
    /// As `Grain`, for pieces that log additions.
    LogGrain,
    /// Into how many parts a log is divided.
    CountLogParts,
    /// Makes it the first piece's turn in so many parts, with so many pieces.
    BeginTurns,
    /// A log for the additions to a place, with the turns, the number of pieces and that of the piece.
    OpenLog(PrimType),
    AddToLog(PrimType),
    CloseLog(PrimType),
    /// How many threads there are.
    CountThreads,
    /// Waits for a flag; fails if it never will be raised.
    WaitFor,
    /// Raises a flag.
    Raise,
    /// One of two numbers, the first one if a condition holds, without a branch.
    Choose(PrimType),
    /// Has a pointer computed where it stands.
    InRegister,
    /// How many numbers a vector has.
    CountLanes(PrimType),
    /// A vector of numbers that change nothing when they are combined with others.
    NeutralLanes(PrimType, Combine),
    /// The vector behind a pointer.
    LoadLanes(PrimType),
    /// All lanes of a vector together.
    CombineLanes(PrimType, Combine),
    /// Whether vector units can leave out lanes.
    HasMasks,
    /// Where the rows of a block are put place by place: a room, or where they belong (`turn.c`).
    RoomFor(PrimType),
    /// Where an element of a row is there.
    Turned,
    /// Writes the rows of that room to where they belong.
    Turn,
    /// Counts a call, or fails if there are too many in each other.
    Enter,
    Leave,
    /// Asks the caller now and then whether to go on, and fails if not.
    Tick,
    /// Begins to count time, and gives the time so far.
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
