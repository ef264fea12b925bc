import torch
import torch.nn as nn
import triton
import triton.language as tl


def prune(configs, arguments, **named):
    return [c for c in configs if c.kwargs["BLOCK"] <= 512] or configs


@triton.autotune(configs=[triton.Config({"BLOCK": 256}), triton.Config({"BLOCK": 2048}, num_stages=2)], key=["n"], prune_configs_by={"early_config_prune": prune})
@triton.jit
def scale_relu(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    tl.store(y_ptr + offsets, tl.maximum(x * 1.5 + 0.25, 0.0), mask=mask)


class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        grid = lambda meta: (triton.cdiv(x.numel(), meta['BLOCK']),)
        scale_relu[grid](x, y, x.numel())
        return y
