#!/usr/bin/env python3
"""Measures which errors the rounding of intermediate results explains, in NumPy's float32: the constants of src/gym/trial/weakness.h
follow.

Each computation runs once as usual and eight times with each result rounded to a grid of 32 neighbouring numbers, as the judge's
evaluator does. For each seed the program takes the largest error beyond the tolerance, in units of its element's spread, which is
divided by 32. It prints the range over seeds. docs/results/tolerances.md has the table.

usage: calibrate_rounding.py
"""
import numpy as np

WIDTHS, ROUNDS, LEAST, SEEDS = (32, 16), 8, 4, 20
F = np.float32


def grid(salt, width=1):
    """Returns a rounding that uses another grid in each call, and leaves exact numbers as they are. Without a salt it changes
    nothing."""
    calls = [0 if salt is None else salt << 20]

    def round_otherwise(x):
        x = np.asarray(x, F)
        if salt is None:
            return x
        calls[0] += 1
        call = (np.uint64(calls[0]) * np.uint64(0xD1342543DE82EF95)) >> np.uint64(8)
        bits = np.abs(x).view(np.uint32).astype(np.uint64)
        first = call % np.uint64(width)
        cell = (bits + first) // np.uint64(width)
        mixed = (cell ^ call) * np.uint64(0x9E3779B97F4A7C15)
        mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        point = cell * np.uint64(width) - first + (mixed >> np.uint64(40)) % np.uint64(width)
        moved = np.copysign(point.astype(np.uint32).view(F), x)
        exact = ((bits & np.uint64(0xFFF)) == 0) | ((np.abs(x) < 2 ** 20) & (x == np.floor(x))) | (np.abs(x) < 1e-36)
        return np.where(exact, x, moved)
    return round_otherwise


def variance(g, x):
    x = g(x)
    total, squares, n = g(x.sum(-1, dtype=F)), g(g(x * x).sum(-1, dtype=F)), F(x.shape[-1])
    return g(g(squares - g(g(total * total) / n)) / (n - F(1)))


def norm(g, x):
    x, n = g(x), F(x.shape[-1])
    mean = g(g(x.sum(-1, keepdims=True, dtype=F)) / n)
    squares = g(g(g(x * x).sum(-1, keepdims=True, dtype=F)) / n)
    return g(g(x - mean) / g(np.sqrt(g(g(squares - g(mean * mean)) + F(1e-5)))))


def exact_norm(x):
    x = x.astype(float)
    return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5)


def entmax(g, x, rounds=10, kind=F):
    """The 1.5-entmax by Halley's method, without subtracting the maximum, as a public kernel computes it."""
    half = kind(0.5)
    x = g(g(x) * half)
    high = x.max(-1, keepdims=True)
    low, point = g(high - 2 * half), g(high - half)
    for _ in range(rounds):
        above = np.maximum(g(x - point), 0)
        value = g(g(g(above * above).sum(-1, keepdims=True, dtype=kind)) - 2 * half)
        slope = g(-4 * half * g(above.sum(-1, keepdims=True, dtype=kind)))
        bend = g(4 * half * (x > point).sum(-1, keepdims=True).astype(kind))
        following = g(point - g(g(2 * value * slope) / g(g(2 * slope * slope) - g(value * bend))))
        low, high = np.where(value > 0, point, low), np.where(value < 0, point, high)
        is_inside = (following > low - kind(1e-6)) & (following < high + kind(1e-6))
        point = np.where(is_inside, following, g(half * (low + high))).astype(kind)
    return g(np.maximum(g(x - point), 0) ** 2)


def softmax(g, x):
    z = g(g(x) * F(300))
    m = z.max(-1, keepdims=True)
    return g(np.exp(g(z - g(m + g(np.log(g(g(np.exp(g(z - m))).sum(-1, keepdims=True, dtype=F))))))))


def exact_softmax(x):
    z = (x * F(300)).astype(float)
    e = np.exp(z - z.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def segments(g, x, rate):
    logs = g(np.cumsum(-np.abs(g(rate)), -1, dtype=F))
    difference = np.where(np.tri(x.shape[-1], dtype=bool), g(logs[:, :, None] - logs[:, None, :]), -np.inf)
    return g(g(g(np.exp(difference)) * g(x)[:, None, :]).sum(-1, dtype=F))


def exact_segments(x, rate):
    logs = np.cumsum(-np.abs(rate.astype(float)), -1)
    difference = np.where(np.tri(x.shape[-1], dtype=bool), logs[:, :, None] - logs[:, None, :], -np.inf)
    return (np.exp(difference) * x[:, None, :]).sum(-1)


def coarse(x, bits):
    dropped = 23 - bits
    return ((x.view(np.int32) + (1 << (dropped - 1))) & ~((1 << dropped) - 1)).view(F)


def product(bits):
    return lambda g, a, b: g((coarse(g(a), bits).astype(float) @ coarse(g(b), bits).astype(float)).astype(F))


def noise(of):
    """The input, or what follows from it, with noise of 1 % that its bits decide."""
    def noisy(g, x):
        y = g(g(x) * F(1.7))
        bits = (np.ascontiguousarray(y if of == "result" else g(x)).view(np.uint32).astype(np.uint64) * np.uint64(0x9E3779B1)) & np.uint64(0xFFFFFFFF)
        return g(y + g(y * ((bits >> np.uint64(16)).astype(F) / F(65536) - F(0.5)) * F(0.02)))
    return noisy


def normal(random, *shape):
    return random.standard_normal(shape).astype(F)


def times(x):
    return x.astype(float) * F(1.7)


CASES = {
    "variance as a difference of squares, 128 elements near 100":
        (variance, lambda x: x.astype(float).var(-1, ddof=1), lambda r: [normal(r, 32, 128) + F(100)], 2e-4),
    "norm with that variance, 192 elements near -110": (norm, exact_norm, lambda r: [normal(r, 64, 192) - F(110)], 2e-4),
    "the norm of 8 rows of 256 elements near -110": (norm, exact_norm, lambda r: [r.random((8, 256)).astype(F) - F(110)], 2e-4),
    "the norm of 1,024 elements near 100": (norm, exact_norm, lambda r: [normal(r, 64, 1024) + F(100)], 2e-4),
    "1.5-entmax without its maximum, 6 rows of 50 elements near 100":
        (entmax, lambda x: entmax(lambda y: y, x.astype(float), 60, np.float64), lambda r: [normal(r, 6, 50) + F(100)], 5e-5),
    "softmax(300 x) as exp(z - (m + log(s))), 100 added": (softmax, exact_softmax, lambda r: [normal(r, 16, 64) + F(100)], 1e-4),
    "the same, rows of one value": (softmax, exact_softmax, lambda r: [np.repeat(normal(r, 16, 1) + F(400), 64, 1)], 1e-6),
    "decays as differences of running sums near 1,000":
        (segments, exact_segments, lambda r: [normal(r, 8, 32), normal(r, 8, 32) * F(50)], 1e-6),
    "matrix product in TF32": (product(10), lambda a, b: a.astype(float) @ b.astype(float),
                               lambda r: [normal(r, 64, 256), normal(r, 256, 64)], 3.2e-3),
    "matrix product in bf16": (product(7), lambda a, b: a.astype(float) @ b.astype(float),
                               lambda r: [normal(r, 64, 256), normal(r, 256, 64)], 3.2e-3),
    "elements rounded to TF32": (lambda g, x: coarse(g(x), 10), lambda x: x.astype(float), lambda r: [normal(r, 64, 256)], 2e-4),
    "elements rounded to bf16": (lambda g, x: coarse(g(x), 7), lambda x: x.astype(float), lambda r: [normal(r, 64, 256)], 2e-4),
    "noise of 1 % by the bits of an input": (noise("input"), times, lambda r: [normal(r, 64, 256)], 2e-4),
    "noise of 1 % by the bits of a result": (noise("result"), times, lambda r: [normal(r, 64, 256)], 2e-4),
}

for name, (computed, exact, draw, tolerance) in CASES.items():
    largest = []
    for seed in range(SEEDS):
        inputs = draw(np.random.default_rng(seed))
        first, right = computed(grid(None), *inputs), exact(*inputs)
        error, beyond = np.abs(first - right), np.abs(first - right) > tolerance
        if not beyond.any():
            continue
        numbers, spread = np.zeros(error.shape), np.zeros(error.shape)
        for width in WIDTHS:
            if numbers[beyond].min() >= LEAST:
                break
            for k in range(ROUNDS):
                with np.errstate(invalid="ignore"):
                    change = np.abs(computed(grid(977 * k + 31, width), *inputs) - first) / WIDTHS[0]
                numbers += np.isfinite(change)
                spread = np.fmax(spread, np.where(np.isfinite(change), change, 0))
        with np.errstate(divide="ignore"):
            largest.append((error[beyond] / spread[beyond]).max())
    print(f"{name:64} {min(largest):8.2f} to {max(largest):.2f} (median {np.median(largest):.2f}, {len(largest)} seeds)" if largest
          else f"{name:64} no errors", flush=True)
