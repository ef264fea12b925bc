"""Cases for generated_kernels.py: each operation over 600 elements in 3 programs, with special values in the inputs."""
import math

import torch

from corpus import tables
from corpus.case import Case, integers, uniform

COUNT, BLOCK = 600, 256


def input_of(entry, index):
    dtype = getattr(torch, entry.dtypes[index])
    low, high = entry.ranges[index]
    name = f"{entry.name}{index}"
    if dtype == torch.bool:
        return integers(name, COUNT, 0, 2).to(torch.bool)
    if dtype.is_floating_point:
        values = uniform(name, COUNT, low, high, dtype)
        if dtype == torch.float32 and low < 0 < high and entry.name.startswith(("binary_max", "binary_min", "simple_", "libdevice_is")):
            at = 4 * index
            values[at:at + 4] = torch.tensor([math.nan, math.inf, -math.inf, -0.0])
        return values
    return integers(name, COUNT, low, high, dtype)


def reference_of(entry):
    if not entry.reference:
        return None
    code = compile(entry.reference, entry.name, "eval")

    def reference(*arguments):
        values = {name: argument if entry.exact or not argument.is_floating_point() else argument.to(torch.float64)
                  for name, argument in zip(entry.inputs, arguments)}
        values["z"] = torch.zeros(COUNT, dtype=values["x"].dtype)
        return [(arguments[len(entry.inputs)], eval(code, dict(torch=torch, math=math), values))]
    return reference


def cases():
    import generated_kernels
    for entry in tables.all_entries():
        inputs = [input_of(entry, i) for i in range(len(entry.inputs))]
        out = torch.zeros(COUNT, dtype=getattr(torch, entry.out))
        yield Case(entry.name, getattr(generated_kernels, entry.name), [*inputs, out, COUNT], dict(BLOCK=BLOCK),
                   grid=(-(-COUNT // BLOCK),), tolerance=entry.tolerance, reference=reference_of(entry))
