"""Parts of the language that the other files do not cover."""
import torch
import triton
import triton.language as tl

from corpus.case import Case, empty, integers, normal


@triton.jit
def wide_loop(out, n):
    total = n * 0
    for k in range(0, n // 1000000000):
        total += k
    tl.store(out, total)


@triton.jit
def hinted_loop(x, out, n, N: tl.constexpr):
    total = tl.zeros((N,), tl.float32)
    for k in tl.range(0, n, loop_unroll_factor=2, num_stages=3, flatten=True, disallow_acc_multi_buffer=True):
        total += tl.load(x + k * N + tl.arange(0, N))
    tl.store(out + tl.arange(0, N), total)


@triton.jit
def toward_zero(x, out, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out + i, tl.load(x + i).to(tl.float16, fp_downcast_rounding="rtz"))


@triton.jit
def counting_truths(x, out, N: tl.constexpr):
    v = tl.load(x + tl.arange(0, N))
    tl.store(out, tl.sum((v > 0).to(tl.int32), axis=0))
    tl.store(out + 1, tl.sum(v > 1, axis=0).to(tl.int32))
    tl.store(out + 2, tl.max((v > 2.5).to(tl.int32), axis=0))
    tl.store(out + 3, tl.reduce_or((v > 1).to(tl.int32) * 6, axis=0))


@triton.jit
def library_softmax(x, out, A: tl.constexpr, B: tl.constexpr):
    p = tl.arange(0, A)[:, None] * B + tl.arange(0, B)[None, :]
    tl.store(out + p, tl.softmax(tl.load(x + p), dim=1, keep_dims=True))


@triton.jit
def clamp_keeping_nan(x, out, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out + i, tl.clamp(tl.load(x + i), -0.5, 0.5, propagate_nan=tl.PropagateNan.ALL))


@triton.jit
def scalar_memory(x, out, n):
    v = tl.load(x + n)
    old = tl.atomic_add(out, v)
    tl.store(out + 1, old + v)
    tl.store(out + 2, tl.load(out) * 2)


@triton.jit
def four_dimensions(x, out, A: tl.constexpr):
    i = tl.arange(0, A * A * A * A)
    v = tl.reshape(tl.load(x + i), (A, A, A, A))
    w = tl.permute(v, (3, 1, 0, 2)) + tl.sum(v, axis=2, keep_dims=True)
    tl.store(out + i, tl.reshape(w, (A * A * A * A,)))


@triton.jit
def early_out_in_loop(x, out, n, N: tl.constexpr):
    i = 0
    going = True
    total = 0.0
    while going:
        v = tl.load(x + i)
        total += v
        i += 1
        going = (v < 1.0) & (i < n)
    tl.store(out, total)


@triton.jit
def tuple_arguments(x, y, out, N: tl.constexpr):
    i = tl.arange(0, N)
    pair = (tl.load(x + i), tl.load(y + i))
    tl.store(out + i, pair[0] - pair[1])


@triton.jit
def half_chain(x, out, N: tl.constexpr):
    i = tl.arange(0, N)
    v = tl.load(x + i)
    for _ in range(8):
        v = v * v - v * 0.5 + 0.125
    tl.store(out + i, v)


@triton.jit
def nested_select(x, out, N: tl.constexpr):
    i = tl.arange(0, N)
    v = tl.load(x + i)
    r = tl.where(v > 1, 1.0, tl.where(v < -1, -1.0, tl.where((i & 1) == 0, v, -v)))
    tl.store(out + i, r)


@triton.jit
def signs(x, out, N: tl.constexpr):
    i = tl.arange(0, N)
    v = tl.load(x + i)
    tl.store(out + i, (v > 0).to(tl.float32) - (v < 0).to(tl.float32))


@triton.jit
def integer_of_boolean(x, out, N: tl.constexpr):
    i = tl.arange(0, N)
    b = tl.load(x + i) > 0
    tl.store(out + i, b.to(tl.int64) * 3 + (b | (i > 10)) + (~b).to(tl.int32))


def cases():
    yield Case("wide_loop", wide_loop, [empty(1, torch.int64), 7_500_000_000])
    for n in (0, 1, 5, 6):
        yield Case(f"hinted_loop_{n}", hinted_loop, [normal("hl", 384), empty(64), n], dict(N=64),
                   reference=lambda x, out, n: [(out, x.view(6, 64)[:n].sum(0))])
    yield Case("toward_zero", toward_zero, [normal("tz", 64), empty(64, torch.float16)], dict(N=64), tolerance=0.01,
               reference=lambda x, out: [(out, truncated_half(x))])
    yield Case("counting_truths", counting_truths, [normal("ct", 64), empty(4, torch.int32)], dict(N=64))
    yield Case("library_softmax", library_softmax, [normal("ls", 256), empty(256)], dict(A=8, B=32),
               reference=lambda x, out: [(out, torch.softmax(x.view(8, 32).double(), 1))])
    x = normal("cn", 64)
    x[3] = float("nan")
    yield Case("clamp_keeping_nan", clamp_keeping_nan, [x, empty(64)], dict(N=64), reference=lambda x, out: [(out, x.clamp(-0.5, 0.5))])
    yield Case("scalar_memory", scalar_memory, [normal("sm", 8), empty(3), 5])
    yield Case("four_dimensions", four_dimensions, [normal("fd", 256), empty(256)], dict(A=4))
    yield Case("early_out_in_loop", early_out_in_loop, [normal("eo", 64), empty(1), 64], dict(N=64))
    yield Case("tuple_arguments", tuple_arguments, [normal("ta", 64), normal("tb", 64), empty(64)], dict(N=64))
    yield Case("half_chain", half_chain, [normal("hc", 64, torch.float16, 0.3), empty(64, torch.float16)], dict(N=64),
               reference=lambda x, out: [(out, chain(x))], tolerance=1)
    yield Case("nested_select", nested_select, [normal("ns", 64), empty(64)], dict(N=64))
    yield Case("signs", signs, [normal("si", 64), empty(64)], dict(N=64))
    yield Case("integer_of_boolean", integer_of_boolean, [normal("ib", 64), empty(64, torch.int64)], dict(N=64))


def truncated_half(x):
    h = x.half()
    too_large = h.float().abs() > x.abs()
    return torch.where(too_large, (h.view(torch.int16) - 1).view(torch.float16), h)


def chain(x):
    for _ in range(8):
        x = x * x - x * 0.5 + 0.125
    return x
