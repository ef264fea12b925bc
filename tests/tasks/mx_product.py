import torch
import torch.nn as nn


class Model(nn.Module):
    """Multiplies fp8 matrices in which 32 numbers of a row share a scale, a power of two."""

    def forward(self, a, b, a_scale, b_scale):
        left = a.float() * torch.exp2(a_scale.float() - 127).repeat_interleave(32, dim=1)
        right = b.float() * torch.exp2(b_scale.float() - 127).repeat_interleave(32, dim=1)
        return (left @ right.t()).to(torch.bfloat16)


def get_inputs():
    return [torch.randn(32, 128).to(torch.float8_e4m3fn), torch.randn(32, 128).to(torch.float8_e4m3fn),
            torch.randint(122, 130, (32, 4), dtype=torch.uint8), torch.randint(122, 130, (32, 4), dtype=torch.uint8)]


def get_init_inputs():
    return []
