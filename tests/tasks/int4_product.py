import torch
import torch.nn as nn


class Model(nn.Module):
    """Multiplies by weights of 4 bits. Each word of `packed` holds eight of one column, the first in its lowest bits."""

    def forward(self, x, packed, scale):
        shifts = torch.arange(0, 32, 4, device=x.device)
        weight = ((packed[:, None, :] >> shifts[None, :, None]) & 15).reshape(x.shape[1], -1)
        return (x.float() @ ((weight.float() - 8) * scale.float())).half()


def get_inputs():
    return [torch.randn(16, 128).half(), torch.randint(-2**31, 2**31 - 1, (16, 32), dtype=torch.int32),
            (torch.rand(32) * 0.1 + 0.05).half()]


def get_init_inputs():
    return []
