"""Writes a call's argument as Python text that makes tensors of the same shapes, dtypes and strides.

The judge draws other values at each trial, so an example's values matter in these ways only:
- floating point: normal numbers with the example's mean and deviation, or uniform ones between its ends if it has no
  negative value; equal numbers are kept;
- integers: up to 64 of them are kept as they are (lengths, offsets); more are drawn between the example's ends;
- booleans: drawn with the example's share of True, unless they are a triangle, as a causal mask is;
- numbers, strings, None: kept.
A large tensor is measured on a part of its values.
"""

import math

from .problem import Problem

KEPT = 64
MEASURED = 1 << 20  # values


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
    memory, view = layout_of(tensor)
    size, dtype = tuple_text(memory), str(tensor.dtype)
    if tensor.dtype.is_complex:
        return f"torch.randn({size}, dtype={dtype}){view}"
    if not is_readable(tensor):
        text = f"torch.randn({size}).to({dtype})" if tensor.dtype.is_floating_point else f"torch.zeros({size}, dtype={dtype})"
    elif tensor.dtype == torch.bool:
        text = truth_text(tensor, size)
    elif tensor.dtype.is_floating_point:
        text = floating_text(tensor, size, dtype, where)
    elif tensor.numel() <= KEPT:
        return f"torch.tensor({tensor.tolist()!r}, dtype={dtype})"
    else:
        text = f"torch.randint({int(tensor.min())}, {int(tensor.max()) + 1}, {size}, dtype={dtype})"
    return (text if not view or text.endswith(")") else f"({text})") + view


def is_readable(tensor):
    """Whether the values can be read: not those of fake tensors, nor any while a CUDA graph is captured."""
    import torch
    is_plain = type(tensor) in (torch.Tensor, torch.nn.Parameter) and tensor.device.type != "meta"
    return is_plain and not (tensor.device.type == "cuda" and torch.cuda.is_current_stream_capturing())


def measured(tensor):
    flat = tensor.flatten()
    return flat[::flat.numel() // MEASURED] if flat.numel() > MEASURED else flat


def truth_text(tensor, size):
    """A triangle, as a causal mask has it, stays one."""
    import torch
    if tensor.dim() >= 2 and tensor.is_contiguous() and min(tensor.shape[-2:]) > 1:
        ones = torch.ones(tensor.shape[-2:], dtype=torch.bool, device=tensor.device)
        for diagonal in dict.fromkeys((0, tensor.shape[-1] - tensor.shape[-2])):
            for name, first in (("tril", diagonal), ("triu", diagonal + 1)):
                if bool((tensor == getattr(ones, name)(first)).all()):
                    return f"torch.ones({size}, dtype=torch.bool).{name}({first or ''})"
    share = round(measured(tensor).float().mean().item(), 3) if tensor.numel() else 0.5
    return f"(torch.rand({size}) < {share})"


def floating_text(tensor, size, dtype, where):
    values = measured(tensor).double()
    low, high = (values.min().item(), values.max().item()) if values.numel() else (0.0, 0.0)
    if is_causal_mask(tensor, low, high):
        text = f"torch.full({size}, {short(low)}).triu({tensor.shape[-1] - tensor.shape[-2] + 1})"
    elif not values.isfinite().all():
        raise Problem(f"{where} holds values that are not finite; write this input as an expression, as in "
                      "\"triu(full((64, 64), float('-inf')), 1)\"")
    elif low < -1e4 and high == 0 and ((values == 0) | (values == low)).all():
        text = f"(torch.rand({size}) < {short((values == low).double().mean().item())}) * {short(low)}"
    elif low == high:  # a draw of one value would not be seen as a value that may be another one
        text = f"torch.full({size}, {high!r})" if values.numel() else f"torch.rand({size})"
    elif low >= 0:
        text = scaled(f"torch.rand({size})", high - low, low)
    else:
        text = scaled(f"torch.randn({size})", values.std().item(), values.mean().item())
    return text if dtype == "torch.float32" else f"({text}).to({dtype})"


def is_causal_mask(tensor, low, high):
    import torch
    if tensor.dim() < 2 or low >= -1e4 or high != 0 or not tensor.is_contiguous():
        return False
    is_later = torch.ones(tensor.shape[-2:], dtype=torch.bool, device=tensor.device).triu(tensor.shape[-1] - tensor.shape[-2] + 1)
    return bool(((tensor == low) == is_later).all() and ((tensor == 0) == ~is_later).all())


def scaled(text, factor, shift):
    """Returns `text * factor + shift`, without a factor near 1 and a shift near 0."""
    if abs(factor - 1) > 0.05:
        text = f"{text} * {short(factor)}"
    if abs(shift) > 0.05 * max(abs(factor), 1e-30):
        text = f"{text} + {short(shift)}"
    return text


def short(number):
    return repr(float(f"{number:.3g}")) if math.isfinite(number) else f"float('{number}')"


def tuple_text(numbers):
    return f"({', '.join(map(str, numbers))}{',' if len(numbers) == 1 else ''})"


def order_of_memory(tensor):
    """Returns the dimensions from the slowest to the fastest in memory. Those of size 1 come first."""
    return sorted(range(tensor.dim()), key=lambda i: (tensor.shape[i] > 1, -tensor.stride(i), i))


def layout_of(tensor):
    """Returns the shape of a contiguous tensor, and the text that makes a view of the tensor's shape and strides of it.

    An overlapping tensor, or a small part of a large one, becomes a contiguous tensor."""
    same = list(range(tensor.dim()))
    if tensor.is_contiguous():
        return list(tensor.shape), ""
    repeated = [i for i in same if tensor.stride(i) == 0 and tensor.shape[i] > 1]
    if repeated:
        for i in repeated:
            tensor, shape = tensor.narrow(i, 0, 1), tensor.shape if i == repeated[0] else shape
        memory, view = layout_of(tensor)
        return memory, f"{view}.expand({', '.join(map(str, shape))})"
    order = order_of_memory(tensor)
    sizes, strides = [tensor.shape[i] for i in order], [tensor.stride(i) for i in order]
    memory, cuts = [], []
    for k, size in enumerate(sizes):
        is_first = k == 0 or sizes[k - 1] == 1
        held = size if size == 1 or is_first else strides[k - 1] // strides[k]
        if held < size or (size > 1 and not is_first and strides[k - 1] % strides[k] != 0):
            return list(tensor.shape), ""
        memory.append(held)
        cuts.append(":" if held == size else f":{size}")
    if sizes[-1] > 1 and strides[-1] > 1:
        memory.append(strides[-1])
        cuts.append("0")
    if math.prod(memory) > 16 * tensor.numel():
        return list(tensor.shape), ""
    view = "" if all(cut == ":" for cut in cuts) else f"[{', '.join(cuts)}]"
    if order != same:
        view += f".permute({', '.join(str(order.index(i)) for i in same)})"
    return memory, view
