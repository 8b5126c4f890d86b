-- | Conway's game of life on a torus: the world wraps around at its edges.
--
-- Try it:
--
--     dagaz run examples/life.fut --entry picture --arg 4 --arg 8 --arg 16

-- | The states of a cell, as a sum type. `#alive` and `#dead` are its constructors.
type cell = #dead | #alive

def cell (alive: bool) : cell = if alive then #alive else #dead

def count (c: cell) : i32 = match c case #alive -> 1 case #dead -> 0

-- | How many of the eight neighbours of every cell are alive.
--
-- First every cell adds its left and right neighbours to itself, then the same happens with rows: that makes the
-- nine cells of a square, from which the cell itself is taken away.
def neighbours [h] [w] (world: [h][w]cell) : [h][w]i32 =
  let counts = map (map count) world
  let across = map (\row -> map3 (\a b c -> a + b + c) (rotate (-1) row) row (rotate 1 row)) counts
  let squares = map3 (map3 (\a b c -> a + b + c)) (rotate (-1) across) across (rotate 1 across)
  in map2 (map2 (-)) squares counts

-- | A live cell with two or three neighbours goes on living; a dead one with three is born.
def step [h] [w] (world: [h][w]cell) : [h][w]cell =
  let next (c: cell) (n: i32) : cell =
    match (c, n)
    case (#alive, 2) -> #alive
    case (_, 3) -> #alive
    case _ -> #dead
  in map2 (map2 next) world (neighbours world)

-- A blinker turns; a block stays.
-- ==
-- entry: generations
-- input { 1 [[false, false, false, false, false],
--            [false, false, true,  false, false],
--            [false, false, true,  false, false],
--            [false, false, true,  false, false],
--            [false, false, false, false, false]] }
-- output {   [[false, false, false, false, false],
--             [false, false, false, false, false],
--             [false, true,  true,  true,  false],
--             [false, false, false, false, false],
--             [false, false, false, false, false]] }
-- input { 7 [[true,  true,  false, false],
--            [true,  true,  false, false],
--            [false, false, false, false],
--            [false, false, false, false]] }
-- output {   [[true,  true,  false, false],
--             [true,  true,  false, false],
--             [false, false, false, false],
--             [false, false, false, false]] }
entry generations [h] [w] (n: i32) (world: [h][w]bool) : [h][w]bool =
  map (map cell) world |> iterate n step |> map (map (== #alive))

-- | Five cells that come back after four generations, one cell further down and to the right.
def glider (height: i64) (width: i64) : [height][width]bool =
  scatter_2d (replicate height (replicate width false))
             [(0, 1), (1, 2), (2, 0), (2, 1), (2, 2)]
             (replicate 5 true)

-- | A glider after so many generations, as characters.
-- ==
-- entry: picture
-- input { 0 3i64 3i64 } output { [[46u8, 79u8, 46u8], [46u8, 46u8, 79u8], [79u8, 79u8, 79u8]] }
entry picture (n: i32) (height: i64) (width: i64) : [height][width]u8 =
  map (map (\alive -> if alive then 'O' else '.')) (generations n (glider height width))

-- | Whether a glider is the same again after so many generations; on an 8 by 8 torus it takes 32.
-- ==
-- entry: returns
-- input { 31 } output { false }
-- input { 32 } output { true }
entry returns (n: i32) : bool =
  let start = glider 8 8
  in map2 (map2 (==)) start (generations n start) |> map and |> and
