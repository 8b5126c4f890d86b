-- The gradient of a product where there are zeros, where the product has no normal number for it, and once more.
-- ==
-- entry: gradient
-- input { [2f64, 3, 4] } output { [12f64, 8, 6] }
-- input { [0f64, 3, 4] } output { [12f64, 0, 0] }
-- input { [0f64, 0, 4] } output { [0f64, 0, 0] }
-- input { [1e-200f64, 1e-200, 2] } output { [2e-200f64, 2e-200, 0] }
-- input { [1e200f64, 1e200, 0.5] } output { [5e199f64, 5e199, f64.inf] }
-- input { [0f64, 1e200, 1e200] } output { [f64.inf, 0f64, 0] }
-- input { empty([0]f64) } output { empty([0]f64) }

-- ==
-- entry: scaled
-- input { [2f64, 3, 0.5] 0.5f64 } output { [0.75f64, 0.5, 3] }
-- input { [0f64, 3, 0.5] 0.5f64 } output { [0.75f64, 0, 0] }

-- ==
-- entry: second
-- input { [0f64, 3, 4] } output { [4f64, 0, 0] }
-- input { [2f64, 3, 4] } output { [4f64, 0, 2] }

entry gradient [n] (xs: [n]f64) : [n]f64 = grad f64.product xs

entry scaled [n] (xs: [n]f64) (by: f64) : [n]f64 = grad (\xs -> by * f64.product xs) xs

entry second [n] (xs: [n]f64) : [n]f64 = grad (\xs -> (grad f64.product xs)[1]) xs
