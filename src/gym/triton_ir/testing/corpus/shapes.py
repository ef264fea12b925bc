"""Shapes: views, transposes, broadcasts, joins, splits, gathers, histograms, random numbers."""
import torch
import triton
import triton.language as tl

from corpus.case import Case, empty, integers, normal


@triton.jit
def transposed(x, out, A: tl.constexpr, B: tl.constexpr):
    v = tl.load(x + tl.arange(0, A)[:, None] * B + tl.arange(0, B)[None, :])
    tl.store(out + tl.arange(0, B)[:, None] * A + tl.arange(0, A)[None, :], tl.trans(v))


@triton.jit
def permuted(x, out, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr, P: tl.constexpr, Q: tl.constexpr, R: tl.constexpr):
    v = tl.load(x + tl.arange(0, A * B * C)).reshape(A, B, C)
    tl.store(out + tl.arange(0, A * B * C), tl.permute(v, (P, Q, R)).reshape(A * B * C))


@triton.jit
def broadcasts(x, y, out, A: tl.constexpr, B: tl.constexpr):
    u = tl.load(x + tl.arange(0, A))[:, None]
    v = tl.load(y + tl.arange(0, B))[None, :]
    w = tl.broadcast_to(u, (A, B)) * v + tl.expand_dims(tl.load(y + tl.arange(0, B)), 0)
    tl.store(out + tl.arange(0, A)[:, None] * B + tl.arange(0, B)[None, :], w)


@triton.jit
def broadcast_3d(x, out, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr):
    v = tl.load(x + tl.arange(0, B))[None, :, None]
    w = tl.broadcast_to(v, (A, B, C))
    p = tl.arange(0, A)[:, None, None] * (B * C) + tl.arange(0, B)[None, :, None] * C + tl.arange(0, C)[None, None, :]
    tl.store(out + p, w * (p % 3))


@triton.jit
def joined(x, y, out, N: tl.constexpr):
    j = tl.join(tl.load(x + tl.arange(0, N)), tl.load(y + tl.arange(0, N)))
    tl.store(out + tl.arange(0, N)[:, None] * 2 + tl.arange(0, 2)[None, :], j)


@triton.jit
def split_up(x, out, N: tl.constexpr):
    v = tl.load(x + tl.arange(0, N)[:, None] * 2 + tl.arange(0, 2)[None, :])
    a, b = tl.split(v)
    tl.store(out + tl.arange(0, N), a - 2 * b)


@triton.jit
def interleaved(x, y, out, N: tl.constexpr):
    tl.store(out + tl.arange(0, 2 * N), tl.interleave(tl.load(x + tl.arange(0, N)), tl.load(y + tl.arange(0, N))))


@triton.jit
def concatenated(x, y, out, N: tl.constexpr):
    tl.store(out + tl.arange(0, 2 * N), tl.cat(tl.load(x + tl.arange(0, N)), tl.load(y + tl.arange(0, N)), can_reorder=True))


@triton.jit
def flipped(x, out, A: tl.constexpr, B: tl.constexpr, DIM: tl.constexpr):
    p = tl.arange(0, A)[:, None] * B + tl.arange(0, B)[None, :]
    tl.store(out + p, tl.flip(tl.load(x + p), DIM))


@triton.jit
def gathered(x, index, out, A: tl.constexpr, B: tl.constexpr, AXIS: tl.constexpr):
    p = tl.arange(0, A)[:, None] * B + tl.arange(0, B)[None, :]
    tl.store(out + p, tl.gather(tl.load(x + p), tl.load(index + p), AXIS))


@triton.jit
def counted(x, out, n, N: tl.constexpr, BINS: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out + tl.arange(0, BINS), tl.histogram(tl.load(x + i), BINS))


@triton.jit
def counted_masked(x, out, n, N: tl.constexpr, BINS: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out + tl.arange(0, BINS), tl.histogram(tl.load(x + i), BINS, mask=i < n))


@triton.jit
def random_numbers(out, seed, N: tl.constexpr, KIND: tl.constexpr):
    i = tl.program_id(0) * N + tl.arange(0, N)
    if KIND == "rand":
        tl.store(out + i, tl.rand(seed, i))
    elif KIND == "randn":
        tl.store(out + i, tl.randn(seed, i))
    else:
        tl.store(out + i, tl.randint(seed, i).to(tl.int32, bitcast=True))


@triton.jit
def dropout(x, out, p, seed, N: tl.constexpr):
    i = tl.program_id(0) * N + tl.arange(0, N)
    keep = tl.rand(seed, i) > p
    tl.store(out + i, tl.where(keep, tl.load(x + i) / (1 - p), 0.0))


@triton.jit
def swizzled(out, A: tl.constexpr, B: tl.constexpr):
    i, j = tl.swizzle2d(tl.arange(0, A)[:, None], tl.arange(0, B)[None, :], A, B, 2)
    tl.store(out + tl.arange(0, A)[:, None] * B + tl.arange(0, B)[None, :], i * B + j)


@triton.jit
def ravelled(x, out, A: tl.constexpr, B: tl.constexpr):
    v = tl.load(x + tl.arange(0, A)[:, None] * B + tl.arange(0, B)[None, :])
    tl.store(out + tl.arange(0, A * B), tl.ravel(v) + tl.zeros((A * B,), tl.float32) + tl.full((A * B,), 2, tl.float32))


@triton.jit
def mapped_branch(a, b):
    if a > b:
        r = a * 2
    else:
        r = b - a
    return r


@triton.jit
def mapped(x, y, out, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out + i, tl.map_elementwise(mapped_branch, tl.load(x + i), tl.load(y + i)))


def cases():
    yield Case("transpose", transposed, [normal("t", 512), empty(512)], dict(A=16, B=32))
    yield Case("transpose_int8", transposed, [integers("t", 512, -99, 99, torch.int8), empty(512, torch.int8)], dict(A=16, B=32))
    yield Case("transpose_float16", transposed, [normal("t", 512, torch.float16), empty(512, torch.float16)], dict(A=16, B=32))
    for order in ((0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)):
        p, q, r = order
        yield Case(f"permute_{p}{q}{r}", permuted, [normal("p", 256), empty(256)], dict(A=4, B=8, C=8, P=p, Q=q, R=r))
    yield Case("broadcasts", broadcasts, [normal("bx", 16), normal("by", 8), empty(128)], dict(A=16, B=8))
    yield Case("broadcast_3d", broadcast_3d, [normal("b3", 8), empty(512)], dict(A=4, B=8, C=16))
    x, y = normal("jx", 64), normal("jy", 64)
    yield Case("join", joined, [x, y, empty(128)], dict(N=64))
    yield Case("split", split_up, [normal("sp", 128), empty(64)], dict(N=64))
    yield Case("interleave", interleaved, [x, y, empty(128)], dict(N=64))
    yield Case("cat", concatenated, [x, y, empty(128)], dict(N=64))
    for dim in (0, 1):
        yield Case(f"flip_{dim}", flipped, [normal("fl", 256), empty(256)], dict(A=8, B=32, DIM=dim),
                   reference=lambda x, out, dim=dim: [(out, x.view(8, 32).flip(dim))])
        yield Case(f"gather_{dim}", gathered, [normal("ga", 256), integers("ga", 256, 0, 8), empty(256)], dict(A=8, B=32, AXIS=dim))
    yield Case("histogram", counted, [integers("hi", 256, 0, 16), empty(16, torch.int32), 200], dict(N=256, BINS=16))
    yield Case("histogram_masked", counted_masked, [integers("hi", 256, 0, 16), empty(16, torch.int32), 200], dict(N=256, BINS=16))
    for kind in ("rand", "randn", "randint"):
        yield Case(f"random_{kind}", random_numbers, [empty(512, torch.int32 if kind == "randint" else torch.float32), 1234567],
                   dict(N=256, KIND=kind), grid=(2,), tolerance=4)
    yield Case("dropout", dropout, [normal("do", 512), empty(512), 0.3, 42], dict(N=256), grid=(2,))
    yield Case("swizzle2d", swizzled, [empty(64, torch.int32)], dict(A=8, B=8))
    yield Case("ravel_zeros_full", ravelled, [normal("ra", 128), empty(128)], dict(A=8, B=16))
    yield Case("map_elementwise", mapped, [normal("mx", 128), normal("my", 128), empty(128)], dict(N=128),
               reference=lambda x, y, out: [(out, torch.where(x > y, x * 2, y - x))])
