"""Values of special functions by mpmath, with 40 digits, and partial derivatives by parameters."""

import mpmath

mpmath.mp.dps = 40


def rows(f, *points):
    return [([[float(p) for p in points]], [[f(mpmath.mpf(p)) for p in points]])]


def pairs(f, points):
    columns = [[float(p[i]) for p in points] for i in range(len(points[0]))]
    return [(columns, [[f(*map(mpmath.mpf, p)) for p in points]])]


def gamma_p(a, x):
    return mpmath.gammainc(a, 0, x, regularized=True)


def gamma_q(a, x):
    return mpmath.gammainc(a, x, mpmath.inf, regularized=True)


def beta_p(a, b, x):
    return mpmath.betainc(a, b, 0, x, regularized=True)


def erfc_inverse(p):
    # The inverse of what is nearly 1 needs as many digits as are lost.
    with mpmath.workdps(400):
        return +mpmath.erfinv(1 - p)


def one(t, name, f, points, tolerance):
    t.table(name, f"(xs: []f64) = map special_f64.{name} xs", rows(f, *points), tolerance)


def fill(t):
    positive = [1e-3, 0.1, 0.5, 1.0, 1.46, 2.0, 3.7, 10.0, 25.5, 1000.0]
    one(t, "log_gamma", lambda x: mpmath.log(abs(mpmath.gamma(x))), positive[:-1] + [-0.5, -3.2], 1e-13)
    one(t, "digamma", mpmath.digamma, positive + [-0.5, -3.2], 1e-13)
    one(t, "trigamma", lambda x: mpmath.polygamma(1, x), positive + [-0.5, -3.2], 1e-13)
    points = [(0.5, 0.5), (2, 3), (1e-3, 5), (9, 11), (20, 30), (0.1, 1e8), (1e5, 1e8), (12, 3)]
    log_beta = lambda a, b: mpmath.loggamma(a) + mpmath.loggamma(b) - mpmath.loggamma(a + b)
    t.table("log_beta", "(a: []f64) (b: []f64) = map2 special_f64.log_beta a b", pairs(log_beta, points), 2e-14)
    points = [(0.5, 0.1), (0.5, 3), (2, 1), (2, 30), (9.5, 9), (15, 5), (15, 16), (100, 90), (100, 130), (1000, 1010)]
    for name, f in (("gamma_p", gamma_p), ("gamma_q", gamma_q)):
        t.table(name, f"(a: []f64) (x: []f64) = map2 special_f64.{name} a x", pairs(f, points), 1e-12)
    density = lambda a, x: mpmath.exp((a - 1) * mpmath.log(x) - x - mpmath.loggamma(a))
    t.table(
        "gamma_density",
        "(a: []f64) (x: []f64) = map2 special_f64.gamma_density a x",
        pairs(density, points),
        1e-12,
    )
    by_shape = lambda a, x: mpmath.diff(lambda s: gamma_p(s, x), a)
    t.table(
        "gamma_p_by_shape",
        "(a: []f64) (x: []f64) = map2 (\\a x -> grad (\\a -> special_f64.gamma_p a x) a) a x",
        pairs(by_shape, points[:-1] + [(2, 3.5), (3, 4.1), (5, 12)]),
        1e-10,
    )
    points = [(0.5, 0.5, 0.1), (2, 3, 0.5), (2, 3, 0.99), (10, 0.3, 0.9), (50, 60, 0.45), (300, 200, 0.62)]
    t.table(
        "beta_p",
        "(a: []f64) (b: []f64) (x: []f64) = map3 special_f64.beta_p a b x",
        pairs(beta_p, points),
        1e-12,
    )
    t.table(
        "beta_p_by_shape",
        "(a: []f64) (b: []f64) (x: []f64) = map3 (\\a b x -> grad (\\a -> special_f64.beta_p a b x) a) a b x",
        pairs(lambda a, b, x: mpmath.diff(lambda s: beta_p(s, b, x), a), points),
        1e-10,
    )
    one(t, "erf_inverse", mpmath.erfinv, [-0.999, -0.5, -0.1, 1e-12, 0.3, 0.7, 0.95, 1 - 2.0**-30], 1e-13)
    one(t, "erfc_inverse", erfc_inverse, [1e-300, 1e-20, 1e-3, 0.3, 1.0 - 2.0**-20, 1.3, 1.99], 1e-12)
    quantile = lambda p: -mpmath.sqrt(2) * erfc_inverse(2 * p)
    one(t, "normal_quantile", quantile, [1e-30, 0.01, 0.3, 0.6, 0.975], 1e-13)
    one(t, "normal_cdf", mpmath.ncdf, [-30.0, -3.0, 0.0, 0.5, 4.0], 1e-13)

    near = [1e-8, 0.1, 0.9, 1.0, 2.0, 5.0, 10.0, 24.9, 25.1, 60.0, 500.0]
    either = near + [-0.5, -3.0, -40.0]
    for order in (0, 1):
        one(t, f"bessel_j{order}", lambda x: mpmath.besselj(order, x), either + [0.0], 1e-12)
        one(t, f"bessel_y{order}", lambda x: mpmath.bessely(order, x), near, 1e-12)
        one(t, f"bessel_i{order}", lambda x: mpmath.besseli(order, x), either + [0.0], 2e-13)
        one(t, f"bessel_k{order}", lambda x: mpmath.besselk(order, x), near, 2e-13)
    one(t, "zeta", mpmath.zeta, [-7.5, -3.0, -0.7, -0.2, 0.0, 0.5, 0.99, 1.5, 2.0, 7.3, 40.0, 100.0], 1e-12)
