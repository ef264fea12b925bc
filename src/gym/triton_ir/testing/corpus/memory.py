"""Memory: masks, strides, pointers, block pointers, descriptors, atomics."""
import torch
import triton
import triton.language as tl

from corpus.case import Case, Descriptor, empty, integers, normal


@triton.jit
def masked_load(x, out, n, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out + i, tl.load(x + i, mask=i < n, other=-2.5))


@triton.jit
def masked_store(x, out, n, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out + i, tl.load(x + i), mask=(i % 3 == 0) & (i < n))


@triton.jit
def strided(x, out, stride_x, stride_out, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out + i * stride_out, tl.load(x + i * stride_x))


@triton.jit
def indirect(x, index, out, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out + i, tl.load(x + tl.load(index + i)))


@triton.jit
def wide_offsets(x, out, N: tl.constexpr):
    i = tl.arange(0, N).to(tl.int64)
    tl.store(out + i, tl.load(x + (i + 2**33) - 2**33))


@triton.jit
def pointer_walk(x, out, n, N: tl.constexpr):
    p = x + tl.arange(0, N)
    q = out + tl.arange(0, N)
    for _ in range(n):
        tl.store(q, tl.load(p) * 2)
        p += N
        q += N


@triton.jit
def chosen_pointer(x, y, out, flag, N: tl.constexpr):
    i = tl.arange(0, N)
    if flag > 0:
        p = x
    else:
        p = y
    tl.store(out + i, tl.load(p + i) + tl.load(tl.where(i % 2 == 0, x + i, y + i)))


@triton.jit
def reinterpreted(x, out, N: tl.constexpr):
    i = tl.arange(0, N)
    bits = tl.load(x.to(tl.pointer_type(tl.int32)) + i)
    tl.store(out + i, bits ^ 12345)


@triton.jit
def bools(x, out, N: tl.constexpr):
    i = tl.arange(0, N)
    b = tl.load(x + i)
    tl.store(out + i, b ^ (i % 2 == 0))


@triton.jit
def block_pointer(x, out, rows, columns, A: tl.constexpr, B: tl.constexpr, PADDING: tl.constexpr):
    pid = tl.program_id(0)
    p = tl.make_block_ptr(x, (rows, columns), (columns, 1), (pid * A, 0), (A, B), (1, 0))
    q = tl.make_block_ptr(out, (rows, columns), (columns, 1), (pid * A, 0), (A, B), (1, 0))
    for _ in range(0, tl.cdiv(columns, B)):
        v = tl.load(p, boundary_check=(0, 1), padding_option=PADDING)
        tl.store(q, tl.where(v == v, v * 2 + 1, 9.0), boundary_check=(0, 1))
        p = tl.advance(p, (0, B))
        q = tl.advance(q, (0, B))


@triton.jit
def block_pointer_transposed(x, out, rows, columns, A: tl.constexpr, B: tl.constexpr):
    p = tl.make_block_ptr(x, (columns, rows), (1, columns), (0, 0), (B, A), (0, 1))
    q = tl.make_block_ptr(out, (rows, columns), (columns, 1), (0, 0), (A, B), (1, 0))
    tl.store(q, tl.trans(tl.load(p)))


@triton.jit
def descriptors(x, out, rows, columns, A: tl.constexpr, B: tl.constexpr):
    d = tl.make_tensor_descriptor(x, [rows, columns], [columns, 1], [A, B])
    e = tl.make_tensor_descriptor(out, [rows, columns], [columns, 1], [A, B])
    r = tl.program_id(0) * A
    for c in range(0, columns, B):
        e.store([r, c], d.load([r, c]) * 3)


@triton.jit
def host_descriptor(d, out, A: tl.constexpr, B: tl.constexpr):
    r, c = tl.arange(0, A)[:, None], tl.arange(0, B)[None, :]
    tl.store(out + r * B + c, d.load([3, 4]) * 2)


@triton.jit
def descriptor_sum(x, out, rows, columns, A: tl.constexpr, B: tl.constexpr):
    d = tl.make_tensor_descriptor(x, [rows, columns], [columns, 1], [A, B])
    e = tl.make_tensor_descriptor(out, [A, B], [B, 1], [A, B])
    e.atomic_add([0, 0], d.load([tl.program_id(0) * A, 0]))


@triton.jit
def atomic(x, out, old, n, KIND: tl.constexpr, N: tl.constexpr):
    i = tl.program_id(0) * N + tl.arange(0, N)
    v = tl.load(x + i)
    p = out + i % 7
    if KIND == "add":
        r = tl.atomic_add(p, v, mask=i < n)
    elif KIND == "max":
        r = tl.atomic_max(p, v, mask=i < n)
    elif KIND == "min":
        r = tl.atomic_min(p, v, mask=i < n)
    elif KIND == "and":
        r = tl.atomic_and(p, v, mask=i < n)
    elif KIND == "or":
        r = tl.atomic_or(p, v, mask=i < n)
    elif KIND == "xor":
        r = tl.atomic_xor(p, v, mask=i < n)
    else:
        r = tl.atomic_xchg(p, v, mask=i < n)
    tl.store(old + i, r, mask=i < n)


@triton.jit
def atomic_total(x, out, N: tl.constexpr):
    i = tl.program_id(0) * N + tl.arange(0, N)
    tl.atomic_add(out, tl.sum(tl.load(x + i)), sem="relaxed")


@triton.jit
def swap_if(out, old, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(old + i, tl.atomic_cas(out + i, i % 3, 100 + i))


@triton.jit
def locked(lock, out):
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    tl.store(out, tl.load(out) + tl.program_id(0))
    tl.atomic_xchg(lock, 0)


@triton.jit
def copy_bytes(x, out, n, N: tl.constexpr):
    i = tl.program_id(0) * N + tl.arange(0, N)
    tl.store(out + i, tl.load(x + i, mask=i < n), mask=i < n)


def cases():
    yield Case("masked_load", masked_load, [normal("ml", 64), empty(64), 50], dict(N=64))
    yield Case("masked_store", masked_store, [normal("ms", 64), empty(64), 50], dict(N=64))
    yield Case("strided", strided, [normal("s", 256), empty(256), 3, 2], dict(N=64))
    yield Case("indirect", indirect, [normal("i", 64), integers("i", 128, 0, 64), empty(128)], dict(N=128))
    yield Case("indirect_int64", indirect, [normal("i", 64), integers("i", 128, 0, 64, torch.int64), empty(128)], dict(N=128))
    yield Case("wide_offsets", wide_offsets, [normal("wo", 64), empty(64)], dict(N=64))
    yield Case("pointer_walk", pointer_walk, [normal("pw", 256), empty(256), 4], dict(N=64))
    for flag in (0, 2):
        yield Case(f"chosen_pointer_{flag}", chosen_pointer, [normal("cx", 64), normal("cy", 64), empty(64), flag], dict(N=64))
    yield Case("reinterpreted", reinterpreted, [normal("re", 64), empty(64, torch.int32)], dict(N=64))
    yield Case("bools", bools, [integers("bo", 64, 0, 2).to(torch.bool), empty(64, torch.bool)], dict(N=64))
    for padding in ("zero", "nan"):
        yield Case(f"block_pointer_{padding}", block_pointer, [normal("bp", 30 * 45), empty(30 * 45), 30, 45], dict(A=8, B=16, PADDING=padding), grid=(4,))
    yield Case("block_pointer_transposed", block_pointer_transposed, [normal("bt", 128), empty(128), 8, 16], dict(A=8, B=16))
    yield Case("descriptors", descriptors, [normal("de", 30 * 44), empty(30 * 44), 30, 44], dict(A=8, B=16), grid=(4,))
    yield Case("descriptor_sum", descriptor_sum, [normal("ds", 30 * 16), empty(128), 30, 16], dict(A=8, B=16), grid=(4,),
               reference=lambda x, out, rows, columns: [(out, torch.nn.functional.pad(x, (0, 32)).view(4, 8, 16).sum(0))])
    yield Case("host_descriptor", host_descriptor, [Descriptor(normal("hd", 13 * 44), [13, 44], [16, 32]), empty(512)], dict(A=16, B=32),
               reference=lambda d, out: [(out, torch.nn.functional.pad(d.tensor.view(13, 44)[3:, 4:36], (0, 0, 0, 6)) * 2)])
    for kind in ("add", "max", "min", "and", "or", "xor", "xchg"):
        for dtype in (torch.int32, torch.int64):
            short = str(dtype).split(".")[1]
            x = integers(kind, 128, -9999, 9999, dtype)
            yield Case(f"atomic_{kind}_{short}", atomic, [x, empty(7, dtype) + 5, empty(128, dtype), 100], dict(KIND=kind, N=64), grid=(2,))
    for dtype in (torch.float32, torch.float64, torch.float16):
        short = str(dtype).split(".")[1]
        yield Case(f"atomic_add_{short}", atomic, [normal("aa", 128, dtype), empty(7, dtype), empty(128, dtype), 100], dict(KIND="add", N=64), grid=(2,), tolerance=20)
    for kind in ("max", "min"):
        yield Case(f"atomic_{kind}_float32", atomic, [normal("am", 128), empty(7), empty(128), 100], dict(KIND=kind, N=64), grid=(2,),
                   reference=lambda x, out, old, n, kind=kind: atomic_extremes(x, out, old, n, kind))
    yield Case("atomic_xchg_float32", atomic, [normal("ax", 128), empty(7), empty(128), 100], dict(KIND="xchg", N=64), grid=(2,),
               reference=exchanged)
    yield Case("atomic_total", atomic_total, [normal("at", 256), empty(1)], dict(N=64), grid=(4,), tolerance=20)
    yield Case("swap_if", swap_if, [integers("sw", 64, 0, 3), empty(64, torch.int32)], dict(N=64))
    yield Case("locked", locked, [empty(1, torch.int32), empty(1, torch.int32)], grid=(5,))
    for dtype in (torch.bool, torch.int8, torch.uint8, torch.int16, torch.int32, torch.int64, torch.float16, torch.bfloat16, torch.float32,
                  torch.float64, torch.float8_e4m3fn, torch.float8_e5m2):
        short = str(dtype).split(".")[1]
        x = integers("cp", 300, 0, 2).to(torch.bool) if dtype == torch.bool else normal("cp", 300, torch.float32, 20).to(dtype)
        yield Case(f"copy_{short}", copy_bytes, [x, empty(300).to(dtype), 300], dict(N=128), grid=(3,),
                   reference=lambda x, out, n: [(out, x)])


def atomic_extremes(x, out, old, n, kind):
    """Expects what Triton does: it splits a float atomic into two, first for all lanes with positive values, then for the
    others."""
    best, before = [0.0] * 7, old.tolist()
    values = x[:n].tolist()
    for first in range(0, n, 64):
        lanes = range(first, min(first + 64, n))
        for i in [i for i in lanes if values[i] >= 0] + [i for i in lanes if values[i] < 0]:
            before[i] = best[i % 7]
            best[i % 7] = max(best[i % 7], values[i]) if kind == "max" else min(best[i % 7], values[i])
    return [(out, torch.tensor(best)), (old, torch.tensor(before))]


def exchanged(x, out, old, n):
    now, before = [0.0] * 7, old.tolist()
    for i, v in enumerate(x[:n].tolist()):
        before[i], now[i % 7] = now[i % 7], v
    return [(out, torch.tensor(now)), (old, torch.tensor(before))]
