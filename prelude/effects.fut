-- | Effects: state that changes in order, and accumulators that many iterations add to at once.
--
-- A handler makes a reference and gives it to a function, which it runs. The reference is of use in that function
-- alone. Part of what a reference refers to is a reference, too: `r[i]`, `r.f`. Unlike the rest of the prelude, plain
-- Futhark does not have these names.

-- | A reference to something that can be read and written.
type^ state 't = intrinsics.state t

-- | A reference to something that can only be added to.
type^ accum 't = intrinsics.accum t

-- | Runs a function with a reference to a value that is `init` at first. Gives the result and the last value.
def run_state 's 'a (init: s) (body: state s -> a) : (a, *s) =
  intrinsics.run_state init body

-- | As `run_state`, but gives the last value alone.
def yield_state 's 'a (init: s) (body: state s -> a) : *s =
  let (_, final) = intrinsics.run_state init body in final

-- | Runs a function with an accumulator, which starts at zero. Gives the result and the total.
def run_accum 's 'a (body: accum s -> a) : (a, *s) =
  intrinsics.run_accum body

-- | As `run_accum`, but gives the total alone.
def yield_accum 's 'a (body: accum s -> a) : *s =
  let (_, total) = intrinsics.run_accum body in total

-- | As `run_accum`, with another way of adding up: an associative and commutative operator on the elements, and its
-- neutral element. The accumulator holds an element, or an array of them.
#[elements]
def run_accum_with 's 'e 'a (op: e -> e -> e) (ne: e) (body: accum s -> a) : (a, *s) =
  intrinsics.run_accum_with op ne body

-- | As `run_accum_with`, but gives the total alone.
#[elements]
def yield_accum_with 's 'e 'a (op: e -> e -> e) (ne: e) (body: accum s -> a) : *s =
  let (_, total) = intrinsics.run_accum_with op ne body in total

-- | What a reference refers to, now.
def get 't (r: state t) : *t =
  intrinsics.state_get r

-- | Replaces what a reference refers to.
def (:=) 't (r: state t) (value: t) : () =
  intrinsics.state_set r value

-- | Adds to what an accumulator refers to.
def (+=) 't (r: accum t) (value: t) : () =
  intrinsics.accumulate r value
