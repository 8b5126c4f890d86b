-- | Sorting by digits: one bit after the other, the least significant first.
--
-- Try it:
--
--     dagaz run examples/radix_sort.fut --arg '[5, 3, 9, 3, 0]'

-- | Move the elements without the bit before those with it, and keep the order among each kind. Where an element goes
-- is a prefix sum: so many of its kind come before it.
def step [n] 't (bit: t -> bool) (xs: [n]t) : [n]t =
  let zeros = map (\x -> i64.bool (!(bit x))) xs
  let places_of_zeros = exscan (+) 0 zeros
  let count = i64.sum zeros
  let place (i: i64) (x: t) (zeros_before: i64) =
    if bit x then count + i - zeros_before else zeros_before
  in scatter (copy xs) (map3 place (iota n) xs places_of_zeros) xs

-- | Sort by a key; elements with equal keys keep their order.
def sort_by_key [n] 't (key: t -> u32) (xs: [n]t) : [n]t =
  loop xs for i < u32.num_bits do
    step (\x -> u32.get_bit i (key x) == 1) xs

-- ==
-- input { [5u32, 3u32, 9u32, 3u32, 0u32] } output { [0u32, 3u32, 3u32, 5u32, 9u32] }
-- input { [4294967295u32, 0u32, 2147483648u32] } output { [0u32, 2147483648u32, 4294967295u32] }
-- input { empty([0]u32) } output { empty([0]u32) }
entry main [n] (xs: [n]u32) : [n]u32 = sort_by_key id xs

-- | Signed numbers: the sign bit is turned around, so that negative ones come first.
-- ==
-- entry: signed
-- input { [3, -1, 0, -2147483648, 2147483647] } output { [-2147483648, -1, 0, 3, 2147483647] }
entry signed [n] (xs: [n]i32) : [n]i32 =
  sort_by_key (\x -> u32.i32 x ^ 0x80000000) xs

-- | The order in which elements come when they are sorted; equal ones in the order they have.
-- ==
-- entry: order
-- input { [2u32, 1u32, 2u32, 1u32] } output { [1i64, 3i64, 0i64, 2i64] }
entry order [n] (xs: [n]u32) : [n]i64 =
  sort_by_key (.1) (zip (iota n) xs) |> map (.0)

-- | Is a random array sorted afterwards?
-- ==
-- entry: is_sorted
-- random input { [1000]u32 } output { true }
-- random input { [1]u32 } output { true }
entry is_sorted [n] (xs: [n]u32) : bool =
  let ys = main xs
  in all (\i -> i == 0 || ys[i - 1] <= ys[i]) (iota n)
