"""Control flow: loops of every kind, branches, early returns, calls, scalars, grids."""
import torch
import triton
import triton.language as tl

from corpus.case import Case, empty, integers, normal


@triton.jit
def for_loop(x, out, n, N: tl.constexpr):
    total = tl.zeros((N,), tl.float32)
    for k in range(0, n):
        total += tl.load(x + k * N + tl.arange(0, N))
    tl.store(out + tl.arange(0, N), total)


@triton.jit
def strided_loop(out, first, last, step):
    total = 0
    for k in range(first, last, step):
        total += k
    tl.store(out, total)


@triton.jit
def backward_loop(out, n):
    total = 0
    for k in range(n, 0, -1):
        total = total * 3 + k
    tl.store(out, total)


@triton.jit
def nested_loops(out, n, m):
    total = 0
    for i in range(n):
        row = 0
        for j in tl.range(0, m, num_stages=2):
            if (i + j) % 3 == 0:
                row += i * j
            elif j > i:
                row -= 1
        total = total * 2 + row
    tl.store(out, total)


@triton.jit
def static_loop(x, out, N: tl.constexpr):
    v = tl.load(x + tl.arange(0, N))
    for k in tl.static_range(4):
        v = v * 0.5 + k
    tl.store(out + tl.arange(0, N), v)


@triton.jit
def while_loop(out, n):
    steps = 0
    v = n
    while v != 1:
        if v % 2 == 0:
            v = v // 2
        else:
            v = 3 * v + 1
        steps += 1
    tl.store(out, steps)


@triton.jit
def while_with_and(x, out, n, limit):
    i = 0
    total = 0.0
    while (i < n) & (total < limit):
        total += tl.load(x + i)
        i += 1
    tl.store(out, total)
    tl.store(out + 1, i.to(tl.float32))


@triton.jit
def swapping_loop(out, n):
    a = 0
    b = 1
    for _ in range(n):
        a, b = b, a + b
    tl.store(out, a)
    tl.store(out + 1, b)


@triton.jit
def rotating_loop(x, out, n, N: tl.constexpr):
    i = tl.arange(0, N)
    a, b, c = tl.load(x + i), tl.load(x + N + i), tl.load(x + 2 * N + i)
    for _ in range(n):
        a, b, c = b, c, a * 0.5
    tl.store(out + i, a)
    tl.store(out + N + i, b)
    tl.store(out + 2 * N + i, c)


@triton.jit
def early_return(x, out, n, N: tl.constexpr):
    pid = tl.program_id(0)
    if pid >= n:
        return
    if pid == 1:
        tl.store(out + pid * N + tl.arange(0, N), tl.zeros((N,), tl.float32) - 1)
        return
    tl.store(out + pid * N + tl.arange(0, N), tl.load(x + pid * N + tl.arange(0, N)))


@triton.jit
def branch_values(x, out, flag, N: tl.constexpr):
    v = tl.load(x + tl.arange(0, N))
    if flag > 2:
        v = v * 2
        w = v + 1
    else:
        w = -v
    tl.store(out + tl.arange(0, N), v + w)


@triton.jit
def helper(v, k):
    return v * k + 1


@triton.jit
def two_results(v):
    return v + 1, v * 2


@triton.jit(noinline=True)
def separate(a, n):
    if n > 3:
        return a * 2.0
    return a - 1.0


@triton.jit(noinline=True)
def separate_pair(a, b):
    return a + b, a - b


@triton.jit
def calls(x, out, n, N: tl.constexpr):
    v = helper(tl.load(x + tl.arange(0, N)), n)
    a, b = two_results(v)
    p, q = separate_pair(n, 3)
    tl.store(out + tl.arange(0, N), a - b + separate(n * 1.0, n) + separate(2.0, 1) + p * q)


@triton.jit
def grid_3d(out):
    x, y, z = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    nx, ny, nz = tl.num_programs(0), tl.num_programs(1), tl.num_programs(2)
    tl.store(out + (z * ny + y) * nx + x, x * 100 + y * 10 + z + nz)


@triton.jit
def grid_stride(x, out, n, N: tl.constexpr):
    for start in range(tl.program_id(0) * N, n, tl.num_programs(0) * N):
        i = start + tl.arange(0, N)
        tl.store(out + i, tl.load(x + i, mask=i < n) + 1, mask=i < n)


@triton.jit
def scalars(out, a, b, f, g, on, big):
    flag = on > 0
    tl.store(out, a // b)
    tl.store(out + 1, a % b)
    tl.store(out + 2, tl.cdiv(a, b))
    tl.store(out + 3, tl.full((), f * g, tl.float32).to(tl.int32))
    tl.store(out + 4, tl.where(flag, 1, 2))
    tl.store(out + 5, (big >> 32).to(tl.int32))
    tl.store(out + 6, tl.minimum(a, b) + tl.maximum(a, b) * 2)
    tl.store(out + 7, tl.where(a < b and flag, 5, 6))
    tl.store(out + 8, tl.where(a < b or flag, 5, 6))
    tl.store(out + 9, -7 // b)
    tl.store(out + 10, (-7) % b)


@triton.jit
def hints(x, out, n, N: tl.constexpr):
    tl.assume(n > 0)
    i = tl.max_contiguous(tl.multiple_of(tl.arange(0, N), 8), 8)
    tl.static_assert(N == 64)
    tl.debug_barrier()
    v = tl.load(x + i, mask=i < n, other=3.0, cache_modifier=".ca", eviction_policy="evict_first", volatile=True)
    tl.device_print("v", v)
    tl.store(out + i, v, cache_modifier=".wb", eviction_policy="evict_last")


@triton.jit
def asserted(x, out, n, N: tl.constexpr):
    i = tl.arange(0, N)
    v = tl.load(x + i)
    tl.device_assert(v < 1000, "v is large")
    tl.device_assert(n > 0)
    tl.store(out + i, v)


@triton.jit
def conditional_store(x, out, n, N: tl.constexpr):
    for k in range(n):
        if k % 2 == 1:
            tl.store(out + k * N + tl.arange(0, N), tl.load(x + k * N + tl.arange(0, N)))


@triton.jit
def ternaries(x, out, n, N: tl.constexpr):
    v = tl.load(x + tl.arange(0, N))
    k = 2.0 if n > 5 else 3.0
    tl.store(out + tl.arange(0, N), v * k if n % 2 == 0 else v - k)


def cases():
    yield Case("for_loop", for_loop, [normal("f", 64 * 5), empty(64), 5], dict(N=64))
    yield Case("for_loop_of_nothing", for_loop, [normal("f", 64), empty(64) + 7, 0], dict(N=64))
    for first, last, step in ((0, 10, 3), (2, 3, 5), (5, 5, 1), (9, 2, 1), (-7, 20, 4)):
        yield Case(f"strided_loop_{first}_{last}_{step}", strided_loop, [empty(1, torch.int32), first, last, step])
    yield Case("backward_loop", backward_loop, [empty(1, torch.int32), 9])
    yield Case("nested_loops", nested_loops, [empty(1, torch.int32), 6, 7])
    yield Case("static_loop", static_loop, [normal("st", 64), empty(64)], dict(N=64))
    for n in (1, 7, 27):
        yield Case(f"while_loop_{n}", while_loop, [empty(1, torch.int32), n])
    yield Case("while_with_and", while_with_and, [normal("w", 64).abs(), empty(2), 64, 9.5])
    yield Case("swapping_loop", swapping_loop, [empty(2, torch.int32), 20])
    yield Case("rotating_loop", rotating_loop, [normal("ro", 192), empty(192), 7], dict(N=64))
    yield Case("early_return", early_return, [normal("er", 256), empty(256) + 3, 3], dict(N=64), grid=(4,))
    for flag in (1, 5):
        yield Case(f"branch_values_{flag}", branch_values, [normal("bv", 64), empty(64), flag], dict(N=64))
    for n in (2, 9):
        yield Case(f"calls_{n}", calls, [normal("ca", 64), empty(64), n], dict(N=64))
        yield Case(f"ternaries_{n}", ternaries, [normal("te", 64), empty(64), n], dict(N=64))
    yield Case("grid_3d", grid_3d, [empty(24, torch.int32)], grid=(4, 3, 2))
    yield Case("grid_stride", grid_stride, [normal("gs", 1000), empty(1000), 1000], dict(N=64), grid=(3,))
    yield Case("scalars", scalars, [empty(11, torch.int32), 17, 5, 2.5, 3.0, 1, 2**40 + 12345])
    yield Case("hints", hints, [normal("h", 64), empty(64), 50], dict(N=64))
    yield Case("asserted", asserted, [normal("as", 64), empty(64), 50], dict(N=64), debug=True)
    yield Case("conditional_store", conditional_store, [normal("cs", 320), empty(320), 5], dict(N=64))
