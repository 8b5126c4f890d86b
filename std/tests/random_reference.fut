-- Values of std/random beside those of other libraries: written by std/reference/tables.py.

import "std/random"

-- ==
-- entry: cipher
-- tolerance: 0
-- input { [0, 0, 0, 0] [0, 0] } output { [1713891541, 3781805453, 3159862348, 2600524760] }
-- input { [4294967295, 4294967295, 4294967295, 4294967295] [4294967295, 4294967295] } output { [1083123565, 1103641358, 2718681030, 1834242557] }
-- input { [608135816, 2242054355, 320440878, 57701188] [2752067618, 698298832] } output { [3513581065, 2499661035, 1342301216, 605187745] }
entry cipher (c: [4]u32) (k: [2]u32) =
  let (a, b, c, d) = random.philox (c[0], c[1], c[2], c[3]) (k[0], k[1])
  in [a, b, c, d]

-- ==
-- entry: children
-- tolerance: 0
-- input { -9223372036854775803 1099511627776 } output { [6481550010366266333, 8395375983447757133] }
-- input { 42 1 } output { [6069271258250219870, 4389873848802971005] }
entry children (seed: i64) (i: i64) =
  let (a, b) = random.child (random.child (random.key seed) 3) i
  in [a, b]

-- ==
-- entry: bits
-- tolerance: 0
-- input { 1 42 } output { [2632642643] [8643895580192075859] }
-- input { 4 42 } output { [2632642643, 2012563771, 314527917, 1463989207] [8643895580192075859, 6287785766076502189, 6033254488940945703, 8380643633896839790] }
-- input { 7 42 } output { [2632642643, 2012563771, 314527917, 1463989207, 4242219303, 1404726525, 2207210094] [8643895580192075859, 6287785766076502189, 6033254488940945703, 8380643633896839790, 12143778050234647077, 14270118698559565209, 12371121732634215541] }
entry bits (n: i64) (seed: i64) = (random.words n (random.key seed), random.words64 n (random.key seed))

-- ==
-- entry: uniforms
-- tolerance: 1e-15
-- input { 5 42 } output { [0.4685865183391049, 0.34086154938517876, 0.32706338120338474, 0.4543156017348883, 0.6583155272123093] -0.06282696332179016 }
entry uniforms (n: i64) (seed: i64) =
  (random_f64.uniforms n (0, 1) (random.key seed), random_f64.uniform (-1, 1) (random.key seed))

-- ==
-- entry: normals
-- tolerance: 1e-13
-- input { 5 42 } output { [-0.6076510539335191, 0.9461447819697152, -0.8536440633116089, 0.2519922121066046, 0.21637628796618588] 8.78469789213296 }
entry normals (n: i64) (seed: i64) =
  (random_f64.normals n (0, 1) (random.key seed), random_f64.normal (10, 2) (random.key seed))

-- ==
-- entry: exponentials
-- tolerance: 1e-13
-- input { 5 42 } output { [0.31610743794875906, 0.2084108372829287, 0.19805206544738352, 0.3028572477568242, 0.5369337809797674] }
entry exponentials (n: i64) (seed: i64) = random_f64.exponentials n 2 (random.key seed)

-- ==
-- entry: single_precision
-- tolerance: 1e-07
-- input { 4 42 } output { [0.6129598617553711, 0.4685865044593811, 0.07323169708251953, 0.3408614993095398] }
entry single_precision (n: i64) (seed: i64) = random_f32.uniforms n (0, 1) (random.key seed)

-- ==
-- entry: halton
-- tolerance: 1e-13
-- input { 0 4 } output { [[0.5, 0.3333333333333333, 0.2], [0.25, 0.6666666666666666, 0.4], [0.75, 0.1111111111111111, 0.6000000000000001], [0.125, 0.4444444444444444, 0.8]] }
-- input { 100 4 } output { [[0.6484375, 0.7448559670781892, 0.232], [0.3984375, 0.18930041152263374, 0.43200000000000005], [0.8984375, 0.522633744855967, 0.6320000000000001], [0.0859375, 0.8559670781893003, 0.8320000000000001]] }
entry halton (skip: i64) (n: i64) = random_f64.halton_points skip n 3
