"""The operators that Inductor leaves to torch, as a person calls them."""

import ast

from . import operator_traits as traits
from .errors import NoPair

# Products of matrices, and those to which a third tensor is added. Inductor's bias_addmm is another addmm.
MATRIX_PRODUCTS = traits.MATRIX_PRODUCT - traits.ADDS_TO_PRODUCT
ADDING_PRODUCTS = (traits.MATRIX_PRODUCT & traits.ADDS_TO_PRODUCT) | {"bias_addmm"}
OTHER_PRODUCTS = (traits.VECTOR_PRODUCT - traits.ADDS_TO_PRODUCT) | {"_int_mm"}
PRODUCTS = {name: f"torch.{name.removeprefix('bias_')}" for name in MATRIX_PRODUCTS | ADDING_PRODUCTS | OTHER_PRODUCTS}
DEFAULTS = {"stride": 1, "padding": 0, "dilation": 1, "output_padding": 0}


def product(name, arguments, keywords):
    if name == "_mm_plus_mm" and len(arguments) == 4 and not keywords:
        return f"torch.addmm(torch.mm({arguments[0]}, {arguments[1]}), {arguments[2]}, {arguments[3]})"
    if name not in PRODUCTS:
        raise NoPair("unknown_operator", f"extern_kernels.{name}")
    kept = [f"{key}={value}" for key, value in keywords.items() if key in ("alpha", "beta") and float(value) != 1.0]
    return f"{PRODUCTS[name]}({', '.join([*arguments, *kept])})"


def convolution(arguments, keywords):
    values = {name: ast.literal_eval(text) for name, text in keywords.items() if name != "bias"}
    given = list(arguments)
    dimensions = len(values["stride"])
    transposed = values["transposed"]
    if keywords.get("bias", "None") != "None":
        given.append(keywords["bias"])
    names = ["stride", "padding", "output_padding"] if transposed else ["stride", "padding"]
    for name in [*names, "dilation"]:
        if any(size != DEFAULTS[name] for size in values[name]):
            sizes = set(values[name])
            given.append(f"{name}={sizes.pop() if len(sizes) == 1 else values[name]}")
    if values["groups"] != 1:
        given.append(f"groups={values['groups']}")
    return f"F.conv{'_transpose' if transposed else ''}{dimensions}d({', '.join(given)})"


def is_contiguous(shape, stride):
    expected = 1
    for size, step in zip(reversed(shape), reversed(stride)):
        if size != 1 and step != expected:
            return False
        expected *= max(size, 1)
    return True


def memory_format(shape, stride):
    """The name of the layout in torch, or None if it has none."""
    if is_contiguous(shape, stride):
        return "contiguous_format"
    order = [0, *range(2, len(shape)), 1]
    if len(shape) in (4, 5) and is_contiguous([shape[i] for i in order], [stride[i] for i in order]):
        return {4: "channels_last", 5: "channels_last_3d"}[len(shape)]
    return None


def count(shape):
    total = 1
    for size in shape:
        total *= size
    return total


def view(base, base_form, shape, stride, offset):
    """An expression for the tensor that shares base's memory and has this form. `base_form` is (shape, stride) or None."""
    if base_form is not None and offset == 0:
        known_shape, known_stride = base_form
        if (tuple(shape), tuple(stride)) == (tuple(known_shape), tuple(known_stride)):
            return base
        if is_contiguous(known_shape, known_stride) and is_contiguous(shape, stride) and count(shape) == count(known_shape):
            return f"{base}.view({', '.join(map(str, shape))})"
        if len(shape) == len(known_shape) >= 2:
            swapped = [*range(len(shape) - 2), len(shape) - 1, len(shape) - 2]
            if [known_shape[i] for i in swapped] == list(shape) and [known_stride[i] for i in swapped] == list(stride):
                return f"{base}.t()" if len(shape) == 2 else f"{base}.transpose(-2, -1)"
        if len(shape) == 2 and is_contiguous(known_shape, known_stride) and count(shape) == count(known_shape) \
                and is_contiguous([shape[1], shape[0]], [stride[1], stride[0]]):
            return f"{base}.view({shape[1]}, {shape[0]}).t()"
    return f"torch.as_strided({base}, {tuple(shape)}, {tuple(stride)}, {offset})"
