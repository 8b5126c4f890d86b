-- Accumulators other than sums, backwards: their parts are collected from all iterations around them.

def ignore 'a (_: a) : () = ()

-- Whether reverse and forward mode agree.
def agree [n][m] (f: [n]f64 -> [m]f64) (x: [n]f64) : bool =
  let direction = map (\i -> f64.cos (f64.i64 i)) (iota n)
  let weights = map (\i -> f64.sin (f64.i64 i + 1)) (iota m)
  let there = f64.sum (map2 (*) weights (jvp f x direction))
  let back = f64.sum (map2 (*) direction (vjp f x weights))
  in f64.abs (there - back) <= 1e-9 * (1 + f64.abs there)

-- A constant number of iterations around others.
-- ==
-- entry: constant_outside
-- input { [0.5, 1.5, 0.7, 0.2] } output { true }
entry constant_outside [n] (x: [n]f64) : bool =
  agree (\(x: [n]f64) ->
    yield_accum_with (*) 1 (\h -> map (\i -> map (\j -> h[j % 2] += x[j] + f64.i64 i) (iota n)) (iota 3)) : [2]f64) x

-- A number of iterations that one branch alone knows.
-- ==
-- entry: in_a_branch
-- input { [0.5, 1.5, 0.7, 0.2] } output { true }
-- input { [0.1, 1.5, 0.7, 0.2] } output { true }
entry in_a_branch [n] (x: [n]f64) : bool =
  agree (\(x: [n]f64) ->
    yield_accum_with (*) 1 (\h ->
      if x[0] > 0.2
      then let k = i64.f64 (x[1] * 2.1) in ignore (map (\j -> h[j % 2] += x[j] + 0.3) (iota k))
      else h[0] += x[1]) : [2]f64) x

-- A loop, and a loop in a map.
-- ==
-- entry: in_loops
-- input { [0.5, 1.5, 0.7, 0.2] } output { true }
entry in_loops [n] (x: [n]f64) : bool =
  agree (\(x: [n]f64) ->
    let a : [2]f64 =
      yield_accum_with (*) 1 (\h -> loop () for i < 3 do ignore (map (\j -> h[j % 2] += x[i] + x[j]) (iota n)))
    let b : [2]f64 =
      yield_accum_with f64.max (-1) (\h -> ignore (map (\j -> loop () for i < n do h[j % 2] += x[i] * x[j]) (iota n)))
    in a ++ b) x

-- As many iterations as the data says.
-- ==
-- entry: in_while_loops
-- input { [0.5, 1.5, 0.7, 0.2] } output { true }
-- input { empty([0]f64) } output { true }
entry in_while_loops [n] (x: [n]f64) : bool =
  agree (\(x: [n]f64) ->
    yield_accum_with (*) 1 (\h ->
      ignore (map (\j -> let _ = loop y = x[j] while y < 2 do (let _ = h[i64.f64 (2 * y) % 3] += y + 0.1 in y * 1.5 + 0.1) in ()) (iota n)))
    : [3]f64) x

-- Rows that differ in length, a `+=` before and after them, and two accumulators at once.
-- ==
-- entry: in_rows
-- input { [0.5, 1.5, 0.7, 0.2] } output { true }
entry in_rows [n] (x: [n]f64) : bool =
  agree (\(x: [n]f64) ->
    let (b, a) : ([2]f64, [3]f64) =
      run_accum_with (*) 1 (\h -> yield_accum_with f64.min 9 (\g ->
        ignore (map (\j ->
          let _ = h[0] += x[j] + 2
          let _ = map (\i -> let _ = g[i % 2] += x[i] * x[j] in h[(i + j) % 3] += x[i] - x[j] + 0.25) (iota j)
          let _ = if j % 2 == 0 then g[0] += x[j] - 1 else h[2] += f64.exp x[j]
          in ()) (iota n))))
    in a ++ b) x

-- Rows as elements, second derivatives, and booleans beside numbers.
-- ==
-- entry: rows_as_elements
-- input { [0.5, 1.5, 0.7, 0.2] } output { true }
entry rows_as_elements [n] (x: [n]f64) : bool =
  agree (\(x: [n]f64) ->
    let f (x: [n]f64) = f64.sum (flatten (yield_accum_with (map2 (*)) (replicate 2 1) (\h ->
      ignore (map (\j -> ignore (map (\i -> h[i % 2] += [x[i] * x[j], x[i] + 3]) (iota j))) (iota n))) : [2][2]f64))
    in vjp f x 1) x
