"""Small tasks, each with a Triton solution. warm() captures them, so that a zygote has done once what guests often do."""

TASK = '''
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.linear = nn.Linear(features, features)
        self.norm = nn.LayerNorm(features)
        self.conv = nn.Conv2d(3, 4, 3, padding=1)
        self.batch_norm = nn.BatchNorm2d(4)
        self.register_buffer("scale", torch.ones(1))

    def forward(self, x):
        image = F.max_pool2d(self.batch_norm(self.conv(x.view(-1, 3, 8, 8))), 2)
        y = torch.softmax(F.gelu(self.norm(self.linear(x.view(-1, 64)))), dim=-1)
        y = torch.sigmoid(y) * torch.tanh(y) + torch.clamp(y, min=0.0) - y.mean(dim=-1, keepdim=True)
        return y.sum() * self.scale + image.mean(), y.transpose(0, 1).contiguous(), (y @ y.t()).pow(2).exp().relu()


def get_inputs():
    return [torch.randn(2, 3, 64)]


def get_init_inputs():
    return [64]
'''

CANDIDATE = '''
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def gelu(x):
    return 0.5 * x * (1.0 + tl.erf(x * 0.7071067811865476))


@triton.jit
def elementwise_kernel(x_ptr, y_ptr, n, scale, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask, other=0.0)
    y = tl.where(x > 0, gelu(x), tl.exp(x) - 1.0) * tl.sigmoid(x) + tl.sqrt(tl.abs(x)) + tl.log(x * x + 1.0)
    tl.store(y_ptr + offsets, tl.minimum(tl.maximum(y, -scale), scale), mask=mask)


@triton.jit
def softmax_kernel(x_ptr, y_ptr, stride, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    offsets = tl.arange(0, BLOCK)
    mask = offsets < columns
    x = tl.load(x_ptr + row * stride + offsets, mask=mask, other=-float("inf")).to(tl.float32)
    numerator = tl.exp(x - tl.max(x, axis=0))
    tl.store(y_ptr + row * stride + offsets, numerator / tl.sum(numerator, axis=0), mask=mask)


@triton.autotune(configs=[triton.Config({"M": 16, "N": 16, "K": 16}), triton.Config({"M": 32, "N": 32, "K": 16}, num_warps=8)],
                 key=["rows"])
@triton.jit
def matmul_kernel(a_ptr, b_ptr, c_ptr, rows, columns, inner, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    m = tl.program_id(0) * M + tl.arange(0, M)
    n = tl.program_id(1) * N + tl.arange(0, N)
    accumulator = tl.zeros((M, N), dtype=tl.float32)
    for start in range(0, inner, K):
        k = start + tl.arange(0, K)
        a = tl.load(a_ptr + m[:, None] * inner + k[None, :], mask=(m[:, None] < rows) & (k[None, :] < inner), other=0.0)
        b = tl.load(b_ptr + k[:, None] * columns + n[None, :], mask=(k[:, None] < inner) & (n[None, :] < columns), other=0.0)
        accumulator += tl.dot(a, b)
    tl.store(c_ptr + m[:, None] * columns + n[None, :], accumulator, mask=(m[:, None] < rows) & (n[None, :] < columns))


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.linear = nn.Linear(features, features)
        self.scale = nn.Parameter(torch.ones(features))

    def forward(self, x):
        x = x.contiguous().view(-1, x.shape[-1])
        y = torch.empty_like(x)
        grid = lambda meta: (triton.cdiv(x.numel(), meta["BLOCK"]),)
        elementwise_kernel[grid](x, y, x.numel(), 2.5, BLOCK=1024)
        z = torch.empty(y.shape, device=y.device, dtype=torch.float32)
        softmax_kernel[(y.shape[0],)](y, z, y.stride(0), y.shape[1], BLOCK=triton.next_power_of_2(y.shape[1]), num_warps=4)
        rows, inner = z.shape
        out = torch.zeros((rows, inner), device=x.device)
        matmul_kernel[lambda meta: (triton.cdiv(rows, meta["M"]), triton.cdiv(inner, meta["N"]))](
            z, self.linear.weight, out, rows, inner, inner)
        return out
'''

SAMPLES = [(TASK, CANDIDATE)]
