-- Values of std/stats beside those of other libraries: written by std/reference/tables.py.

import "std/stats"

-- ==
-- entry: moments_0
-- tolerance: 1e-09
-- input { [2.5, -1.0, 4.0, 0.5, 3.25, 4.0] } output { 2.2083333333333335 3.467013888888889 1.8619919142920274 }
-- input { [1.0, 0.5, 3.0, -2.0, 2.5, 1.5] } output { 1.0833333333333333 2.6180555555555554 1.6180406532456333 }
-- input { [1000002.5, 999999.0, 1000004.0, 1000000.5, 1000003.25, 1000004.0] } output { 1000002.2083333334 3.4670138888888893 1.8619919142920276 }
entry moments_0 (x: []f64) = (stats_f64.mean x, stats_f64.variance 0 x, stats_f64.deviation 0 x)

-- ==
-- entry: moments_1
-- tolerance: 1e-09
-- input { [2.5, -1.0, 4.0, 0.5, 3.25, 4.0] } output { 2.2083333333333335 4.160416666666666 2.0397099466999387 }
-- input { [1.0, 0.5, 3.0, -2.0, 2.5, 1.5] } output { 1.0833333333333333 3.1416666666666666 1.7724747294860559 }
-- input { [1000002.5, 999999.0, 1000004.0, 1000000.5, 1000003.25, 1000004.0] } output { 1000002.2083333334 4.160416666666667 2.0397099466999387 }
entry moments_1 (x: []f64) = (stats_f64.mean x, stats_f64.variance 1 x, stats_f64.deviation 1 x)

-- ==
-- entry: shape
-- tolerance: 1e-12
-- input { [2.5, -1.0, 4.0, 0.5, 3.25, 4.0] } output { -0.6545381719908411 -1.1106098306197396 [0.15664228422687054, -1.723065126495577, 0.9622311745364909, -0.9174762361859565, 0.5594367293816807, 0.9622311745364909] }
-- input { [1.0, 0.5, 3.0, -2.0, 2.5, 1.5] } output { -0.7693972342657223 -0.3726333119912195 [-0.05150262026246043, -0.36051834183722326, 1.184560266036591, -1.9055969497110374, 0.8755445444618281, 0.25751310131230243] }
entry shape (x: []f64) = (stats_f64.skewness x, stats_f64.excess_kurtosis x, stats_f64.standardised x)

-- ==
-- entry: pairs
-- tolerance: 1e-12
-- input { [2.5, -1.0, 4.0, 0.5, 3.25, 4.0] [1.0, 0.5, 3.0, -2.0, 2.5, 1.5] } output { [[4.160416666666666, 2.554166666666667], [2.554166666666667, 3.1416666666666666]] 0.7064814562870149 [0.6139208813219829, -0.2724086129193789] 3.0576923076923075 }
entry pairs [n] (x: [n]f64) (y: [n]f64) =
  let {slope, offset} = stats_f64.linear_fit x y
  in ( stats_f64.covariance 1 (transpose [x, y]), stats_f64.correlation x y, [slope, offset]
     , stats_f64.weighted_mean (map (** 2) y) x )

-- ==
-- entry: quantiles
-- tolerance: 1e-13
-- input { [0.0, 0.1, 0.25, 0.5, 0.9, 1.0] [2.5, -1.0, 4.0, 0.5, 3.25, 4.0] } output { [-1.0, -0.25, 1.0, 2.875, 4.0, 4.0] 2.875 }
-- input { [0.0, 0.1, 0.25, 0.5, 0.9, 1.0] [1.0, 0.5, 3.0, -2.0, 2.5] } output { [-2.0, -1.0, 0.5, 1.0, 2.8, 3.0] 1.0 }
-- input { [0.0, 0.1, 0.25, 0.5, 0.9, 1.0] [2.5] } output { [2.5, 2.5, 2.5, 2.5, 2.5, 2.5] 2.5 }
entry quantiles (q: []f64) (x: []f64) = (stats_f64.quantiles q x, stats_f64.median x)

-- ==
-- entry: histogram
-- tolerance: 0
-- input { [2.5, -1.0, 4.0, 0.5, 3.25, 4.0] } output { [1, 1, 0, 1, 3] }
entry histogram (x: []f64) = stats_f64.histogram 5 (-1, 4) x
