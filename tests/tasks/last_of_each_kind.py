import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x, kinds):
        places = torch.arange(kinds.numel(), device=x.device)
        last = torch.full((16,), -1, device=x.device).scatter_reduce(0, kinds, places, "amax")
        return torch.where(last >= 0, x[last.clamp(min=0)], 0.0)


def get_inputs():
    return [torch.randn(256), torch.randint(0, 16, (256,))]


def get_init_inputs():
    return []
