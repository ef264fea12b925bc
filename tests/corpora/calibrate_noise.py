#!/usr/bin/env python3
"""Measures how errors react to a nudge of the inputs, in NumPy's float32: the constants of src/gym/trial/weakness.h follow.

For each computation it prints two shares: of the errors beyond the tolerance, and of those above half of the largest, how many
change by more than a quarter of themselves. It prints their range over seeds and nudges, and the range over seeds of their mean
over all nudges, for both forms of nudges. docs/results/tolerances.md has the table.

usage: calibrate_noise.py
"""
import numpy as np

NUDGES = (4, -8, -16, 32, 6, -12, 20, -28)  # in units of float32's epsilon
SEEDS = 60
F = np.float32


def uniform(x, units):
    return x * F(1 + units * 2.0 ** -23)


def by_element(x, units):
    """Moves about half of the elements up and the others down, as nudge() does."""
    is_up = (np.arange(x.size).reshape(x.shape) * 0.6180339887498949) % 1 < 0.5
    return x * np.where(is_up, 1 + units * 2.0 ** -23, 1 - units * 2.0 ** -23).astype(F)


def shares(error, exact, inputs, tolerance, nudge):
    """Yields both shares for each nudge. `error` computes in float32, `exact` in float64."""
    before = (error(*inputs) - exact(*inputs)) / tolerance
    beyond = np.abs(before) > 1
    if not beyond.any():
        return
    large = beyond & (np.abs(before) > 0.5 * np.abs(before).max())
    for units in NUDGES:
        moved = [nudge(x, units) for x in inputs]
        after = (error(*moved) - exact(*moved)) / tolerance
        other = np.abs(after - before) > 0.25 * np.abs(before)
        yield other[beyond].mean(), other[large].mean()


def variance(x):
    total, squares = x.sum(-1, dtype=F), (x * x).sum(-1, dtype=F)
    n = F(x.shape[-1])
    return (squares - total * total / n) / (n - F(1))


def norm(x):
    mean = x.mean(-1, keepdims=True, dtype=F)
    return (x - mean) / np.sqrt((x * x).mean(-1, keepdims=True, dtype=F) - mean * mean + F(1e-5))


def exact_norm(x):
    x = x.astype(np.float64)
    return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5)


def entmax(x, rounds=10):
    """The 1.5-entmax by Halley's method, without subtracting the maximum, as a public kernel computes it."""
    half = x.dtype.type(0.5)
    x = x * half
    high = x.max(-1, keepdims=True)
    low, point = high - 2 * half, high - half
    for _ in range(rounds):
        above = np.maximum(x - point, 0)
        value = (above * above).sum(-1, keepdims=True, dtype=x.dtype) - 2 * half
        slope, bend = -4 * half * above.sum(-1, keepdims=True, dtype=x.dtype), 4 * half * (x > point).sum(-1, keepdims=True)
        following = point - 2 * value * slope / (2 * slope * slope - value * bend.astype(x.dtype))
        low, high = np.where(value > 0, point, low), np.where(value < 0, point, high)
        is_inside = (following > low - x.dtype.type(1e-6)) & (following < high + x.dtype.type(1e-6))
        point = np.where(is_inside, following, half * (low + high)).astype(x.dtype)
    return np.maximum(x - point, 0) ** 2


def rounded(x, bits):
    dropped = 23 - bits
    whole = x.view(np.int32)
    return ((whole + (1 << (dropped - 1))) & ~((1 << dropped) - 1)).view(F)


def product(bits):
    return lambda a, b: rounded(a, bits).astype(float) @ rounded(b, bits).astype(float)


def normal(random, *shape):
    return random.standard_normal(shape).astype(F)


CASES = {
    "variance of 128 elements near 100":
        (variance, lambda x: x.astype(float).var(-1, ddof=1), lambda r: [normal(r, 32, 128) + F(100)], 2e-4),
    "norm of 192 elements near -110": (norm, exact_norm, lambda r: [normal(r, 64, 192) - F(110)], 2e-4),
    "norm of 8 rows of 256 elements near -110": (norm, exact_norm, lambda r: [r.random((8, 256)).astype(F) - F(110)], 2e-4),
    "norm of 1,024 elements near 100": (norm, exact_norm, lambda r: [normal(r, 64, 1024) + F(100)], 2e-4),
    "norm of 1.5 - x with small x": (lambda x: norm(F(1.5) - x), lambda x: exact_norm(1.5 - x.astype(float)),
                                     lambda r: [normal(r, 64, 256) * F(0.05)], 2e-4),
    "entmax of 6 rows of 50 elements near 100": (entmax, lambda x: entmax(x.astype(float), 60),
                                                 lambda r: [normal(r, 6, 50) + F(100)], 5e-5),
    "product in TF32": (product(10), lambda a, b: a.astype(float) @ b.astype(float),
                        lambda r: [normal(r, 64, 256), normal(r, 256, 64)], 3.2e-3),
    "product in bf16": (product(7), lambda a, b: a.astype(float) @ b.astype(float),
                        lambda r: [normal(r, 64, 256), normal(r, 256, 64)], 3.2e-3),
    "elements in TF32": (lambda x: rounded(x, 10).astype(float), lambda x: x.astype(float), lambda r: [normal(r, 64, 256)], 2e-4),
    "elements in bf16": (lambda x: rounded(x, 7).astype(float), lambda x: x.astype(float), lambda r: [normal(r, 64, 256)], 2e-4),
}

print(f"{'computation':42} {'nudges':10} {'one nudge: of all':>18} {'of the large':>14} {'all nudges: of all':>20} {'of the large':>14}")
for name, (error, exact, draw, tolerance) in CASES.items():
    for nudge in (uniform, by_element):
        single, together = [], []
        for seed in range(SEEDS):
            found = list(shares(error, exact, draw(np.random.default_rng(seed)), tolerance, nudge))
            single += found
            if found:
                together.append(np.mean(found, 0))
        low, high, least, most = np.min(single, 0), np.max(single, 0), np.min(together, 0), np.max(together, 0)
        print(f"{name:42} {nudge.__name__:10} {low[0]:10.2f} to {high[0]:.2f} {low[1]:6.2f} to {high[1]:.2f} "
              f"{least[0]:12.2f} to {most[0]:.2f} {least[1]:6.2f} to {most[1]:.2f}")
