-- | `x |> f` is `f x`, also where `f` has to be lifted (001 4.10.1 leaves that open).

def successor (x: i64) = x + 1

-- ==
-- entry: numbers
-- input { [7.0, 8.0, 9.0] } output { [1i64, 2i64, 3i64] }
entry numbers (xs: []f64) = indices xs |> successor

-- ==
-- entry: steps
-- input { [1.0, 4.0] } output { 5.0 }
entry steps (xs: []f64) = xs |> f64.sqrt |> (+ 1) |> f64.sum

-- | A function of our own is no pipe, and gives the same.
def hand_over 'a 'b (x: a) (f: a -> b) : b = f x

-- ==
-- entry: by_hand
-- input { [7.0, 8.0, 9.0] } output { [1i64, 2i64, 3i64] }
entry by_hand (xs: []f64) = hand_over (indices xs) successor
