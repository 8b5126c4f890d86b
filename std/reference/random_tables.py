"""Philox 4x32-10 once more, and what is made of its words."""

import math

MASK = 0xFFFFFFFF


def philox(counter, key):
    c, k = list(counter), list(key)
    for _ in range(10):
        low, high = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [(high >> 32) ^ c[1] ^ k[0], high & MASK, (low >> 32) ^ c[3] ^ k[1], low & MASK]
        k = [(k[0] + 0x9E3779B9) & MASK, (k[1] + 0xBB67AE85) & MASK]
    return c


def halves(x):
    return [x & MASK, x >> 32]


def block(key, number):
    return philox(halves(number) + halves(key[1]), halves(key[0]))


def pair(words):
    return (words[0] | words[1] << 32, words[2] | words[3] << 32)


def child(key, i):
    return pair(block(key, i | 1 << 63))


def words64(n, key):
    return [w for i in range((n + 1) // 2) for w in pair(block(key, i))][:n]


def uniforms(n, key):
    return [(w >> 11) / 2.0**53 for w in words64(n, key)]


def normals(n, key):
    us = uniforms(n + n % 2, key)
    out = []
    for u, v in zip(us[::2], us[1::2]):
        r = math.sqrt(-2 * math.log1p(-u))
        out += [r * math.cos(2 * math.pi * v), r * math.sin(2 * math.pi * v)]
    return out[:n]


def fill(t):
    # The last words of each row are the known answers that come with the generator.
    known = [
        ([0] * 4, [0] * 2, [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]),
        ([MASK] * 4, [MASK] * 2, [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD]),
        (
            [0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344],
            [0xA4093822, 0x299F31D0],
            [0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1],
        ),
    ]
    for counter, key, answer in known:
        assert philox(counter, key) == answer
    t.table(
        "cipher",
        "(c: [4]u32) (k: [2]u32) =\n"
        "  let (a, b, c, d) = random.philox (c[0], c[1], c[2], c[3]) (k[0], k[1])\n  in [a, b, c, d]",
        [([counter, key], [answer]) for counter, key, answer in known],
        0,
    )
    root, far = (42, 0), child(child((2**63 + 5, 0), 3), 2**40)
    t.table(
        "children",
        "(seed: i64) (i: i64) =\n  let (a, b) = random.child (random.child (random.key seed) 3) i\n  in [a, b]",
        [([5 - 2**63, 2**40], [list(far)]), ([42, 1], [list(child(child(root, 3), 1))])],
        0,
    )
    t.table(
        "bits",
        "(n: i64) (seed: i64) = (random.words n (random.key seed), random.words64 n (random.key seed))",
        [
            ([n, 42], [sum((block(root, i) for i in range(2)), [])[:n], words64(n, root)])
            for n in (1, 4, 7)
        ],
        0,
    )
    t.table(
        "uniforms",
        "(n: i64) (seed: i64) =\n"
        "  (random_f64.uniforms n (0, 1) (random.key seed), random_f64.uniform (-1, 1) (random.key seed))",
        [([5, 42], [uniforms(5, root), 2 * uniforms(1, root)[0] - 1])],
        1e-15,
    )
    t.table(
        "normals",
        "(n: i64) (seed: i64) =\n"
        "  (random_f64.normals n (0, 1) (random.key seed), random_f64.normal (10, 2) (random.key seed))",
        [([5, 42], [normals(5, root), 10 + 2 * normals(1, root)[0]])],
        1e-13,
    )
    t.table(
        "exponentials",
        "(n: i64) (seed: i64) = random_f64.exponentials n 2 (random.key seed)",
        [([5, 42], [[-math.log1p(-u) / 2 for u in uniforms(5, root)]])],
        1e-13,
    )
    t.table(
        "single_precision",
        "(n: i64) (seed: i64) = random_f32.uniforms n (0, 1) (random.key seed)",
        [([4, 42], [[(w >> 8) / 2.0**24 for w in block(root, 0)]])],
        1e-7,
    )
    from scipy.stats import qmc

    t.table(
        "halton",
        "(skip: i64) (n: i64) = random_f64.halton_points skip n 3",
        [([s, 4], [qmc.Halton(3, scramble=False).random(s + 5)[s + 1 :]]) for s in (0, 100)],
        1e-13,
    )
