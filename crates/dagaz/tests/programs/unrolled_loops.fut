-- Loops with the attribute unroll give what they give without it, also where sizes change.
-- ==
-- entry: main
-- input { [1.0, 2.0, 3.0] } output { [8.0, 16.0, 24.0] [1.0, 2.0, 3.0, 0.0, 1.0, 2.0] 7i64 }

entry main (xs: [3]f64) =
  let doubled =
    #[unroll]
    loop ys = xs for _i < 3i32 do map (* 2) ys
  let grown =
    #[unroll]
    loop ys = xs for i in [0, 1, 2] do ys ++ [f64.i64 i]
  let counted = run_state 0i64 (\s ->
    #[unroll]
    loop () = () for i < 3i64 do s := get s * 2 + i - i / 2)
  in (doubled, grown, counted.1 + 4)
