"""tl.dot: shapes, dtypes, precisions, K loops, batches, epilogues. The interpreter knows neither TF32 nor bf16. So the
references use fp64, or the rounding of the precision."""
import torch
import triton
import triton.language as tl

from corpus.case import Case, empty, integers, normal


@triton.jit
def one_dot(a, b, c, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, PRECISION: tl.constexpr, OUT: tl.constexpr):
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    x = tl.load(a + m[:, None] * K + k[None, :])
    y = tl.load(b + k[:, None] * N + n[None, :])
    tl.store(c + m[:, None] * N + n[None, :], tl.dot(x, y, input_precision=PRECISION, out_dtype=OUT))


@triton.jit
def plain_dot(a, b, c, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    x = tl.load(a + m[:, None] * K + k[None, :])
    y = tl.load(b + k[:, None] * N + n[None, :])
    tl.store(c + m[:, None] * N + n[None, :], tl.dot(x, y))


@triton.jit
def matmul(a, b, c, m, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, PRECISION: tl.constexpr, RELU: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    total = tl.zeros((BM, BN), tl.float32)
    for start in range(0, tl.cdiv(k, BK)):
        inner = start * BK + tl.arange(0, BK)
        x = tl.load(a + rows[:, None] * k + inner[None, :], mask=(rows[:, None] < m) & (inner[None, :] < k), other=0.0)
        y = tl.load(b + inner[:, None] * n + columns[None, :], mask=(inner[:, None] < k) & (columns[None, :] < n), other=0.0)
        total = tl.dot(x, y, total, input_precision=PRECISION)
    if RELU:
        total = tl.maximum(total, 0.0)
    tl.store(c + rows[:, None] * n + columns[None, :], total, mask=(rows[:, None] < m) & (columns[None, :] < n))


@triton.jit
def batched_dot(a, b, c, B: tl.constexpr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    i, m, n, k = tl.arange(0, B), tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    x = tl.load(a + i[:, None, None] * (M * K) + m[None, :, None] * K + k[None, None, :])
    y = tl.load(b + i[:, None, None] * (K * N) + k[None, :, None] * N + n[None, None, :])
    tl.store(c + i[:, None, None] * (M * N) + m[None, :, None] * N + n[None, None, :], tl.dot(x, y, input_precision="ieee"))


@triton.jit
def transposed_dot(a, b, c, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    x = tl.load(a + m[:, None] * K + k[None, :])
    y = tl.load(b + n[:, None] * K + k[None, :])
    tl.store(c + m[:, None] * N + n[None, :], tl.dot(x, tl.trans(y), input_precision="ieee") * 0.5 + 1)


@triton.jit
def attention(q, k, v, out, scale, n, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    rows, d = tl.program_id(0) * BM + tl.arange(0, BM), tl.arange(0, D)
    queries = tl.load(q + rows[:, None] * D + d[None, :])
    top = tl.full((BM,), float("-inf"), tl.float32)
    weight = tl.zeros((BM,), tl.float32)
    total = tl.zeros((BM, D), tl.float32)
    for start in range(0, n, BN):
        columns = start + tl.arange(0, BN)
        keys = tl.load(k + columns[:, None] * D + d[None, :], mask=columns[:, None] < n, other=0.0)
        values = tl.load(v + columns[:, None] * D + d[None, :], mask=columns[:, None] < n, other=0.0)
        scores = tl.dot(queries, tl.trans(keys), input_precision="ieee") * scale
        scores = tl.where(columns[None, :] < n, scores, float("-inf"))
        new_top = tl.maximum(top, tl.max(scores, axis=1))
        p = tl.exp(scores - new_top[:, None])
        fade = tl.exp(top - new_top)
        weight = weight * fade + tl.sum(p, axis=1)
        total = tl.dot(p, values, total * fade[:, None], input_precision="ieee")
        top = new_top
    tl.store(out + rows[:, None] * D + d[None, :], total / weight[:, None])


def truncated(x):
    """Returns the part of fp32 numbers that TF32 keeps."""
    return (x.view(torch.int32) & -8192).view(torch.float32)


def product(m, n, k, change=lambda t: t):
    def reference(a, b, c, *rest):
        return [(c, change(a).view(m, k).double() @ change(b).view(k, n).double())]
    return reference


def relu_product(m, n, k, change):
    def reference(a, b, c, *rest):
        return [(c, torch.relu(change(a).view(m, k).double() @ change(b).view(k, n).double()))]
    return reference


def rounded(x):
    return x


def cases():
    for m, n, k in ((16, 16, 16), (32, 16, 64), (64, 64, 64), (16, 128, 32)):
        a, b = normal(f"a{m}{k}", m * k), normal(f"b{k}{n}", k * n)
        sizes = dict(M=m, N=n, K=k)
        for precision, change, tolerance in (("ieee", rounded, 10), ("tf32", truncated, 10), ("tf32x3", rounded, 20)):
            yield Case(f"dot_{precision}_{m}x{n}x{k}", one_dot, [a, b, empty(m * n)], dict(**sizes, PRECISION=precision, OUT=tl.float32),
                       reference=product(m, n, k, change), tolerance=tolerance)
        yield Case(f"dot_default_is_tf32_{m}x{n}x{k}", plain_dot, [a, b, empty(m * n)], sizes, reference=product(m, n, k, truncated), tolerance=10)
        for dtype in (torch.float16, torch.bfloat16, torch.float8_e5m2, torch.float8_e4m3fn):
            short = str(dtype).split(".")[1]
            if "float8" in short and k < 32:
                continue
            yield Case(f"dot_{short}_{m}x{n}x{k}", one_dot, [a.to(dtype), b.to(dtype), empty(m * n)], dict(**sizes, PRECISION="tf32", OUT=tl.float32),
                       reference=product(m, n, k), tolerance=10)
        yield Case(f"dot_float16_out_{m}x{n}x{k}", one_dot, [a.half(), b.half(), empty(m * n, torch.float16)],
                   dict(**sizes, PRECISION="tf32", OUT=tl.float16), reference=product(m, n, k), tolerance=4)
        if k >= 32:
            x, y = integers(f"x{m}{k}", m * k, -99, 99, torch.int8), integers(f"y{k}{n}", k * n, -99, 99, torch.int8)
            yield Case(f"dot_int8_{m}x{n}x{k}", plain_dot, [x, y, empty(m * n, torch.int32)], sizes, reference=product(m, n, k))
    a, b = normal("fa", 256, torch.float64), normal("fb", 256, torch.float64)
    yield Case("dot_float64", plain_dot, [a, b, empty(256, torch.float64)], dict(M=16, N=16, K=16), reference=product(16, 16, 16), tolerance=10)
    for precision, tolerance in (("bf16x3", 100), ("bf16x6", 20)):
        yield Case(f"dot_{precision}", one_dot, [normal("ba", 1024), normal("bb", 1024), empty(1024)],
                   dict(M=32, N=32, K=32, PRECISION=precision, OUT=tl.float32), reference=product(32, 32, 32), tolerance=tolerance)
    for m, n, k in ((64, 64, 64), (50, 70, 90), (33, 17, 129)):
        a, b = normal(f"ma{m}", m * k), normal(f"mb{m}", k * n)
        for precision, change in (("ieee", rounded), ("tf32", truncated)):
            for relu in (False, True):
                yield Case(f"matmul_{precision}_{m}x{n}x{k}{'_relu' if relu else ''}", matmul, [a, b, empty(m * n), m, n, k],
                           dict(BM=32, BN=16, BK=32, PRECISION=precision, RELU=relu), grid=(-(-m // 32), -(-n // 16)),
                           reference=(relu_product if relu else product)(m, n, k, change), tolerance=20)
        yield Case(f"matmul_float16_{m}x{n}x{k}", matmul, [a.half(), b.half(), empty(m * n, torch.float16), m, n, k],
                   dict(BM=32, BN=16, BK=32, PRECISION="tf32", RELU=False), grid=(-(-m // 32), -(-n // 16)), reference=product(m, n, k))
    yield Case("batched_dot", batched_dot, [normal("da", 4 * 256), normal("db", 4 * 256), empty(4 * 256)], dict(B=4, M=16, N=16, K=16), tolerance=10)
    yield Case("transposed_dot", transposed_dot, [normal("ta", 512), normal("tb", 512), empty(256)], dict(M=16, N=16, K=32), tolerance=10)
    q, k, v = (normal(f"att{i}", 64 * 32) for i in range(3))
    def softmax_attention(q, k, v, out, scale, n):
        q, k, v = (t.view(64, 32).double() for t in (q, k, v))
        return [(out, torch.softmax(q @ k.T * scale, 1) @ v)]
    yield Case("attention", attention, [q, k, v, empty(64 * 32), 0.17, 64], dict(D=32, BM=16, BN=32), grid=(4,), reference=softmax_attention, tolerance=20)
