#include "text/example_prompt.h"

#include <fmt/format.h>

namespace tritonsmith::text {
namespace {

constexpr std::string_view kExample =
    R"(A module is given as PyTorch code. Write a class `ModelNew` that computes the same with Triton kernels of your own.

For example, this module is given:

```python
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x, y):
        return torch.relu(x + y)


def get_inputs():
    return [torch.randn(64, 1000), torch.randn(64, 1000)]


def get_init_inputs():
    return []
```

Then this is an answer:

```python
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def add_relu_kernel(x_ptr, y_ptr, out_ptr, count, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < count
    total = tl.load(x_ptr + at, mask=inside) + tl.load(y_ptr + at, mask=inside)
    tl.store(out_ptr + at, tl.maximum(total, 0.0), mask=inside)


class ModelNew(nn.Module):
    def forward(self, x, y):
        x, y = x.contiguous(), y.contiguous()
        out = torch.empty_like(x)
        grid = (triton.cdiv(out.numel(), 1024),)
        add_relu_kernel[grid](x, y, out, out.numel(), BLOCK=1024)
        return out
```

)";

constexpr std::string_view kRequest =
    "`ModelNew` takes the same constructor arguments and inputs as `Model`, and its parameters "
    "have "
    "the same names and\nshapes. Answer with the whole Python file as one code block, and with "
    "nothing else.\n";

}  // namespace

std::string prompt_with_example(const std::string& source) {
  return fmt::format("{}This is the module to write `ModelNew` for:\n\n```python\n{}{}```\n\n{}",
                     kExample, source, source.ends_with('\n') ? "" : "\n", kRequest);
}

}  // namespace tritonsmith::text
