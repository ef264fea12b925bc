import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def mix(x_ptr, gate_ptr, w_ptr, b_ptr, out_ptr, shares_ptr, D: tl.constexpr, E: tl.constexpr):
    row = tl.program_id(0)
    d = tl.arange(0, D)
    e = tl.arange(0, E)
    x = tl.load(x_ptr + row * D + d)
    scores = tl.sum(tl.load(gate_ptr + e[:, None] * D + d[None, :]) * x[None, :], axis=1)
    shares = tl.exp(scores - tl.max(scores, axis=0))
    shares = shares / tl.sum(shares, axis=0)
    tl.store(shares_ptr + row * E + e, shares)
    out = tl.zeros((D,), dtype=tl.float32)
    for k in range(E):
        w = tl.load(w_ptr + k * D * D + d[:, None] * D + d[None, :])
        y = tl.sum(w * x[None, :], axis=1) + tl.load(b_ptr + k * D + d)
        y = 0.5 * y * (1.0 + tl.erf(y * 0.7071067811865476))
        out += y * tl.sum(tl.where(e == k, shares, 0.0), axis=0)
    tl.store(out_ptr + row * D + d, out)


class ModelNew(nn.Module):
    def __init__(self, features, experts):
        super().__init__()
        self.gate = nn.Linear(features, experts, bias=False)
        layers = [nn.Linear(features, features) for _ in range(experts)]
        self.w = nn.Parameter(torch.stack([layer.weight.detach() for layer in layers]))
        self.b = nn.Parameter(torch.stack([layer.bias.detach() for layer in layers]))

    def forward(self, x):
        features, experts = x.shape[1], self.w.shape[0]
        out = torch.empty_like(x)
        shares = torch.empty(x.shape[0], experts, device=x.device)
        mix[(x.shape[0],)](x, self.gate.weight, self.w, self.b, out, shares, D=features, E=experts)
        return {"out": out, "gate": shares}
