"""One program in JAX: prints how long it compiles and runs, as JSON."""

import json
import statistics
import sys
import time

import jax
import jax.numpy as jnp
import numpy as np

from programs import PROGRAMS

jax.config.update("jax_enable_x64", True)


def black_scholes(r, v, s, x, t):
    def normal(d):
        k = 1 / (1 + 0.2316419 * jnp.abs(d))
        poly = k * (0.31938153 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429))))
        tail = 0.39894228 * jnp.exp(-0.5 * d * d) * poly
        return jnp.where(d > 0, 1 - tail, tail)

    root = jnp.sqrt(t)
    d1 = (jnp.log(s / x) + (r + 0.5 * v * v) * t) / (v * root)
    d2 = d1 - v * root
    n1, n2, discounted = normal(d1), normal(d2), x * jnp.exp(-r * t)
    return s * n1 - discounted * n2, discounted * (1 - n2) - s * (1 - n1)


def mandelbrot(height, width, limit):
    y, x = jnp.meshgrid(jnp.arange(height, dtype=jnp.float32), jnp.arange(width, dtype=jnp.float32), indexing="ij")
    cr, ci = -2 + 3 * x / width, -1.5 + 3 * y / height

    def step(_, state):
        zr, zi, count = state
        inside = zr * zr + zi * zi <= 4
        return (jnp.where(inside, zr * zr - zi * zi + cr, zr), jnp.where(inside, 2 * zr * zi + ci, zi),
                count + inside.astype(jnp.int32))

    zero = jnp.zeros((height, width), jnp.float32)
    return jax.lax.fori_loop(0, limit, step, (zero, zero, zero.astype(jnp.int32)))[2]


def nbody(dt, x, y, z, m, u, v, w):
    def pull(px, py, pz):
        dx, dy, dz = x - px, y - py, z - pz
        inverse = 1 / jnp.sqrt(dx * dx + dy * dy + dz * dz + 0.0001)
        s = m * inverse * inverse * inverse
        return jnp.sum(s * dx), jnp.sum(s * dy), jnp.sum(s * dz)

    ax, ay, az = jax.vmap(pull)(x, y, z)
    u, v, w = u + dt * ax, v + dt * ay, w + dt * az
    return x + dt * u, y + dt * v, z + dt * w, u, v, w


def mriq(kx, ky, kz, weights, x, y, z):
    angle = 6.2831853 * (x[:, None] * kx + y[:, None] * ky + z[:, None] * kz)
    return jnp.sum(weights * jnp.cos(angle), axis=1), jnp.sum(weights * jnp.sin(angle), axis=1)


def stencil_step(a):
    inner = 0.4 * a[1:-1, 1:-1, 1:-1] + 0.1 * (
        a[:-2, 1:-1, 1:-1] + a[2:, 1:-1, 1:-1] + a[1:-1, :-2, 1:-1] + a[1:-1, 2:, 1:-1]
        + a[1:-1, 1:-1, :-2] + a[1:-1, 1:-1, 2:])
    return a.at[1:-1, 1:-1, 1:-1].set(inner)


def hotspot(steps, t, power):
    def step(_, t):
        p = jnp.pad(t, 1, mode="edge")
        north, south, west, east = p[:-2, 1:-1], p[2:, 1:-1], p[1:-1, :-2], p[1:-1, 2:]
        return t + 0.05 * (power + (north + south - 2 * t) * 0.1 + (east + west - 2 * t) * 0.1 + (80 - t) * 0.02)

    return jax.lax.fori_loop(0, steps, step, t)


def pathfinder(wall):
    def step(best, row):
        p = jnp.pad(best, 1, mode="edge")
        return row + jnp.minimum(best, jnp.minimum(p[:-2], p[2:])), None

    return jax.lax.scan(step, wall[0], wall[1:])[0]


def distances(points, centres):
    return jnp.sum((points[:, None, :] - centres[None, :, :]) ** 2, axis=2)


def kmeans(points, centres):
    k = centres.shape[0]
    members = jnp.argmin(distances(points, centres), axis=1)
    sums = jax.ops.segment_sum(points, members, k)
    counts = jax.ops.segment_sum(jnp.ones(points.shape[0], points.dtype), members, k)
    return sums / jnp.maximum(1, counts)[:, None]


def spmv(starts, columns, values, xs):
    rows = jnp.repeat(jnp.arange(starts.shape[0] - 1), jnp.diff(starts), total_repeat_length=values.shape[0])
    return jax.ops.segment_sum(values * xs[columns], rows, starts.shape[0] - 1, indices_are_sorted=True)


def lu(a):
    n = a.shape[0]
    index = jnp.arange(n)

    def step(k, a):
        factors = jnp.where(index > k, a[:, k] / a[k, k], 0)
        updated = a - factors[:, None] * jnp.where(index > k, a[k], 0)
        return updated.at[:, k].set(jnp.where(index > k, factors, a[:, k]))

    return jax.lax.fori_loop(0, n, step, a)


def lstm_loss(weights, inputs):
    wi, wh, bias = weights
    b, h = inputs.shape[1], wh.shape[0]

    def step(state, x):
        hidden, cell = state
        gates = x @ wi + (bias + hidden @ wh)
        i, f, g, o = jnp.split(gates, 4, axis=1)
        cell = jax.nn.sigmoid(f) * cell + jax.nn.sigmoid(i) * jnp.tanh(g)
        hidden = jax.nn.sigmoid(o) * jnp.tanh(cell)
        return (hidden, cell), jnp.sum(hidden * hidden)

    zero = jnp.zeros((b, h), inputs.dtype)
    return jnp.sum(jax.lax.scan(step, (zero, zero), inputs)[1])


def gmm_likelihood(parameters, points):
    weights, means, scales = parameters
    deviations = (points[:, None, :] - means) * jnp.exp(scales)
    terms = weights + jnp.sum(scales, axis=1) - 0.5 * jnp.sum(deviations**2, axis=2)
    return jnp.sum(jax.nn.logsumexp(terms, axis=1)) - points.shape[0] * jax.nn.logsumexp(weights)


def histogram(bins, indices, values):
    return jnp.zeros(bins, values.dtype).at[indices].add(values)


# The function, and the positions of arguments that are sizes.
VERSIONS = {
    "sum": (jnp.sum, ()),
    "dot": (jnp.dot, ()),
    "saxpy": (lambda a, x, y: a * x + y, ()),
    "scan": (jnp.cumsum, ()),
    "histogram_small": (histogram, (0,)),
    "histogram_large": (histogram, (0,)),
    "blackscholes": (black_scholes, ()),
    "mandelbrot": (mandelbrot, (0, 1, 2)),
    "nbody": (nbody, ()),
    "mriq": (mriq, ()),
    "stencil": (lambda steps, a: jax.lax.fori_loop(0, steps, lambda _, a: stencil_step(a), a), (0,)),
    "hotspot": (hotspot, (0,)),
    "pathfinder": (pathfinder, ()),
    "kmeans": (kmeans, ()),
    "spmv": (spmv, ()),
    "radixsort": (jnp.sort, ()),
    "lu": (lu, ()),
    "grad_dot": (jax.grad(jnp.dot, (0, 1)), ()),
    "grad_logsumexp": (jax.grad(jax.nn.logsumexp), ()),
    "grad_kmeans": (jax.grad(lambda p, c: jnp.sum(jnp.min(distances(p, c), axis=1)), 1), ()),
    "grad_stencil": (jax.grad(lambda a: 0.5 * jnp.sum(stencil_step(a) ** 2)), ()),
    "matmul_f32": (jnp.matmul, ()),
    "matmul_f64": (jnp.matmul, ()),
    "lstm": (lambda inputs, *weights: jax.grad(lstm_loss)(weights, inputs), ()),
    "gmm": (lambda points, *parameters: jax.grad(gmm_likelihood)(parameters, points), ()),
}


def main():
    name, scale = sys.argv[1:]
    function, sizes = VERSIONS[name]
    inputs = PROGRAMS[name].inputs(np.random.default_rng(1), scale)
    inputs = [int(x) if i in sizes else jnp.asarray(x) for i, x in enumerate(inputs)]
    given = [x for i, x in enumerate(inputs) if i not in sizes]
    start = time.perf_counter()
    compiled = jax.jit(function, static_argnums=sizes).lower(*inputs).compile()
    compile_time = time.perf_counter() - start
    jax.block_until_ready(compiled(*given))
    times, begin = [], time.perf_counter()
    while len(times) < 5 or (len(times) < 20 and time.perf_counter() - begin < 5):
        start = time.perf_counter()
        jax.block_until_ready(compiled(*given))
        times.append(time.perf_counter() - start)
    print(json.dumps({"jax_ms": statistics.median(times) * 1e3, "jax_compile_ms": compile_time * 1e3}))


if __name__ == "__main__":
    main()
