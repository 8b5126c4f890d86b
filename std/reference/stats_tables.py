"""Statistics of a few numbers, by numpy and scipy."""

import numpy
from scipy import stats


def fill(t):
    x = numpy.array([2.5, -1.0, 4.0, 0.5, 3.25, 4.0])
    y = numpy.array([1.0, 0.5, 3.0, -2.0, 2.5, 1.5])
    for freedom in (0, 1):
        t.table(
            f"moments_{freedom}",
            f"(x: []f64) = (stats_f64.mean x, stats_f64.variance {freedom} x, stats_f64.deviation {freedom} x)",
            [([a], [a.mean(), a.var(ddof=freedom), a.std(ddof=freedom)]) for a in (x, y, x + 1e6)],
            1e-9,
        )
    t.table(
        "shape",
        "(x: []f64) = (stats_f64.skewness x, stats_f64.excess_kurtosis x, stats_f64.standardised x)",
        [([a], [stats.skew(a), stats.kurtosis(a), stats.zscore(a)]) for a in (x, y)],
        1e-12,
    )
    t.table(
        "pairs",
        "[n] (x: [n]f64) (y: [n]f64) =\n"
        "  let {slope, offset} = stats_f64.linear_fit x y\n"
        "  in ( stats_f64.covariance 1 (transpose [x, y]), stats_f64.correlation x y, [slope, offset]\n"
        "     , stats_f64.weighted_mean (map (** 2) y) x )",
        [([x, y], [numpy.cov(x, y), numpy.corrcoef(x, y)[0, 1], numpy.polyfit(x, y, 1), numpy.average(x, weights=y * y)])],
        1e-12,
    )
    parts = numpy.array([0.0, 0.1, 0.25, 0.5, 0.9, 1.0])
    t.table(
        "quantiles",
        "(q: []f64) (x: []f64) = (stats_f64.quantiles q x, stats_f64.median x)",
        [([parts, a], [numpy.quantile(a, parts), numpy.median(a)]) for a in (x, y[:5], x[:1])],
        1e-13,
    )
    t.table(
        "histogram",
        "(x: []f64) = stats_f64.histogram 5 (-1, 4) x",
        [([x], [numpy.histogram(x, 5, (-1, 4))[0]])],
        0,
    )
