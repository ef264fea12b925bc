import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.n1 = nn.LayerNorm(64)
        self.n2 = nn.LayerNorm(64)
        self.c = nn.Linear(64, 192)
        self.p = nn.Linear(64, 64)
        self.f1 = nn.Linear(64, 256)
        self.f2 = nn.Linear(256, 64)
        for m in (self.c, self.p):
            nn.init.normal_(m.weight, std=0.02)
            nn.init.zeros_(m.bias)
        self.to(torch.bfloat16)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.c(self.n1(x)).view(B, T, 3, 4, 16).permute(2, 0, 3, 1, 4)
        s = q @ k.transpose(-1, -2) * 0.25
        s = s.masked_fill(torch.ones(T, T, dtype=torch.bool, device=x.device).triu(1), float('-inf'))
        y = (s.softmax(-1) @ v).transpose(1, 2).reshape(B, T, C)
        x = x + self.p(y)
        return x + self.f2(F.gelu(self.f1(self.n2(x))))


def get_inputs():
    return [torch.randn(4, 16, 64, dtype=torch.bfloat16)]


def get_init_inputs():
    return []
