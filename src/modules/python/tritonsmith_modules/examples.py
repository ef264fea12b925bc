"""Turns a file of example tensors into call arguments that make tensors of the same shapes and dtypes.

The judge draws other values at each trial, so an example's values matter in these ways only:
- floating point: normal numbers with the example's mean and deviation, or uniform ones between its ends if it has no
  negative value;
- integers: up to 64 of them are kept as they are (lengths, offsets); more are drawn between the example's ends;
- booleans: drawn with the example's share of True;
- numbers, strings, None: kept.
"""

import ast
import math
import os

from .arguments import Arguments
from .problem import Problem

KEPT = 64
ENDINGS = (".pt", ".pth", ".safetensors")


def is_example_file(text):
    return text.strip().endswith(ENDINGS) and "(" not in text


def read_examples(path, shown, option, known_names):
    """Returns the arguments. `known_names` are the parameters' names, to which the names in the file are compared."""
    if not os.path.isfile(path):
        raise Problem(f"{option} {shown}: No such file")
    try:
        loaded = load(path)
    except Exception as error:  # what torch.load raises depends on the bytes
        first = " ".join(str(error).split())[:200]
        raise Problem(f"{option} {shown}: cannot be read as tensors ({first})") from None
    positional, keywords = arguments_of(loaded, known_names)
    where = f"{option} {shown}"
    return Arguments(option, [node_of(value, f"{where}: argument {i + 1}") for i, value in enumerate(positional)],
                     {name: node_of(value, f"{where}: `{name}`") for name, value in keywords.items()})


def load(path):
    if path.endswith(".safetensors"):
        from safetensors.torch import load_file
        return load_file(path)
    import torch
    return torch.load(path, map_location="cpu", weights_only=True)


def arguments_of(loaded, known_names):
    """Returns positional arguments and keywords of a tensor, a list, a dict or a pair of both."""
    if isinstance(loaded, (list, tuple)):
        if len(loaded) == 2 and isinstance(loaded[0], (list, tuple)) and isinstance(loaded[1], dict):
            return list(loaded[0]), dict(loaded[1])
        return list(loaded), {}
    if isinstance(loaded, dict):
        if all(isinstance(name, str) and (name in known_names or not known_names) and name.isidentifier() for name in loaded):
            return [], dict(loaded)
        return list(loaded.values()), {}
    return [loaded], {}


def node_of(value, where):
    return ast.parse(text_of(value, where), mode="eval").body


def text_of(value, where):
    import torch
    if isinstance(value, torch.Tensor):
        return tensor_text(value.detach(), where)
    if isinstance(value, (list, tuple)):
        inner = ", ".join(text_of(each, where) for each in value)
        return f"[{inner}]" if isinstance(value, list) else f"({inner}{',' if len(value) == 1 else ''})"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{str(name)!r}: {text_of(each, where)}" for name, each in value.items()) + "}"
    if value is None or isinstance(value, (bool, int, str)) or (isinstance(value, float) and math.isfinite(value)):
        return repr(value)
    if isinstance(value, (torch.dtype, torch.device)):
        return str(value) if isinstance(value, torch.dtype) else repr(value.type)
    raise Problem(f"{where} holds a {type(value).__name__}, which is neither a tensor nor a plain value")


def tensor_text(tensor, where):
    import torch
    dtype = str(tensor.dtype)
    order = order_of_memory(tensor)
    shape = [tensor.shape[i] for i in order]
    size = f"({', '.join(map(str, shape))}{',' if len(shape) == 1 else ''})"
    if tensor.dtype == torch.bool:
        share = round(tensor.float().mean().item(), 3) if tensor.numel() else 0.5
        text = f"torch.rand({size}) < {share}"
        text = f"({text})"
    elif tensor.dtype.is_complex:
        text = f"torch.randn({size}, dtype={dtype})"
    elif tensor.dtype.is_floating_point:
        text = floating_text(tensor, size, dtype, where)
    elif tensor.numel() <= KEPT:
        return f"torch.tensor({tensor.tolist()!r}, dtype={dtype})"
    else:
        text = f"torch.randint({int(tensor.min())}, {int(tensor.max()) + 1}, {size}, dtype={dtype})"
    if order != sorted(order):
        text += f".permute({', '.join(str(order.index(i)) for i in range(len(order)))})"
    return text


def floating_text(tensor, size, dtype, where):
    import torch
    values = tensor.double()
    if not torch.isfinite(values).all():
        raise Problem(f"{where} holds values that are not finite; write this input as an expression, as in "
                      "\"triu(full((64, 64), float('-inf')), 1)\"")
    if values.numel() < 2:
        low, high = (values.min().item(), values.max().item()) if values.numel() else (0.0, 0.0)
        text = f"torch.full({size}, {short(high)})" if low == high else f"torch.rand({size})"
    elif values.min() >= 0:
        low, high = values.min().item(), values.max().item()
        text = scaled(f"torch.rand({size})", high - low, low)
    else:
        text = scaled(f"torch.randn({size})", values.std().item(), values.mean().item())
    return text if dtype == "torch.float32" else f"({text}).to({dtype})"


def scaled(text, factor, shift):
    """Returns `text * factor + shift`, without a factor near 1 and a shift near 0."""
    if abs(factor - 1) > 0.05:
        text = f"{text} * {short(factor)}"
    if abs(shift) > 0.05 * max(abs(factor), 1e-30):
        text = f"{text} + {short(shift)}"
    return text


def short(number):
    return repr(float(f"{number:.3g}"))


def order_of_memory(tensor):
    """Returns the dimensions from the slowest to the fastest in memory, if the tensor is a dense one."""
    order = sorted(range(tensor.dim()), key=lambda i: (-tensor.stride(i), i))
    return order if tensor.permute(order).is_contiguous() else list(range(tensor.dim()))
