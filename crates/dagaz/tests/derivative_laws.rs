//! The laws of derivatives on programs that use every construct.

mod laws;

laws! {
    scalars: "def f (x: [4]f64) = [f64.sin x[0] * f64.exp x[1], f64.atan2 x[2] x[3], f64.sqrt (x[3] / 2) - f64.tanh x[0]]";
    powers: "def f (x: [4]f64) = [x[3] ** x[0], f64.log (1 + x[0] * x[0]), f64.hypot x[0] x[1], f64.cosh x[2]]";
    maps: "def f (x: [4]f64) = map (\\y -> y * y * x[1] + f64.sin y) x";
    nested_maps: "def f (x: [4]f64) = map (\\a -> f64.sum (map (\\b -> a * b * f64.cos b) x)) x";
    branches: "def f (x: [4]f64) = map (\\y -> if y > 0.5 then y * y else f64.exp y * x[0]) x";
    loops: "def f (x: [4]f64) = [loop a = x[0] for i < 4 do a * f64.cos x[i] + x[1]]";
    while_loops: "def f (x: [4]f64) = let (a, _) = loop (a, k) = (x[0], 0i64) while k < 5 do (a * x[3] / 2 + f64.sin a, k + 1) in [a]";
    updates: "def f (x: [4]f64) = loop y = copy x for i < 3 do y with [i + 1] = y[i] * y[i + 1] + x[0]";
    products: "def f (x: [4]f64) = [f64.product x, f64.product (map (\\y -> y * y) x)]";
    products_with_a_zero: "def f (x: [4]f64) = [f64.product (copy x with [1] = x[0] - 0.7)]";
    extrema: "def f (x: [4]f64) = [f64.maximum x * x[0], f64.minimum (map (\\y -> y * y) x)]";
    extrema_of_rows: "
        def f (x: [4]f64) =
          let rows = map (\\a -> map (\\b -> (a - 2 * b) * (a - 2 * b) + f64.sin (a * b)) x) x
          in map2 (*) x (map (\\row -> f64.minimum (map2 (+) row x)) rows)";
    extrema_of_some_rows: "
        def f (x: [4]f64) =
          let rows = map (\\a -> map (\\b -> a * b) x) x
          in map (\\row -> if row[0] > 0 then f64.maximum row else f64.sum row) rows";
    matrix_reductions: "
        def mul (a: (f64, f64, f64, f64)) (b: (f64, f64, f64, f64)) =
          (a.0 * b.0 + a.1 * b.2, a.0 * b.1 + a.1 * b.3, a.2 * b.0 + a.3 * b.2, a.2 * b.1 + a.3 * b.3)
        def f (x: [4]f64) =
          let (a, b, c, d) = reduce mul (1, 0, 0, 1) (map (\\y -> (y, 1, f64.sin y, y * y)) x)
          in [a, b, c, d]";
    vector_products: "def f (x: [4]f64) = reduce (map2 (*)) (replicate 2 1) (map (\\y -> [y, f64.sin y]) x)";
    prefix_sums: "def f (x: [4]f64) = map2 (*) x (scan (+) 0 (map f64.sin x))";
    prefix_products: "def f (x: [4]f64) = scan (*) 1 x";
    linear_recurrences: "
        def f (x: [4]f64) =
          map (.1) (scan (\\(a, b) (c, d) -> (a * c, b * c + d)) (1, 0) (map (\\y -> (y, y * y)) x))";
    gathers: "def f (x: [4]f64) = map (\\i -> x[i % 4] * x[(i * i) % 4]) (iota 7)";
    histograms: "def f (x: [4]f64) = reduce_by_index (map (* 2) x) (+) 0 [0, 2, 0, 5] (map (\\y -> y * y) x)";
    product_histograms: "def f (x: [4]f64) = reduce_by_index (map (* 2) x) (*) 1 [0, 2, 0, 3] (map f64.cos x)";
    scatters: "def f (x: [4]f64) = scatter (map (* 3) x) [1, 3, 9] (map (\\y -> y * y) (take 3 x))";
    moves: "
        def f (x: [4]f64) =
          let y = flatten (transpose (unflatten (x :> [2 * 2]f64)))
          in concat (map (\\a -> a * a) (reverse y)) (rotate 1 (map f64.sin y)) ++ replicate 2 (x[0] * x[1])";
    conversions: "def f (x: [4]f64) = map (\\y -> y * f64.f32 (f32.f64 2.5) + f64.i64 (i64.f64 3.5)) (map (\\y -> y * y) x)";
    derivatives_in_operators: "def f (x: [4]f64) = [reduce (\\a b -> jvp (\\y -> y * b) a a) 1 x, reduce (\\a b -> vjp (\\y -> y * b) a a) 1 x]";
    derivatives_in_scans: "def f (x: [4]f64) = scan (\\a b -> grad (\\y -> y * y / 2 * b) a) 1 x";
    derivatives_in_maps: "def f (x: [4]f64) = map (\\a -> grad (\\b -> f64.sin (a * b) * x[1]) (a * a)) x";
    derivatives_in_loops: "def f (x: [4]f64) = [loop a = x[0] for i < 3 do a + jvp (\\b -> f64.sin (b * x[i])) a x[3]]";
    derivatives_in_branches: "def f (x: [4]f64) = map (\\a -> if a > 0 then grad f64.exp a else jvp (\\b -> b * b * b) a x[0]) x";
    newton_steps: "
        def f (x: [4]f64) =
          let g (y: f64) = y * y * y - x[3]
          in [loop y = x[3] for _i < 3 do y - g y / grad g y]";
    linear_functions_inside: "
        def f (x: [4]f64) =
          let (y, linear) = linearize (\\x -> map (\\a -> a * f64.sin a) x) x
          in map2 (+) y (map2 (*) (linear x) (linear_transpose linear (map f64.cos x)))";
    detached_values: "def f (x: [4]f64) = map (\\a -> f64.sin a + stop_gradient 2.5 * a) x";
    records: "
        def g (p: {at: (f64, f64), by: [2]f64}) = {sum = p.at.0 * p.by[0], rest = [p.at.1 * p.by[1], f64.sin p.at.0]}
        def f (x: [4]f64) =
          let r = vjp g {at = (x[0], x[1]), by = [x[2], x[3]]} {sum = x[1], rest = [x[0], x[2]]}
          in [r.at.0, r.at.1] ++ r.by";
    sums: "
        type shape = #circle f64 | #box f64 f64
        def area (s: shape) = match s case #circle r -> 3 * r * r case #box a b -> a * b
        def sides (s: shape) = match s case #circle r -> [r, 0] case #box a b -> [a, b]
        def f (x: [4]f64) =
          let slope s = sides (grad area s)
          in slope (#circle (x[0] * x[1])) ++ slope (#box (f64.sin x[2]) (x[0] * x[3]))";
    own_rules_forwards_and_backwards: "
        def square (y: f64) = vjp_by (\\y -> y * y) (\\y w -> 2 * y * w) y
        def f (x: [4]f64) = map (\\a -> square (f64.sin a)) x";
    integers_beside_floats: "
        def g (n: i64, y: f64) = (n + 1, y * f64.i64 n)
        def f (x: [4]f64) = map (\\a -> (vjp g (3, a) (0, a * a)).1) x";
    gamma_functions: "def f (x: [4]f64) = [f64.lgamma (x[3] * x[3]), f64.gamma (2 + x[0]), f64.erf x[1], f64.erfc (x[2] * x[3])]";
    accumulators_that_multiply: "
        def f (x: [4]f64) = reduce_by_index (map (+ 3) x) (\\a b -> a * b) 1 [0, 2, 0, 7] (map f64.cos x)";
    derivatives_in_what_is_linearised: "
        def f (x: [4]f64) =
          let t = jvp (\\(_: f64) -> replicate 2 0.5) x[0] x[1]
          in map (\\a -> f64.sin (a + t[0])) x";
    filters_in_maps: "
        def f (x: [4]f64) = map (\\a -> a * f64.sum (filter (> 0.1) x)) x";
    sorted_bins_with_computed_indices: "
        def f (x: [4]f64) =
          let op (a: (f64, f64)) (b: (f64, f64)) = (a.0 * b.0, a.1 * b.0 + b.1)
          let bins = map (\\q -> i64.f64 (f64.abs (5.3 * q)) % 5) x
          let ys = reduce_by_index (map (\\q -> (q, 1)) x) op (1, 0) bins (map (\\q -> (f64.cos q, q * q)) x)
          in map (\\y -> y.0 + y.1) ys";
    accumulators_through_accumulations: "
        def f (x: [4]f64) =
          let v = map (\\i -> x[0] * (0.5 + f64.i64 i)) (iota 2)
          in flatten (map (\\_ -> map (\\_ -> jvp (\\(p: [2]f64) ->
            let t = map (\\s -> map (* s) [0.5, 0.5, v[0]]) (map (\\i -> p[0] + f64.i64 i) (iota 2))
            in t[0, 0]) v v) (iota 2)) (iota 2))";
    histograms_below_scans: "
        def f (x: [4]f64) =
          let op (a: (f64, f64)) (b: (f64, f64)) = (a.0 * b.0, a.1 * b.0 + b.1)
          let bins a = reduce_by_index (replicate 4 (1, 0.5)) op (1, 0) [0, 0, 1] (map (\\q -> (q, f64.sin q)) [0.5, a, x[1]])
          in scan f64.max f64.lowest (map (\\a -> f64.sum (map (.0) (bins a))) [x[0], x[3]])";
    saturated_functions: "def f (x: [4]f64) = [f64.tanh (1e4 * x[0]), f64.tanh (-1e4 * x[3] * x[1]), f64.tanh x[2]]";
}
