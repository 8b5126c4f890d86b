-- An embedding: every word of a text is a row of a table, a sentence is the mean of the rows of its words, and a linear layer
-- scores it. The loss is the mean of squares; the gradient is by the table and the layer.
-- ==
-- entry: objective
-- input { [[1f32, 2], [3, 4], [5, 6]] [0.5f32, -1] [[0i32, 2], [1, 1]] [1f32, 2] }
-- output { 16.25f32 }

-- ==
-- entry: derivative
-- input { [[1f32, 2], [3, 4], [5, 6]] [0.5f32, -1] [[0i32, 2], [1, 1]] [1f32, 2] }
-- output { [[-0.875f32, 1.75], [-2.25, 4.5], [-0.875, 1.75]] [-24f32, -32] }

def loss [v][d][b][s] (words: [b][s]i32) (targets: [b]f32) (table: [v][d]f32, layer: [d]f32) : f32 =
  let score sentence =
    let sum = reduce (map2 (+)) (replicate d 0) (map (\word -> table[word]) sentence)
    in f32.sum (map2 (*) layer sum) / f32.i64 s
  in f32.sum (map2 (\sentence target -> (score sentence - target) ** 2) words targets) / f32.i64 b

entry objective [v][d][b][s] (table: [v][d]f32) (layer: [d]f32) (words: [b][s]i32) (targets: [b]f32) : f32 =
  loss words targets (table, layer)

entry derivative [v][d][b][s] (table: [v][d]f32) (layer: [d]f32) (words: [b][s]i32) (targets: [b]f32)
  : ([v][d]f32, [d]f32) =
  grad (loss words targets) (table, layer)
