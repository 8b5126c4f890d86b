//! Laws that derivatives of loops keep: loops that update arrays in place in every way, that run until a condition
//! fails, or whose arrays change their size.

mod laws;

laws! {
    sum_that_is_only_added_to: "def f (x: [4]f64) = [loop s = 0 for i < 4 do s + x[i] * x[i]]";
    several_parameters: "
        def f (x: [4]f64) =
          let (a, b) = loop (a, b) = (x[0], 1) for i < 4 do (a * f64.cos b, b + x[i] * a)
          in [a, b]";
    unread_elements: "def f (x: [4]f64) = loop y = copy x for i < 4 do y with [i] = 2 * x[3 - i]";
    recurrence: "def f (x: [4]f64) = loop y = copy x for i < 3 do y with [i + 1] = f64.sin y[i] * y[i + 1]";
    overwritten_twice: "
        def f (x: [4]f64) =
          loop y = copy x for i < 3 do
            let y[i + 1] = y[i] * y[i + 1]
            let y[i] = y[i + 1] * f64.sin y[0]
            in y";
    same_element_every_time: "def f (x: [4]f64) = loop y = copy x for i < 4 do y with [0] = y[0] * f64.sin x[i] + y[1]";
    reads_between_updates: "
        def f (x: [4]f64) =
          loop y = copy x for i < 3 do
            let a = y[i] * y[3]
            let y[i] = a * a
            let b = f64.sin y[i] + y[i + 1]
            let y[3] = b * y[3]
            in y with [i + 1] = y[3] * y[i]";
    branch_with_update: "
        def f (x: [4]f64) =
          loop y = copy x for i < 3 do if y[i] > 0.2 then y with [i + 1] = y[i] * y[i + 1] else y";
    branch_then_reads: "
        def f (x: [4]f64) =
          loop y = copy x for i < 3 do
            let y = if y[i] > 0.2 then y with [i + 1] = y[i] * y[i + 1] else y with [i] = f64.cos y[3]
            let a = y[i] * y[i + 1]
            in y with [3] = a + y[3] * y[i]";
    branch_with_other_results: "
        def f (x: [4]f64) =
          let (y, s) = loop (y, s) = (copy x, 1) for i < 3 do
            let b = y[i]
            let (a, y) = if b > 0.2 then (b * b, y with [i + 1] = y[i] * y[i + 1]) else (s * y[3], y)
            let c = y[i + 1]
            in (y, s * a + c)
          in y with [0] = s * y[0]";
    nested_loops: "
        def f (x: [4]f64) =
          loop y = copy x for i < 3 do loop y for j < 3 do y with [j + 1] = y[j] * x[i] + f64.sin y[j + 1]";
    nested_loops_between_updates: "
        def f (x: [4]f64) =
          loop y = copy x for i < 3 do
            let y[0] = y[i] * y[0]
            let y = loop y for j < 3 do y with [j + 1] = y[j] * x[i] + f64.sin y[j + 1]
            let y[i] = y[3] * y[i]
            in loop y for j < i do y with [j] = y[j] * y[i]";
    triangular_updates: "
        def f (x: [4]f64) =
          loop y = copy x for i < 4 do loop y for j < i do y with [i] = y[i] * f64.cos y[j] + x[j]";
    loops_in_branches: "
        def f (x: [4]f64) =
          loop y = copy x for i < 4 do
            let y = if y[i] > 0 then loop y for j < i do y with [j] = y[j] * y[i] else y with [0] = y[i] * y[3]
            in y with [3] = y[3] * f64.cos y[0]";
    while_inside: "
        def f (x: [4]f64) =
          loop y = copy x for i < 3 do
            let (y, _) = loop (y, k) = (y, 0i64) while k < 2 && y[i] < 5 do (y with [i] = y[i] * y[i + 1] + y[k], k + 1)
            in y with [3] = y[3] * y[i]";
    while_with_updates: "
        def f (x: [4]f64) =
          let (y, _) = loop (y, k) = (copy x, 0i64) while k < 3 && y[3] < 100 do (y with [k + 1] = y[k] * y[k + 1], k + 1)
          in y";
    indices_from_the_array: "
        def f (x: [4]f64) =
          let (y, p) = loop (y, p) = (copy x, [1, 2, 3, 0i64]) for i < 3 do
            let a = p[i]
            let p[i] = p[(a + 1) % 4]
            let y[p[i]] = y[a] * y[p[i]] + y[i]
            in (y, p)
          in map2 (\\v i -> v * f64.i64 i) y p";
    order_of_an_inactive_array: "
        def f (x: [4]f64) =
          let (_, s) = loop (p, s) = ([0, 1, 2, 3i64], 1) for i < 4 do
            let p = loop p for j < i do if p[j] < p[i] then p with [j] = p[i] else p
            let p[0] = (p[0] + p[i]) % 4
            in (p, s * x[p[0]] + f64.sin s * x[p[i]])
          in [s]";
    matrix: "
        def f (x: [4]f64) =
          let t = loop t = replicate 3 (copy x) for i < 2 do
            loop t for j < 3 do t with [i + 1, j + 1] = f64.sin t[i, j + 1] * t[i + 1, j] + x[j] * t[i, j]
          in flatten t";
    rows: "
        def f (x: [4]f64) =
          let t = loop t = replicate 3 (copy x) for i < 2 do
            t with [i + 1] = map2 (\\a b -> f64.sin a * b * x[i]) t[i] t[i + 1]
          in flatten t";
    rows_then_reads: "
        def f (x: [4]f64) =
          let t = loop t = replicate 3 (copy x) for i < 2 do
            let row = t[i]
            let t[i + 1] = map2 (\\a b -> f64.sin a * b * x[i]) row t[i + 1]
            let s = f64.sum (map (\\j -> t[i + 1, j] * t[i, j]) (iota 4))
            in t with [i] = map (* s) t[2]
          in flatten t";
    slices: "
        def f (x: [4]f64) =
          loop y = copy x for i < 3 do
            let part = map2 (*) (sized 2 y[i:i + 2]) (sized 2 y[0:2])
            in y with [i:i + 2] = part";
    different_parts: "
        def f (x: [4]f64) =
          let t = loop t = replicate 3 (copy x) for i < 2 do
            let t[i + 1] = map2 (*) t[i] t[i + 1]
            in t with [i, i] = t[i + 1, 0] * t[i, i]
          in flatten t";
    two_arrays: "
        def f (x: [4]f64) =
          let (y, z) = loop (y, z) = (copy x, map f64.sin x) for i < 3 do
            let a = y[i + 1]
            let y[i + 1] = y[i] * z[i + 1]
            in (y, z with [i] = z[i] * a)
          in map2 (+) y z";
    swapped_arrays: "
        def f (x: [4]f64) =
          let (y, z) = loop (y, z) = (copy x, map f64.sin x) for i < 3 do
            let a = z[i + 1]
            in (z, y with [i] = y[i] * a)
          in map2 (-) y z";
    unchanged_array: "
        def f (x: [4]f64) =
          let (_, s) = loop (y, s) = (map f64.sin x, 1) for i < 4 do (y, s * y[i] + y[0])
          in [s]";
    loop_in_a_map: "
        def f (x: [4]f64) =
          map (\\a -> let y = loop y = copy x for i < 3 do y with [i + 1] = y[i] * y[i + 1] * a in y[3]) x";
    map_in_a_loop: "
        def f (x: [4]f64) =
          loop y = copy x for i < 3 do
            let s = f64.sum (map (\\a -> a * y[i] * x[0]) y)
            in y with [i + 1] = s * y[i]";
    update_of_a_copy: "
        def f (x: [4]f64) =
          loop y = copy x for i < 3 do
            let z = copy y with [i] = y[i] * x[i]
            in y with [i + 1] = z[i] * y[i + 1]";
    split_once: "def f (x: [4]f64) = [#[stripmine(1)] loop y = x[0] for i < 7 do f64.sin y * x[i % 4] + y]";
    split_three_times: "def f (x: [4]f64) = [#[stripmine(3)] loop y = x[0] for i < 19 do f64.sin y * x[i % 4] + y]";
    split_with_no_iterations: "def f (x: [4]f64) = [#[stripmine(2)] loop y = x[0] for i < i64.f64 x[2] do f64.sin y * x[i]]";
    split_in_place: "
        def f (x: [4]f64) =
          #[stripmine(2)] loop y = copy x for i < 11 do y with [i % 4] = f64.sin y[(i + 1) % 4] * y[i % 4] + x[0]";
    split_and_rewritten_in_place: "
        def f (x: [4]f64) =
          #[stripmine(1)] loop y = copy x for i < 7 do
            loop y for j < 4 do y with [j] = f64.sin y[(i + j) % 4] * y[j] + x[0]";
    bounded_while: "
        def f (x: [4]f64) =
          let (a, _) = #[bound(20)] loop (a, k) = (x[0], 0i64) while k < 5 do (a * x[3] / 2 + f64.sin a, k + 1)
          in [a]";
    bounded_while_in_place: "
        def f (x: [4]f64) =
          let (y, _) = #[bound(8)] loop (y, k) = (copy x, 0i64) while k < 3 && y[3] < 100 do
            (y with [k + 1] = y[k] * y[k + 1], k + 1)
          in y";
    only_true_dependencies: "def f (x: [4]f64) = loop #[true_dep] y = copy x for i < 3 do y with [i + 1] = y[i] * f64.sin y[i]";
    growing_array: "
        def f (x: [4]f64) =
          let y = loop y = x[0:2] for i < 3 do concat y (map (* f64.sin y[0]) (map (* x[i]) y[0:i + 1]))
          in sized 8 y";
    growing_unread_array: "
        def f (x: [4]f64) =
          let y = loop y = x[0:1] for i < 3 do concat y [x[i] * x[i + 1]]
          in sized 4 y";
    shrinking_array: "
        def f (x: [4]f64) =
          let (y, s) = loop (y, s) = (x[0:4], 1) while length y > 1 do (map (* y[0]) (tail y), s + y[0] * f64.sin y[1])
          in [y[0], s]";
    filtered_array: "
        def f (x: [4]f64) =
          let (y, s) = loop (y, s) = (map id x :> []f64, x[0]) for i < 3 do
            let z = filter (> f64.i64 i - 2) y
            in (map (\\a -> a * x[1]) z, s * f64.sum z + x[i])
          in [s, f64.sum y]";
    bounded_growing: "
        def f (x: [4]f64) =
          let y = #[bound(9)] loop y = x[0:2] while length y < 6 do concat y (map (* f64.cos y[1]) y[0:1])
          in sized 6 y";
    halved_rows: "
        def f (x: [4]f64) =
          let t = loop t = replicate 4 (copy x) :> [][]f64 for i < 2 do
            let h = length t / 2
            in map2 (map2 (\\a b -> a * f64.sin b)) (sized h t[0:h]) (sized h t[h:2 * h]) :> [][]f64
          in sized 4 t[0]";
    reduction_from_a_start_value: "def f (x: [4]f64) = [reduce (*) x[1] (map f64.sin x), reduce (+) (x[0] * x[0]) x]";
    reduction_of_rows_from_a_start_value: "
        def f (x: [4]f64) = reduce (map2 (\\a b -> a * b + x[2])) (map (* 2) x) (replicate 3 (map f64.sin x))";
    histogram_with_a_neutral_element_that_counts_nothing: "
        def f (x: [4]f64) = reduce_by_index (map (* 2) x) (\\a b -> a * b) (x[0] / x[0]) [0, 2, 0, 3] (map f64.cos x)";
    scatters_in_place: "
        def f (x: [4]f64) =
          loop y = copy x for i < 3 do scatter y [i + 1, 7, i] [f64.sin y[i] * y[i + 1], 5, y[0] * y[i + 1]]";
    scatters_then_reads: "
        def f (x: [4]f64) =
          loop y = copy x for i < 3 do
            let y = scatter y [i + 1, i] [y[i] * y[i + 1], y[0] * x[2]]
            let a = y[i] * y[i + 1]
            let y = if a > 0 then scatter y [3, 0] [a * y[3], f64.cos a] else scatter y [i, -1] [a * y[2], a]
            in scatter y [0, 2] [y[0] * a, y[1] * y[2]]";
    scatters_of_rows: "
        def f (x: [4]f64) =
          let t = loop t = replicate 3 (copy x) for i < 2 do
            loop t for j < 2 do scatter t [i + 1, 5] [map2 (*) t[i] t[j], x]
          in flatten t";
    products_that_are_kept: "
        def f (x: [4]f64) =
          let n = i64.sum (map (\\a -> if a > -100 then 1 else 0) x)
          let w = take n x
          let m = map (\\a -> map (\\b -> f64.sin (a * b)) w) w
          let y = loop y = w for i < 3 do map (\\a -> f64.sin (a * x[i])) (map (\\row -> f64.sum (map2 (*) row y)) m)
          in y :> [4]f64";
    numbers_that_are_kept_instead_of_states: "
        def f (x: [4]f64) =
          let n = i64.sum (map (\\a -> if a > -100 then 1 else 0) x)
          let w = take n x
          let (a, b, c, d) =
            loop (a, b, c, d) = (copy w, map f64.sin w, map f64.cos w, copy w) for i < 3 do
              unzip4 (map5 (\\j p q r t ->
                if j == 2 then (q, r, p, t) else
                let s = if j == 1 then 0.3 else (p + q - r) / (2 + t)
                in (0.5 * p + s * s, q - s * s * s, 0.1 * r + f64.sin s, t + s)) (iota n) a b c d)
          in map4 (\\p q r t -> p + q * r + t) a b c d :> [4]f64";
    tapes_of_inner_loops: "
        def f (x: [4]f64) =
          let n = i64.sum (map (\\a -> if a > -100 then 1 else 0) x)
          let w = take n x
          let (s, t) =
            loop (s, t) = (replicate n (replicate n 0.5), 0) for i < 3 do
              let (y, s) =
                loop (y, s) = (map (* x[i]) w, s) for j < n do
                  let h = map2 (\\a b -> f64.tanh (a * b + w[j])) y s[j]
                  in (h, s with [j] = map2 (*) h w)
              in (s, t + f64.sum (map f64.exp y))
          in [t, s[0, 1], s[n - 1, 2]]";
    tapes_of_loops_that_follow_each_other: "
        def f (x: [4]f64) =
          let n = i64.sum (map (\\a -> if a > -100 then 1 else 0) x)
          let y =
            loop y = copy (take n x) for i < 3 do
              let a = loop a = x[i] for j < n do f64.sin (a * y[j])
              let y = loop y for j < n - 1 do y with [j + 1] = f64.cos (y[j] * a) * y[j + 1]
              let b = loop b = y[i] for j < n do f64.sin b * y[j] + a
              in y with [i] = b * y[i]
          in y :> [4]f64";
    tapes_of_local_arrays: "
        def f (x: [4]f64) =
          let n = i64.sum (map (\\a -> if a > -100 then 1 else 0) x)
          let y =
            loop y = take n x for i < 3 do
              let z = loop z = map (* x[i]) y for j < n do z with [j] = f64.sin (z[j] * z[(j + 1) % n]) + y[0]
              in map2 (*) y z
          in y :> [4]f64";
    tapes_of_three_loops: "
        def f (x: [4]f64) =
          let n = i64.sum (map (\\a -> if a > -100 then 1 else 0) x)
          let y =
            loop y = copy (take n x) for i < 2 do
              loop y for j < n do
                let a = loop a = y[j] for k < n do f64.sin (a * y[k]) + x[i]
                in y with [j] = a * y[j]
          in y :> [4]f64";
    tapes_of_rows_from_outside: "
        def f (x: [4]f64) =
          let n = i64.sum (map (\\a -> if a > -100 then 1 else 0) x)
          let t =
            loop t = replicate n (replicate n 1) for i < n do
              loop t for j < n do t with [i, j] = f64.sin (x[i] * t[i, j]) * x[j] + t[j, i]
          in map f64.sum t :> [4]f64";
    tapes_of_loops_by_loops_of_data: "
        def f (x: [4]f64) =
          let (y, _) =
            loop (y, k) = (copy x, 0i64) while k < 3 do
              let y = loop y for j < 3 do y with [j] = f64.sin y[j] * y[j + 1]
              let a = loop a = 1 for j < 4 do a * y[j]
              in (y with [3] = a, k + 1)
          in y";
    choices: "
        def f (x: [4]f64) =
          loop ys = copy x for i < 5 do
            map (\\j ->
              let (a, b) = (ys[j], ys[(j + 1) % 4])
              in f64.max 0.01 (a - 0.5 * b) + (if a < b then 0.3 * a else b - a) + x[(j + i) % 4] * x[j]) (iota 4)";
    choices_in_rows_of_a_matrix: "
        def f (x: [4]f64) =
          let ys = loop ys = map (\\i -> map (+ 0.1 * f64.i64 i) x) (iota 3) for i < 5 do
            map (\\r -> map (\\j ->
              let (up, left) = (ys[i64.max 0 (r - 1), j], ys[r, i64.max 0 (j - 1)])
              in f64.min ys[r, j] (f64.min up left) + f64.sin x[(j + r + i) % 4]) (iota 4)) (iota 3)
          in flatten ys";
    more_choices_than_a_code_has: "
        def f (x: [4]f64) =
          loop ys = copy x for i < 3 do
            map (\\j ->
              let v k = ys[(j + k) % 4] + 0.3 * f64.i64 (k * k % 5) * x[k % 4]
              let low a k = f64.min (f64.max (v k) a) (v (k + 1))
              in low (low (low (low (low (v 0) 1) 2) 3) 4) 5) (iota 4)";
    choices_of_several_arrays: "
        def f (x: [4]f64) =
          let (ys, zs, s) = loop (ys, zs, s) = (copy x, map (* 2) x, 1) for i < 6 do
            let new = map2 (\\y z -> if y > z && y > 0.1 then y else z - y) ys zs
            in (new, map2 f64.max new ys, s + 0.1 * new[i % 4])
          in map2 (\\y z -> s * y + z) ys zs";
    choices_while_numbers_are_small: "
        def f (x: [4]f64) =
          let (ys, _) = loop (ys, i) = (copy x, 0) while i < 6 && ys[0] < 100 do
            (map (\\j -> f64.min ys[j] ys[(j + 1) % 4] + x[j] * x[(j + i) % 4]) (iota 4), i + 1)
          in ys";
}

/// The operator is not associative, so that this is about the order of the interpreter alone.
#[test]
fn scan_from_a_start_value() {
    laws::check("def f (x: [4]f64) = scan (\\a b -> a * b + a) (f64.cos x[3]) x");
}
