"""Values by scipy, also far out."""

import numpy
from scipy import special

INFINITY = float("inf")


def gelu(x):
    return x * special.ndtr(x)


def fill(t):
    rows = [
        [1.0, 2.0, 3.0],
        [0.0, 0.0, 0.0, 0.0],
        [-1000.0, -1001.0],
        [1000.0, 0.0, -1000.0],
        [0.5, -INFINITY, 1.5],
        [3.0],
    ]
    t.table(
        "softmax",
        "(x: []f64) = (nn_f64.logsumexp x, nn_f64.softmax x, nn_f64.log_softmax x)",
        [([x], [special.logsumexp(x), special.softmax(x), special.log_softmax(x)]) for x in rows],
        1e-14,
    )
    points = numpy.array([-3000.0, -800.0, -40.0, -2.0, -0.1, 0.0, 0.3, 5.0, 40.0, 800.0])
    for name, f in [
        ("sigmoid", special.expit),
        ("log_sigmoid", special.log_expit),
        ("softplus", lambda x: numpy.logaddexp(x, 0)),
        ("gelu", gelu),
        ("silu", lambda x: x * special.expit(x)),
        ("elu", lambda x: numpy.where(x > 0, x, numpy.expm1(numpy.minimum(x, 0)))),
    ]:
        t.table(name, f"(x: []f64) = map nn_f64.{name} x", [([points], [f(points)])], 1e-13)
    x = numpy.array([1.0, 4.0, -2.0, 0.5])
    t.table(
        "norms",
        "(x: []f64) = (nn_f64.layer_norm 1e-5 x, nn_f64.rms_norm 1e-5 x)",
        [([x], [(x - x.mean()) / numpy.sqrt(x.var() + 1e-5), x / numpy.sqrt((x * x).mean() + 1e-5)])],
        1e-13,
    )
    p, q = numpy.array([0.5, 0.0, 0.2, 0.3]), numpy.array([0.1, 0.2, 0.3, 0.4])
    d = numpy.abs(x - q)
    t.table(
        "losses",
        "[n] (x: [n]f64) (p: [n]f64) (q: [n]f64) =\n"
        "  [ nn_f64.mean_squared_error x q, nn_f64.mean_absolute_error x q, nn_f64.huber 1 x q, nn_f64.cross_entropy x p\n"
        "  , nn_f64.cross_entropy_at x 2, nn_f64.kl_divergence p q, nn_f64.entropy p ]",
        [
            (
                [x, p, q],
                [
                    [
                        (d * d).mean(),
                        d.mean(),
                        numpy.where(d <= 1, d * d / 2, d - 0.5).mean(),
                        -(p * special.log_softmax(x)).sum(),
                        -special.log_softmax(x)[2],
                        special.rel_entr(p, q).sum(),
                        special.entr(p).sum(),
                    ]
                ],
            )
        ],
        1e-13,
    )
