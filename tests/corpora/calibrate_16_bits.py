"""Tests whether the comparison's budget may apply in fp16 and bf16, with honest and wrong ways to compute an operator.

It needs only torch. A budget applies while PyTorch's own error is at most a share of tolerance * rms. For each share this
counts honest computations that pass the plain tolerance but fail a budget, and wrong computations that pass both.

usage: calibrate_16_bits.py [--seeds 3]
"""

import argparse

import torch
import torch.nn.functional as F

T = 1e-2
SHARES = (0.0, 0.1, 0.5, 1.0, 2.0, 4.0, 8.0)
DRAWS = {
    "normal": torch.randn,
    "uniform": torch.rand,
    "small": lambda *size: 0.05 * torch.randn(*size),
    "large": lambda *size: 4 * torch.randn(*size),
    "sparse": lambda *size: torch.randn(*size) * (torch.rand(*size) < 0.1),
}


def attention(x):
    return torch.softmax(x @ x.mT / x.shape[-1] ** 0.5, -1) @ x


def stepwise_softmax(x):
    e = torch.exp(x - x.amax(-1, keepdim=True))
    return e / e.sum(-1, keepdim=True)


def stepwise_norm(x):
    return (x - x.mean(-1, keepdim=True)) * torch.rsqrt(x.var(-1, keepdim=True, unbiased=False) + 1e-5)


def first_part(x, parts):
    return x[..., :x.shape[-1] // parts].float()


def zeros(operator):
    return lambda x: torch.zeros_like(operator(x))


def softmax(x):
    return torch.softmax(x, -1)


def mean(x):
    return x.mean(-1)


def norm(x):
    return F.layer_norm(x, x.shape[-1:])


def tanh(x):
    return torch.tanh(0.01 * x)


def product(x):
    return x @ x.mT


# For each operator: itself in fp32, other honest ways to compute it, and wrong ways.
OPERATORS = {
    softmax: ([stepwise_softmax], [zeros(softmax), lambda x: torch.full_like(x, 1 / x.shape[-1])]),
    mean: ([lambda x: x.view(*x.shape[:-1], -1, 32).sum(-1).sum(-1) / x.shape[-1]],
           [zeros(mean), lambda x: first_part(x, 4).mean(-1)]),
    F.gelu: ([lambda x: F.gelu(x.float(), approximate="tanh"), lambda x: x * 0.5 * (1 + torch.erf(x * 0.70710678))],
             [torch.relu, zeros(F.gelu)]),
    norm: ([stepwise_norm], [lambda x: x * torch.rsqrt(x.float().square().mean(-1, keepdim=True) + 1e-5)]),
    product: ([], [lambda x: first_part(x, 2) @ first_part(x, 2).mT]),
    attention: ([lambda x: torch.softmax(x.float() @ x.float().mT / x.shape[-1] ** 0.5, -1).to(x.dtype) @ x], []),
    tanh: ([], [zeros(tanh)]),
}


def look(computed, reference, exact):
    """Returns whether a result passes the plain tolerance, whether it fits a budget, and PyTorch's own error / (T * rms)."""
    computed, reference = computed.to(reference.dtype).double(), reference.double()
    own = (reference - exact).abs().max().item()
    rms = exact.square().mean().sqrt().item()
    plain = ((computed - reference).abs() <= T * (1 + reference.abs())).all().item()
    budget = ((computed - exact).abs() <= T * (exact.abs() + rms + 0.005) + 32 * own).all().item()
    return plain, budget, own / (T * rms) if rms > 0 else float("inf")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=3)
    options = parser.parse_args()
    honest, wrong = [], []
    for seed in range(options.seeds):
        torch.manual_seed(seed)
        for dtype in (torch.float16, torch.bfloat16):
            for draw in DRAWS.values():
                x = draw(64, 1024).to(dtype)
                for operator, (ways, mistakes) in OPERATORS.items():
                    reference, exact = operator(x), operator(x.double())
                    for way in [lambda x, of=operator: of(x.float()), *ways]:
                        honest.append(look(way(x), reference, exact))
                    for mistake in mistakes:
                        wrong.append(look(mistake(x), reference, exact))
    plain = sum(each[0] for each in honest)
    print(f"{len(honest)} honest results, {plain} within the plain tolerance; {len(wrong)} wrong ones")
    print("share  honest refused  wrong passed")
    for share in SHARES:
        refused = sum(near and own <= share and not close for near, close, own in honest)
        passed = sum(near and not (own <= share and not close) for near, close, own in wrong)
        print(f"{share:5.1f} {refused:15d} {passed:13d}")


if __name__ == "__main__":
    main()
