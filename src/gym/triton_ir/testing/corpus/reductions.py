"""Reductions, scans, sorting: built-in and custom combine functions, every axis, several dtypes."""
import torch
import triton
import triton.language as tl

from corpus.case import Case, empty, integers, normal


@triton.jit
def reduce_1d(x, out, N: tl.constexpr, KIND: tl.constexpr):
    v = tl.load(x + tl.arange(0, N))
    if KIND == "sum":
        r = tl.sum(v, axis=0)
    elif KIND == "max":
        r = tl.max(v, axis=0)
    elif KIND == "min":
        r = tl.min(v, axis=0)
    elif KIND == "argmax":
        r = tl.argmax(v, axis=0)
    elif KIND == "argmin":
        r = tl.argmin(v, axis=0)
    elif KIND == "xor":
        r = tl.xor_sum(v, axis=0)
    elif KIND == "argmax_fast":
        r = tl.argmax(v, axis=0, tie_break_left=False)
    tl.store(out, r)


@triton.jit
def reduce_nd(x, out, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr, AXIS: tl.constexpr, KIND: tl.constexpr):
    a, b, c = tl.arange(0, A)[:, None, None], tl.arange(0, B)[None, :, None], tl.arange(0, C)[None, None, :]
    v = tl.load(x + a * (B * C) + b * C + c)
    if KIND == "sum":
        r = tl.sum(v, axis=AXIS)
    elif KIND == "max":
        r = tl.max(v, axis=AXIS)
    else:
        r = tl.argmin(v, axis=AXIS)
    if AXIS == 0:
        tl.store(out + tl.arange(0, B)[:, None] * C + tl.arange(0, C)[None, :], r)
    elif AXIS == 1:
        tl.store(out + tl.arange(0, A)[:, None] * C + tl.arange(0, C)[None, :], r)
    else:
        tl.store(out + tl.arange(0, A)[:, None] * B + tl.arange(0, B)[None, :], r)


@triton.jit
def max_with_index(x, out, index, N: tl.constexpr):
    value, position = tl.max(tl.load(x + tl.arange(0, N)), axis=0, return_indices=True)
    tl.store(out, value)
    tl.store(index, position)


@triton.jit
def sum_everything(x, out, A: tl.constexpr, B: tl.constexpr):
    v = tl.load(x + tl.arange(0, A)[:, None] * B + tl.arange(0, B)[None, :])
    tl.store(out, tl.sum(v))


@triton.jit
def keep_dims(x, out, A: tl.constexpr, B: tl.constexpr):
    p = tl.arange(0, A)[:, None] * B + tl.arange(0, B)[None, :]
    v = tl.load(x + p)
    tl.store(out + p, v - tl.max(v, axis=1, keep_dims=True))


@triton.jit
def product(a, b):
    return a * b


@triton.jit
def first_nonzero(a, b):
    return tl.where(a != 0, a, b)


@triton.jit
def larger_magnitude(a, b):
    if tl.abs(a) >= tl.abs(b):
        r = a
    else:
        r = b
    return r


@triton.jit
def welford(mean_a, m2_a, n_a, mean_b, m2_b, n_b):
    n = n_a + n_b
    delta = mean_b - mean_a
    ratio = n_b / n
    return mean_a + delta * ratio, m2_a + m2_b + delta * delta * n_a * ratio, n


@triton.jit
def linear(a1, b1, a2, b2):
    return a1 * a2, b1 * a2 + b2


@triton.jit
def custom_reduce(x, out, N: tl.constexpr, KIND: tl.constexpr):
    v = tl.load(x + tl.arange(0, N))
    if KIND == "product":
        tl.store(out, tl.reduce(v, 0, product))
    elif KIND == "first_nonzero":
        tl.store(out, tl.reduce(v, 0, first_nonzero))
    else:
        tl.store(out, tl.reduce(v, 0, larger_magnitude))


@triton.jit
def custom_reduce_rows(x, out, A: tl.constexpr, B: tl.constexpr, KIND: tl.constexpr):
    v = tl.load(x + tl.arange(0, A)[:, None] * B + tl.arange(0, B)[None, :])
    if KIND == "product":
        tl.store(out + tl.arange(0, B), tl.reduce(v, 0, product))
    else:
        tl.store(out + tl.arange(0, B), tl.reduce(v, 0, first_nonzero))


@triton.jit
def welford_rows(x, out, A: tl.constexpr, B: tl.constexpr):
    v = tl.load(x + tl.arange(0, A)[:, None] * B + tl.arange(0, B)[None, :])
    mean, m2, n = tl.reduce((v, tl.zeros_like(v), tl.full(v.shape, 1.0, tl.float32)), 1, welford)
    tl.store(out + tl.arange(0, A), mean)
    tl.store(out + A + tl.arange(0, A), m2 / n)


@triton.jit
def scan_1d(x, out, N: tl.constexpr, KIND: tl.constexpr, REVERSE: tl.constexpr):
    v = tl.load(x + tl.arange(0, N))
    if KIND == "sum":
        r = tl.cumsum(v, 0, reverse=REVERSE)
    elif KIND == "prod":
        r = tl.cumprod(v, 0, reverse=REVERSE)
    elif KIND == "max":
        r = tl.associative_scan(v, 0, larger_magnitude, reverse=REVERSE)
    else:
        r = tl.associative_scan(v, 0, first_nonzero, reverse=REVERSE)
    tl.store(out + tl.arange(0, N), r)


@triton.jit
def scan_2d(x, out, A: tl.constexpr, B: tl.constexpr, AXIS: tl.constexpr, REVERSE: tl.constexpr):
    p = tl.arange(0, A)[:, None] * B + tl.arange(0, B)[None, :]
    tl.store(out + p, tl.cumsum(tl.load(x + p), AXIS, reverse=REVERSE))


@triton.jit
def linear_scan(a, b, out, N: tl.constexpr, REVERSE: tl.constexpr):
    i = tl.arange(0, N)
    p, q = tl.associative_scan((tl.load(a + i), tl.load(b + i)), 0, linear, reverse=REVERSE)
    tl.store(out + i, q)
    tl.store(out + N + i, p)


@triton.jit
def linear_scan_rows(a, b, out, A: tl.constexpr, B: tl.constexpr, AXIS: tl.constexpr):
    i = tl.arange(0, A)[:, None] * B + tl.arange(0, B)[None, :]
    p, q = tl.associative_scan((tl.load(a + i), tl.load(b + i)), AXIS, linear)
    tl.store(out + i, q + p)


@triton.jit
def sorted_rows(x, out, A: tl.constexpr, B: tl.constexpr, DESCENDING: tl.constexpr):
    p = tl.arange(0, A)[:, None] * B + tl.arange(0, B)[None, :]
    tl.store(out + p, tl.sort(tl.load(x + p), descending=DESCENDING))


@triton.jit
def top_k(x, out, N: tl.constexpr, K: tl.constexpr):
    tl.store(out + tl.arange(0, K), tl.topk(tl.load(x + tl.arange(0, N)), K))


def cases():
    for dtype in (torch.float32, torch.float16, torch.float64, torch.int32, torch.int64, torch.int8):
        short = str(dtype).split(".")[1]
        for kind in ("sum", "max", "min", "argmax", "argmin"):
            for n in (1, 16, 1024):
                name = f"reduce_{kind}_{short}_{n}"
                x = normal(name, n, dtype) if dtype.is_floating_point else integers(name, n, -50, 50, dtype)
                out = empty(1, torch.int32 if kind.startswith("arg") or dtype == torch.int8 else dtype)
                yield Case(name, reduce_1d, [x, out], dict(N=n, KIND=kind), tolerance=10)
    yield Case("reduce_xor", reduce_1d, [integers("xor", 128, 0, 2**31 - 1), empty(1, torch.int32)], dict(N=128, KIND="xor"))
    yield Case("reduce_argmax_fast", reduce_1d, [normal("fast", 128), empty(1, torch.int32)], dict(N=128, KIND="argmax_fast"))
    x = normal("brain", 256, torch.bfloat16)
    yield Case("reduce_sum_bfloat16", reduce_1d, [x, empty(1, torch.float32)], dict(N=256, KIND="sum"),
               reference=lambda x, out: [(out, x.float().sum())], tolerance=300)
    for axis in (0, 1, 2):
        for kind in ("sum", "max", "argmin"):
            name = f"reduce_3d_{kind}_axis{axis}"
            sizes = (4, 8, 16)
            left = 4 * 8 * 16 // sizes[axis]
            yield Case(name, reduce_nd, [normal(name, 512), empty(left, torch.int32 if kind == "argmin" else torch.float32)],
                       dict(A=4, B=8, C=16, AXIS=axis, KIND=kind), tolerance=10)
    yield Case("max_with_index", max_with_index, [normal("mwi", 256), empty(1), empty(1, torch.int32)], dict(N=256))
    yield Case("sum_everything", sum_everything, [normal("all", 1024), empty(1)], dict(A=32, B=32), tolerance=10)
    yield Case("keep_dims", keep_dims, [normal("keep", 256), empty(256)], dict(A=8, B=32))
    for combine in ("product", "first_nonzero"):
        name = f"custom_reduce_{combine}"
        x = normal(name, 64) * integers(name, 64, 0, 2)
        x = x if combine == "first_nonzero" else normal(name, 64) * 0.2 + 1
        first = lambda x, out: [(out, x[x != 0][0])]
        rows = lambda x, out: [(out, torch.stack([c[c != 0][0] if (c != 0).any() else torch.tensor(0.0) for c in x.view(8, 8).T]))]
        plain = lambda x, out: [(out, x.double().prod())]
        plain_rows = lambda x, out: [(out, x.view(8, 8).double().prod(0))]
        yield Case(name, custom_reduce, [x, empty(1)], dict(N=64, KIND=combine), reference=first if combine == "first_nonzero" else plain, tolerance=10)
        yield Case(name + "_rows", custom_reduce_rows, [x, empty(8)], dict(A=8, B=8, KIND=combine), reference=rows if combine == "first_nonzero" else plain_rows, tolerance=10)
    x = normal("magnitude", 64)
    yield Case("custom_reduce_with_if", custom_reduce, [x, empty(1)], dict(N=64, KIND="magnitude"),
               reference=lambda x, out: [(out, x[x.abs().argmax()])])
    yield Case("welford_rows", welford_rows, [normal("welford", 512), empty(32)], dict(A=16, B=32), tolerance=10,
               reference=lambda x, out: [(out, torch.cat([x.view(16, 32).mean(1), x.view(16, 32).var(1, unbiased=False)]))])
    for reverse in (False, True):
        flip = (lambda t: t.flip(0)) if reverse else (lambda t: t)
        word = "reverse" if reverse else "forward"
        for dtype in (torch.float32, torch.int32, torch.float16):
            short = str(dtype).split(".")[1]
            x = normal("s" + word + short, 256, dtype) if dtype.is_floating_point else integers("s" + word, 256, -50, 50, dtype)
            exact = lambda x, out, flip=flip: [(out, flip(flip(x).double().cumsum(0)))]
            yield Case(f"cumsum_{word}_{short}", scan_1d, [x, empty(256, dtype)], dict(N=256, KIND="sum", REVERSE=reverse),
                       reference=exact, tolerance=100)
        x = normal("p" + word, 64) * 0.1 + 1
        yield Case(f"cumprod_{word}", scan_1d, [x, empty(64)], dict(N=64, KIND="prod", REVERSE=reverse), tolerance=10,
                   reference=lambda x, out, flip=flip: [(out, flip(flip(x).double().cumprod(0)))])
        x = normal("m" + word, 64)
        yield Case(f"scan_with_if_{word}", scan_1d, [x, empty(64)], dict(N=64, KIND="max", REVERSE=reverse),
                   reference=lambda x, out, flip=flip: [(out, flip(running_magnitude(flip(x))))])
        x = normal("z" + word, 64) * integers("z" + word, 64, 0, 2)
        yield Case(f"scan_first_nonzero_{word}", scan_1d, [x, empty(64)], dict(N=64, KIND="first", REVERSE=reverse),
                   reference=lambda x, out, flip=flip: [(out, flip(running_first(flip(x))))])
        for axis in (0, 1):
            yield Case(f"cumsum_2d_{word}_axis{axis}", scan_2d, [integers("2d" + word, 256, -50, 50), empty(256, torch.int32)],
                       dict(A=8, B=32, AXIS=axis, REVERSE=reverse),
                       reference=lambda x, out, axis=axis, reverse=reverse: [(out, scan_rows(x.view(8, 32), axis, reverse))])
        a, b = normal("la" + word, 128) * 0.3, normal("lb" + word, 128)
        yield Case(f"linear_scan_{word}", linear_scan, [a, b, empty(256)], dict(N=128, REVERSE=reverse), tolerance=10,
                   reference=lambda a, b, out, flip=flip: [(out, torch.cat([flip(t) for t in running_linear(flip(a), flip(b))]))])
    for axis in (0, 1):
        a, b = normal("ra", 256) * 0.3, normal("rb", 256)
        yield Case(f"linear_scan_axis{axis}", linear_scan_rows, [a, b, empty(256)], dict(A=16, B=16, AXIS=axis), tolerance=10,
                   reference=lambda a, b, out, axis=axis: [(out, linear_rows(a, b, axis))])
    for descending in (False, True):
        word = "down" if descending else "up"
        yield Case(f"sort_{word}", sorted_rows, [normal("sort", 256), empty(256)], dict(A=4, B=64, DESCENDING=descending),
                   reference=lambda x, out, d=descending: [(out, x.view(4, 64).sort(1, descending=d)[0])])
        yield Case(f"sort_{word}_int32", sorted_rows, [integers("sort", 256, -500, 500), empty(256, torch.int32)],
                   dict(A=4, B=64, DESCENDING=descending), reference=lambda x, out, d=descending: [(out, x.view(4, 64).sort(1, descending=d)[0])])
        yield Case(f"sort_{word}_float16", sorted_rows, [normal("sort", 256, torch.float16), empty(256, torch.float16)],
                   dict(A=4, B=64, DESCENDING=descending), reference=lambda x, out, d=descending: [(out, x.view(4, 64).sort(1, descending=d)[0])])
    yield Case("top_k", top_k, [normal("top", 128), empty(8)], dict(N=128, K=8), reference=lambda x, out: [(out, x.topk(8)[0])])


def running_magnitude(x):
    values, best = [], x[0]
    for v in x:
        best = best if abs(best) >= abs(v) else v
        values.append(best)
    return torch.stack(values)


def running_first(x):
    values, first = [], torch.tensor(0.0)
    for v in x:
        first = first if first != 0 else v
        values.append(first)
    return torch.stack(values)


def running_linear(a, b):
    p, q, ps, qs = torch.tensor(1.0), torch.tensor(0.0), [], []
    for u, v in zip(a.double(), b.double()):
        p, q = p * u, q * u + v
        ps.append(p)
        qs.append(q)
    return torch.stack(qs), torch.stack(ps)


def scan_rows(x, axis, reverse):
    return x.flip(axis).cumsum(axis).flip(axis) if reverse else x.cumsum(axis)


def linear_rows(a, b, axis):
    a, b = a.view(16, 16), b.view(16, 16)
    a, b = (a.T, b.T) if axis == 0 else (a, b)
    rows = [sum(running_linear(u, v)) for u, v in zip(a, b)]
    result = torch.stack(rows)
    return result.T if axis == 0 else result
