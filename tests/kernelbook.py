"""Rows with KernelBook's columns, for a test and a benchmark."""


def module(name="Model", number=0):
    """The source of a module, as KernelBook has it."""
    return f"""import torch


class {name}(torch.nn.Module):

    def __init__(self, scale):
        super().__init__()
        self.scale = scale

    def forward(self, x):
        return torch.relu(x) * self.scale + {number}


def get_inputs():
    return [torch.rand([4, 4, 4, 4])]


def get_init_inputs():
    return [[], {{'scale': 2.0}}]
"""


def row(number, **changes):
    """The row of that number. `changes` replace columns."""
    name = f"Scaled{number}"
    return {"entry_point": name, "original_triton_code": "...", "python_code": module(name, number),
            "triton_code": f"import triton\n\nclass {name}New:\n    pass\n", "repo_name": "a/b", "module_name": name, "synthetic": False,
            "uuid": number, "licenses": ["MIT"], "stars": number, "sha": "0123", "repo_link": "https://example.org/a/b", **changes}
