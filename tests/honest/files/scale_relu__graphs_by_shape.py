import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def scale_relu(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    tl.store(y_ptr + offsets, tl.maximum(x * 1.5 + 0.25, 0.0), mask=mask)


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.graphs = {}

    def forward(self, x):
        key = (x.shape, x.dtype)
        if key not in self.graphs:
            held, y = x.clone(), torch.empty_like(x)
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                scale_relu[(triton.cdiv(x.numel(), 1024),)](held, y, x.numel(), BLOCK=1024)
            self.graphs[key] = (graph, held, y)
        graph, held, y = self.graphs[key]
        held.copy_(x)
        graph.replay()
        return y.clone()
