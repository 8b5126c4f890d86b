//! The laws of derivatives on programs with state and accumulators.

mod laws;

laws! {
    state_in_a_loop: "def f (x: [4]f64) = [yield_state x[0] (\\s -> loop () for y in x do (s := get s * f64.sin y + x[1]))]";
    state_in_a_for: "def f (x: [4]f64) = (run_state 1 (\\s -> for i -> (s := get s * x[i] + f64.cos x[i]; get s * x[0]))).0";
    state_in_several_fors: "
        def f (x: [4]f64) =
          let (y, s) = run_state 0 (\\s -> for i < 4 j < 3 -> (s := get s + x[i] * x[ordinal j]; get s * f64.sin x[i]))
          in map f64.sum y ++ [s]";
    arrays_as_state: "
        def f (x: [4]f64) =
          yield_state x (\\s -> loop () for i < 3 do (s[i + 1] := get s[i] * get s[i + 1] + x[0]))";
    records_as_state: "
        def f (x: [4]f64) =
          let t = yield_state {a = x, b = (x[0], 1f64)} (\\s ->
            loop () for i < 4 do (s.a[i] := get s.a[i] * get s.b.0; s.b.0 := get s.b.0 + f64.sin x[i]; s.b.1 := get s.b.1 * x[i]))
          in t.a ++ [t.b.0, t.b.1]";
    state_in_branches: "
        def f (x: [4]f64) =
          [yield_state x[0] (\\s -> loop () for y in x do (if y > 0.5 then s := get s * y else (if y > 0 then () else s := f64.exp y)))]";
    state_in_while_loops: "
        def f (x: [4]f64) =
          [(yield_state (x[0], 0i64) (\\s -> loop () while (get s).1 < 5 do (s.0 := get s.0 * x[3] / 2 + f64.sin x[1]; s.1 := get s.1 + 1))).0]";
    complete_reductions: "def f (x: [4]f64) = [yield_accum (\\h -> for i -> h += x[i] * f64.sin x[i])]";
    segmented_reductions: "def f (x: [4]f64) : [4]f64 = yield_accum (\\h -> for i j -> h[i] += x[i] * f64.cos x[j])";
    histograms: "def f (x: [4]f64) : [3]f64 = yield_accum (\\h -> for i -> h[(i * i + 1) % 3] += x[i] * x[0])";
    rows_of_accumulators: "
        def f (x: [4]f64) = flatten (yield_accum (\\h -> for i -> h[i % 2] += map (* x[i]) x) : [2][4]f64)";
    tuples_of_accumulators: "
        def f (x: [4]f64) =
          let (a, b): (f64, [2]f64) = yield_accum (\\h -> map (\\y -> (h.0 += y * y; h.1[1] += f64.sin y)) x)
          in [a] ++ b";
    accumulators_in_loops: "
        def f (x: [4]f64) : [4]f64 =
          yield_accum (\\h -> loop () for i < 4 do (if x[i] > 0 then h[3 - i] += x[i] * x[0] else h[0] += f64.exp x[i]))";
    state_beside_accumulators: "
        def f (x: [4]f64) =
          let (h, s): ([2]f64, f64) = run_state x[1] (\\s -> yield_accum (\\h -> for i -> (s := get s * x[i]; h[i % 2] += get s * x[0])))
          in h ++ [s]";
    accumulators_in_accumulators: "
        def f (x: [4]f64) : [2]f64 =
          yield_accum (\\h -> for i ->
            let k = yield_accum (\\k -> for j -> (k += x[j] * x[i]; h[1] += x[j] * x[j] * x[i])) in h[0] += k * x[i])";
    products_as_accumulators: "def f (x: [4]f64) = [yield_accum_with (*) 1 (\\h -> for i -> h += x[i] + 2)]";
    bins_of_products: "def f (x: [4]f64) : [3]f64 = yield_accum_with (*) 1 (\\h -> for i -> h[(i * 2) % 3] += x[i] * x[1] + 2)";
    bins_of_maxima: "def f (x: [4]f64) : [2]f64 = yield_accum_with f64.max (-10) (\\h -> for i -> h[i % 2] += x[i] * x[i])";
    references_in_functions: "
        def step [n] (s: state ([n]f64)) (i: i64) (y: f64) : () = s[i] := get s[i] * y + f64.sin y
        def each 'a [n] (g: a -> ()) (xs: [n]a) : () = loop () for x in xs do g x
        def f (x: [4]f64) = yield_state x (\\s -> each (\\i -> step s i x[(i + 1) % 4]) [0, 2, 0, 3])";
    derivatives_inside_of_handlers: "
        def f (x: [4]f64) = (run_state 1 (\\s -> for i -> (s := grad (\\y -> yield_state y (\\t -> t := get t * y * x[0])) (get s * x[i]); get s))).0";
}
