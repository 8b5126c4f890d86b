"""Factorisations and functions of small matrices, by numpy and scipy."""

import numpy
import scipy.linalg


def matrix(n, m, seed):
    return numpy.round(numpy.random.RandomState(seed).uniform(-2, 2, (n, m)), 3)


def definite(n, seed):
    a = matrix(n, n, seed)
    return numpy.round(a @ a.T + numpy.eye(n), 3)


def upright(v):
    """Columns with their largest components positive."""
    return v * numpy.sign(v[numpy.abs(v).argmax(axis=0), numpy.arange(v.shape[1])])


def qr(a):
    q, r = numpy.linalg.qr(a)
    signs = numpy.sign(numpy.diag(r))
    return q * signs, r * signs[:, None]


def svd(a):
    u, s, vt = numpy.linalg.svd(a, full_matrices=False)
    # The side that is computed first has its signs made positive.
    first, second = (vt.T, u) if a.shape[0] >= a.shape[1] else (u, vt.T)
    signs = numpy.sign(first[numpy.abs(first).argmax(axis=0), numpy.arange(len(s))])
    return u * signs, s, vt.T * signs


def eigh(a):
    values, vectors = numpy.linalg.eigh(a)
    return values, upright(vectors)


def fill(t):
    square = [matrix(n, n, 10 + n) for n in (1, 2, 3, 5)]
    swapped = [numpy.array([[0.0, 2.0, 1.0], [1.0, 0.0, 0.0], [3.0, 1.0, 0.0]])]
    spd = [definite(n, 20 + n) for n in (1, 2, 4)]
    tall = [matrix(3, 2, 31), matrix(5, 3, 32)]
    hilbert = scipy.linalg.hilbert(5)

    t.table(
        "products",
        "[n] (a: [n][n]f64) (x: [n]f64) =\n"
        "  ( linalg_f64.matvec a x, linalg_f64.vecmat x a, linalg_f64.matmul a a, linalg_f64.kronecker a [x]\n"
        "  , linalg_f64.norm x, linalg_f64.norm1 x, linalg_f64.norm_inf x, linalg_f64.frobenius a )",
        [
            (
                [a, a[0]],
                [
                    a @ a[0],
                    a[0] @ a,
                    a @ a,
                    numpy.kron(a, a[:1]),
                    numpy.linalg.norm(a[0]),
                    abs(a[0]).sum(),
                    abs(a[0]).max(),
                    numpy.linalg.norm(a),
                ],
            )
            for a in square[:3]
        ],
        1e-13,
    )
    t.table("cholesky", "(a: [][]f64) = linalg_f64.cholesky a", [([a], [numpy.linalg.cholesky(a)]) for a in spd], 1e-12)
    t.table(
        "triangular",
        "[n] (a: [n][n]f64) (b: [n]f64) = (linalg_f64.solve_lower a b, linalg_f64.solve_upper a b)",
        [
            (
                [a, a[:, 0]],
                [
                    scipy.linalg.solve_triangular(a, a[:, 0], lower=True),
                    scipy.linalg.solve_triangular(a, a[:, 0], lower=False),
                ],
            )
            for a in square
        ],
        1e-11,
    )
    t.table(
        "systems",
        "[n] (a: [n][n]f64) (b: [n]f64) =\n"
        "  (linalg_f64.solve a b, linalg_f64.inverse a, linalg_f64.det a, linalg_f64.logdet a)",
        [
            ([a, b], [numpy.linalg.solve(a, b), numpy.linalg.inv(a), numpy.linalg.det(a), numpy.linalg.slogdet(a)[1]])
            for a in square + swapped
            for b in [numpy.arange(1.0, len(a) + 1)]
        ],
        1e-11,
    )
    t.table(
        "ill_conditioned",
        "[n] (a: [n][n]f64) (b: [n]f64) = linalg_f64.solve a b",
        [([hilbert, hilbert.sum(axis=1)], [numpy.ones(5)])],
        1e-9,
    )
    t.table(
        "qr",
        "(a: [][]f64) = let {q, r} = linalg_f64.qr a in (q, r)",
        [([a], list(qr(a))) for a in tall + square],
        1e-11,
    )
    t.table(
        "lstsq",
        "[m] [n] (a: [m][n]f64) (b: [m]f64) = linalg_f64.lstsq a b",
        [([a, b], [numpy.linalg.lstsq(a, b, rcond=None)[0]]) for a in tall for b in [numpy.arange(1.0, len(a) + 1)]],
        1e-11,
    )
    t.table(
        "eigh",
        "(a: [][]f64) = let {values, vectors} = linalg_f64.eigh a in (values, vectors)",
        [([a], list(eigh(a))) for a in spd + [hilbert, numpy.round(square[3] + square[3].T, 3)]],
        1e-10,
    )
    t.table(
        "svd",
        "(a: [][]f64) = let {u, s, v} = linalg_f64.svd a in (u, s, v)",
        [([a], list(svd(a))) for a in tall + [tall[1].T, square[1], square[3]]],
        1e-10,
    )
    t.table("small_singular_values", "(a: [][]f64) = (linalg_f64.svd a).s", [([hilbert], [svd(hilbert)[1]])], 1e-10)
    t.table(
        "expm",
        "(a: [][]f64) = linalg_f64.expm a",
        [([a], [scipy.linalg.expm(a)]) for a in square + [numpy.zeros((2, 2)), 9 * square[2]]],
        1e-11,
    )
    t.table(
        "single",
        "[n] (a: [n][n]f64) =\n"
        "  let a = map (map f32.f64) a\n"
        "  in (map f64.f32 (linalg_f32.eigh a).values, f64.f32 (linalg_f32.logdet a), map (map f64.f32) (linalg_f32.expm a))",
        [([a], [eigh(a)[0], numpy.linalg.slogdet(a)[1], scipy.linalg.expm(a)]) for a in spd[:2]],
        2e-5,
    )
