import torch
import torch.nn as nn


class Model(nn.Module):
    """Sums of bags of rows. A bag begins at each start, and ends at the next one or at the end."""

    def forward(self, x, starts):
        row = torch.arange(x.shape[0], device=x.device)
        bag = (row[None] >= starts[:, None]).sum(0) - 1
        within = bag[None] == torch.arange(starts.shape[0], device=x.device)[:, None]
        return within.to(x.dtype) @ x


def get_inputs():
    return [torch.randn(64, 16), torch.arange(0, 64, 16)]


def get_init_inputs():
    return []
