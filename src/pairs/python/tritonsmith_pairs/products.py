"""Matrix products as Triton, for solutions that leave torch no arithmetic (policy strict)."""

from .errors import NoPair
from .operators import ADDING_PRODUCTS, MATRIX_PRODUCTS

SOURCE = '''
@triton.jit
def matmul_kernel(a_ptr, b_ptr, bias_ptr, out_ptr, m, n, k, a_batch, a_row, a_column, b_batch, b_row, b_column,
                  bias_batch, bias_row, bias_column, out_batch, out_row, out_column, HAS_BIAS: tl.constexpr,
                  BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, PART: tl.constexpr):
    """Computes one tile of a @ b, plus a bias that may be broadcast, for each matrix of a batch.

    Sums of PART products are added up, because one long sum in float32 loses digits."""
    batch = tl.program_id(2).to(tl.int64)
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    row_mask = rows[:, None] < m
    column_mask = columns[None, :] < n
    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for part_start in range(0, k, PART):
        part = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
        for start in range(part_start, tl.minimum(part_start + PART, k), BLOCK_K):
            inner = start + tl.arange(0, BLOCK_K)
            a = tl.load(a_ptr + batch * a_batch + rows[:, None] * a_row + inner[None, :] * a_column,
                        mask=row_mask & (inner[None, :] < k), other=0.0)
            b = tl.load(b_ptr + batch * b_batch + inner[:, None] * b_row + columns[None, :] * b_column,
                        mask=(inner[:, None] < k) & column_mask, other=0.0)
            part = tl.dot(a, b, part, input_precision="ieee")
        total += part
    if HAS_BIAS:
        bias = tl.load(bias_ptr + batch * bias_batch + rows[:, None] * bias_row + columns[None, :] * bias_column,
                       mask=row_mask & column_mask, other=0.0)
        total += bias
    tl.store(out_ptr + batch * out_batch + rows[:, None] * out_row + columns[None, :] * out_column, total,
             mask=row_mask & column_mask)


def matmul(a, b, bias=None, out=None):
    """Returns a @ b + bias for matrices, or for batches of matrices. Writes it into `out` if that is given."""
    m, k = a.shape[-2:]
    n = b.shape[-1]
    if out is None:
        out = torch.empty((*a.shape[:-1], n), dtype=a.dtype, device=a.device)

    def strides(tensor):
        return (tensor.stride(0) if tensor.dim() == 3 else 0, tensor.stride(-2), tensor.stride(-1))

    shifted = out if bias is None else bias.expand(out.shape)
    grid = (triton.cdiv(m, 32), triton.cdiv(n, 32), a.shape[0] if a.dim() == 3 else 1)
    matmul_kernel[grid](a, b, shifted, out, m, n, k, *strides(a), *strides(b), *strides(shifted),
                        *strides(out), HAS_BIAS=bias is not None, BLOCK_M=32, BLOCK_N=32, BLOCK_K=32,
                        PART=1024)
    return out
'''


def product(name, arguments, keywords):
    """The call of `matmul` for an operator that Inductor leaves to torch."""
    if any(key in ("alpha", "beta") and float(value) != 1.0 for key, value in keywords.items()):
        raise NoPair("left_to_torch", f"{name} with a factor is left to torch")
    if name in MATRIX_PRODUCTS:
        return f"matmul({', '.join(arguments)})"
    if name in ADDING_PRODUCTS:
        return f"matmul({arguments[1]}, {arguments[2]}, {arguments[0]})"
    raise NoPair("left_to_torch", f"{name} is left to torch")
