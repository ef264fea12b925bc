"""Kernels as models write them for KernelBench: softmax, norms, losses, pooling, fused chains."""
import torch
import triton
import triton.language as tl
from triton.language.extra.cuda import libdevice

from corpus.case import Case, empty, integers, normal


@triton.jit
def softmax(x, out, columns, N: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, N)
    v = tl.load(x + row * columns + i, mask=i < columns, other=-float("inf"))
    e = tl.exp(v - tl.max(v, axis=0))
    tl.store(out + row * columns + i, e / tl.sum(e, axis=0), mask=i < columns)


@triton.jit
def online_softmax(x, out, columns, N: tl.constexpr):
    row = tl.program_id(0)
    top = -float("inf")
    total = 0.0
    for start in range(0, columns, N):
        i = start + tl.arange(0, N)
        v = tl.load(x + row * columns + i, mask=i < columns, other=-float("inf"))
        new_top = tl.maximum(top, tl.max(v, axis=0))
        total = total * tl.exp(top - new_top) + tl.sum(tl.exp(v - new_top), axis=0)
        top = new_top
    for start in range(0, columns, N):
        i = start + tl.arange(0, N)
        v = tl.load(x + row * columns + i, mask=i < columns, other=0.0)
        tl.store(out + row * columns + i, tl.exp(v - top) / total, mask=i < columns)


@triton.jit
def layer_norm(x, weight, bias, out, columns, eps, N: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, N)
    mask = i < columns
    v = tl.load(x + row * columns + i, mask=mask, other=0.0).to(tl.float32)
    mean = tl.sum(v, axis=0) / columns
    centred = tl.where(mask, v - mean, 0.0)
    scale = 1 / tl.sqrt(tl.sum(centred * centred, axis=0) / columns + eps)
    y = centred * scale * tl.load(weight + i, mask=mask) + tl.load(bias + i, mask=mask)
    tl.store(out + row * columns + i, y, mask=mask)


@triton.jit
def rms_norm(x, weight, out, columns, eps, N: tl.constexpr):
    row = tl.program_id(0)
    total = tl.zeros((N,), tl.float32)
    for start in range(0, columns, N):
        i = start + tl.arange(0, N)
        v = tl.load(x + row * columns + i, mask=i < columns, other=0.0).to(tl.float32)
        total += v * v
    scale = tl.rsqrt(tl.sum(total, axis=0) / columns + eps)
    for start in range(0, columns, N):
        i = start + tl.arange(0, N)
        v = tl.load(x + row * columns + i, mask=i < columns, other=0.0).to(tl.float32)
        tl.store(out + row * columns + i, v * scale * tl.load(weight + i, mask=i < columns), mask=i < columns)


@triton.jit
def cross_entropy(logits, target, out, columns, N: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, N)
    v = tl.load(logits + row * columns + i, mask=i < columns, other=-float("inf"))
    top = tl.max(v, 0)
    log_sum = tl.log(tl.sum(tl.exp(v - top), 0)) + top
    t = tl.load(target + row)
    tl.store(out + row, log_sum - tl.load(logits + row * columns + t))


@triton.jit
def max_pool(x, out, height, width, out_height, out_width, SIZE: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < out_height * out_width
    r, c = i // out_width, i % out_width
    best = tl.full((BLOCK,), float("-inf"), tl.float32)
    for dr in range(SIZE):
        for dc in range(SIZE):
            y, z = r * SIZE + dr, c * SIZE + dc
            inside = mask & (y < height) & (z < width)
            best = tl.maximum(best, tl.load(x + y * width + z, mask=inside, other=float("-inf")))
    tl.store(out + i, best, mask=mask)


@triton.jit
def convolution(x, w, out, n, taps, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for k in range(taps):
        total += tl.load(x + i + k, mask=i + k < n + taps - 1, other=0.0) * tl.load(w + k)
    tl.store(out + i, total, mask=i < n)


@triton.jit
def column_sum(x, out, rows, columns, A: tl.constexpr, B: tl.constexpr):
    c = tl.program_id(0) * B + tl.arange(0, B)
    total = tl.zeros((B,), tl.float32)
    for start in range(0, rows, A):
        r = start + tl.arange(0, A)
        v = tl.load(x + r[:, None] * columns + c[None, :], mask=(r[:, None] < rows) & (c[None, :] < columns), other=0.0)
        total += tl.sum(v, axis=0)
    tl.store(out + c, total, mask=c < columns)


@triton.jit
def fused_chain(x, y, out, n, alpha, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    a, b = tl.load(x + i, mask=mask), tl.load(y + i, mask=mask)
    h = libdevice.tanh(a * alpha + b)
    g = h * tl.sigmoid(b) + tl.where(a > 0, a, tl.exp(a) - 1)
    tl.store(out + i, tl.minimum(tl.maximum(g, -3.0), 3.0), mask=mask)


@triton.jit
def mean_square_error(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    d = tl.load(x + i, mask=mask, other=0.0) - tl.load(y + i, mask=mask, other=0.0)
    tl.atomic_add(out, tl.sum(d * d, axis=0) / n)


@triton.jit
def embedding(table, index, out, width, N: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, N)
    token = tl.load(index + row)
    tl.store(out + row * width + i, tl.load(table + token * width + i, mask=i < width), mask=i < width)


@triton.jit
def rotary(x, cosine, sine, out, width, HALF: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, HALF)
    a, b = tl.load(x + row * width + i), tl.load(x + row * width + HALF + i)
    c, s = tl.load(cosine + row * HALF + i), tl.load(sine + row * HALF + i)
    tl.store(out + row * width + i, a * c - b * s)
    tl.store(out + row * width + HALF + i, b * c + a * s)


def cases():
    for rows, columns in ((4, 64), (7, 100), (3, 1000)):
        block = triton.next_power_of_2(columns)
        for dtype in (torch.float32, torch.float16, torch.bfloat16):
            short = str(dtype).split(".")[1]
            x = normal(f"n{rows}", rows * columns, dtype)
            w, b = normal("w", columns, dtype), normal("b", columns, dtype)
            def norm(x, w, b, out, c, eps):
                return [(out, torch.nn.functional.layer_norm(x.view(-1, c).double(), (c,), w.double(), b.double(), eps))]
            def rms(x, w, out, c, eps):
                v = x.view(-1, c).double()
                return [(out, v * torch.rsqrt((v * v).mean(1, keepdim=True) + eps) * w.double())]
            yield Case(f"layer_norm_{rows}x{columns}_{short}", layer_norm, [x, w, b, empty(rows * columns, dtype), columns, 1e-5],
                       dict(N=block), grid=(rows,), tolerance=10, reference=norm)
            yield Case(f"rms_norm_{rows}x{columns}_{short}", rms_norm, [x, w, empty(rows * columns, dtype), columns, 1e-5],
                       dict(N=64), grid=(rows,), tolerance=10, reference=rms)
        x = normal(f"s{rows}", rows * columns)
        yield Case(f"softmax_{rows}x{columns}", softmax, [x, empty(rows * columns), columns], dict(N=block), grid=(rows,))
        yield Case(f"online_softmax_{rows}x{columns}", online_softmax, [x, empty(rows * columns), columns], dict(N=32), grid=(rows,), tolerance=4)
        yield Case(f"cross_entropy_{rows}x{columns}", cross_entropy, [x, integers("t", rows, 0, columns, torch.int64), empty(rows), columns],
                   dict(N=block), grid=(rows,), tolerance=4)
        yield Case(f"column_sum_{rows}x{columns}", column_sum, [x, empty(columns), rows, columns], dict(A=4, B=64), grid=(-(-columns // 64),), tolerance=4)
    yield Case("max_pool", max_pool, [normal("mp", 20 * 25), empty(10 * 13), 20, 25, 10, 13], dict(SIZE=2, BLOCK=64), grid=(3,))
    yield Case("convolution", convolution, [normal("cv", 206), normal("cw", 7), empty(200), 200, 7], dict(BLOCK=64), grid=(4,), tolerance=4)
    yield Case("fused_chain", fused_chain, [normal("fx", 300), normal("fy", 300), empty(300), 300, 0.7], dict(BLOCK=128), grid=(3,), tolerance=8,
               reference=lambda x, y, out, n, alpha: [(out, (torch.tanh(x.double() * alpha + y) * torch.sigmoid(y.double())
                                                             + torch.nn.functional.elu(x.double())).clamp(-3, 3))])
    yield Case("mean_square_error", mean_square_error, [normal("ex", 300), normal("ey", 300), empty(1), 300], dict(BLOCK=128), grid=(3,), tolerance=4)
    yield Case("embedding", embedding, [normal("em", 50 * 40), integers("ei", 9, 0, 50, torch.int64), empty(360), 40], dict(N=64), grid=(9,))
    yield Case("rotary", rotary, [normal("rx", 5 * 64), normal("rc", 160), normal("rs", 160), empty(320), 64], dict(HALF=32), grid=(5,))
