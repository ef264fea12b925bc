#!/usr/bin/env python3
"""Shows why two passes through one model differ in 16 bits. It simulates on the CPU, in ten seconds, what
docs/results/engine.md reports of a GPU.

  bench/rounding_gap.py [LAYERS]      LAYERS is 16 by default

A random model of Qwen2's layers computes with float32 sums and rounds at the same points as the CUDA kernels. Each line is
the mean difference, in nats, of a token's log-probability between two passes. Both round at the same points, but take some
sums in another order: a product in two halves of its depth, and attention's weights relative to another maximum. Further
lines leave out one rounding, use float16, or use equal sums.
"""
import sys

import numpy as np

HIDDEN, INNER, HEADS, HEAD_DIM, VOCABULARY, TOKENS = 256, 1024, 4, 64, 2048, 192
POINTS = ("norm", "qkv", "weights", "attention", "gates", "inner")  # the points that round to 16 bits
PRODUCTS = ("qkv", "output", "gates", "down")


def bfloat16(x):
    bits = np.ascontiguousarray(x, np.float32).view(np.uint32)
    rounded = bits + ((bits >> 16) & 1) + 0x7FFF
    return (rounded >> 16 << 16).astype(np.uint32).view(np.float32)


def float16(x):
    return x.astype(np.float16).astype(np.float32)


def exact(x):
    return x.astype(np.float32)


class Model:
    def __init__(self, layers):
        self.random = np.random.default_rng(0)
        shapes = {"qkv": (3 * HIDDEN, HIDDEN), "output": (HIDDEN, HIDDEN), "gates": (2 * INNER, HIDDEN), "down": (HIDDEN, INNER)}
        # The scale is that of a model 2,048 wide whose weights have a deviation of 0.02.
        self.layers = [{name: self.weights(shape, 0.02 * np.sqrt(2048 / shape[1])) for name, shape in shapes.items()}
                       for _ in range(layers)]
        self.head = self.weights((VOCABULARY, HIDDEN), 0.057)
        self.inputs = self.random.standard_normal((TOKENS, HIDDEN)).astype(np.float32) * 0.02
        self.targets = self.random.integers(0, VOCABULARY, TOKENS)

    def weights(self, shape, deviation):
        return bfloat16(self.random.standard_normal(shape) * deviation)

    def logprobs(self, rounds, in_halves=(), about=0.0):
        """Runs one pass. `rounds` holds the rounding by point. `in_halves` sums products in two halves. `about` is added to
        the maximum of the scores."""
        def product(x, weight, name):
            if name not in in_halves:
                return x @ weight.T
            half = x.shape[1] // 2
            return x[:, :half] @ weight[:, :half].T + x[:, half:] @ weight[:, half:].T

        def norm(x):
            return rounds["norm"](x / np.sqrt((x * x).mean(-1, keepdims=True) + np.float32(1e-6)))

        later = np.triu(np.ones((TOKENS, TOKENS), bool), 1)
        x = self.inputs
        for layer in self.layers:
            qkv = rounds["qkv"](product(norm(x), layer["qkv"], "qkv")).reshape(TOKENS, 3, HEADS, HEAD_DIM)
            scores = np.einsum("thd,shd->hts", qkv[:, 0], qkv[:, 1]) / np.float32(np.sqrt(HEAD_DIM))
            scores[:, later] = -np.inf
            weights = np.exp(scores - scores.max(-1, keepdims=True) - np.float32(about))
            mean = np.einsum("hts,shd->thd", rounds["weights"](weights), qkv[:, 2]) / weights.sum(-1).T[:, :, None]
            x = x + product(rounds["attention"](mean).reshape(TOKENS, HIDDEN), layer["output"], "output")
            gate, up = np.split(rounds["gates"](product(norm(x), layer["gates"], "gates")), 2, axis=1)
            x = x + product(rounds["inner"](gate / (1 + np.exp(-gate)) * up), layer["down"], "down")
        logits = norm(x) @ self.head.T
        logits -= logits.max(-1, keepdims=True)
        return logits[np.arange(TOKENS), self.targets] - np.log(np.exp(logits).sum(-1))


def main():
    layers = int(sys.argv[1]) if len(sys.argv) > 1 else 16
    model = Model(layers)

    def tell(what, rounds, **others):
        gap = np.abs(model.logprobs(rounds) - model.logprobs(rounds, **others)).mean()
        print(f"{what:<44}{gap:.5f}", flush=True)

    everywhere = dict.fromkeys(POINTS, bfloat16)
    every_sum = {"in_halves": PRODUCTS, "about": 0.37}
    for name in PRODUCTS:
        tell(f"bfloat16, other sums in {name} alone", everywhere, in_halves=(name,))
    tell("bfloat16, attention about another maximum", everywhere, about=0.37)
    tell("bfloat16, all of these", everywhere, **every_sum)
    for point in POINTS:
        tell(f"all of these, {point} not rounded", {**everywhere, point: exact}, **every_sum)
    tell("float16, all of these", dict.fromkeys(POINTS, float16), **every_sum)
    tell("bfloat16, equal sums", everywhere)


if __name__ == "__main__":
    main()
