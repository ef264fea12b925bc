"""Handles tensor descriptors that the host makes (`TensorDescriptor.from_tensor(x, [64, 64])`) and passes to a kernel.

A plan passes only tensors and numbers. So this module rewrites a kernel that takes a descriptor: the new kernel takes the
tensor, its shape and its strides, and makes the same descriptor on the device. Triton's IR lists shape and strides behind
the descriptor anyway.

Chips before sm_90 have no descriptors. There Triton itself rewrites the kernel into one that takes the tensor, its shape and
strides, and whether the descriptor pads with NaN. The shape and strides that its IR lists follow them.
"""

import re

import torch

from .device_properties import capability
from .errors import CaptureStop

SIGNATURE = re.compile(r"tensordesc<(\w+)\[([\d, ]+)\]>")
HEAD = re.compile(r"tt\.func public @[^(]+\(")
ARGUMENT = re.compile(r"(%[\w.$-]+): ")
DESCRIPTOR = re.compile(r"(%[\w.$-]+): !tt\.tensordesc<tensor<((?:\d+x)+)([su]?)(\w+)>>")


def is_descriptor(value):
    return type(value).__name__ == "TensorDescriptor" and type(value).__module__ == "triton.tools.tensor_descriptor"


def chip_has_descriptors():
    return capability() >= (9, 0)


def check(name, value):
    """Checks what the chip demands of a descriptor's memory, and what a plan can express."""
    if not isinstance(value.base, torch.Tensor) or not value.base.is_cuda:
        raise ValueError(f"Pointer argument (at {name}) cannot be accessed from Triton (cpu tensor?)")
    if value.base.data_ptr() % 16:
        raise AssertionError(f"argument {name}: base must be 16-byte aligned")
    if value.padding != "zero":
        raise CaptureStop("unsupported_launch", f"argument {name}: descriptors that pad with {value.padding} are not supported")


def parts(value):
    """Returns the arguments that replace a value: several for a descriptor, the value itself otherwise."""
    if not is_descriptor(value):
        return [value]
    listed = [*map(int, value.shape), *map(int, value.strides)]
    return [value.base, *([] if chip_has_descriptors() else [*listed, False]), *listed]


def part_types(type_):
    """Returns the types of these arguments for a descriptor's type in a signature, or None for any other type."""
    found = SIGNATURE.fullmatch(type_) if isinstance(type_, str) else None
    if found is None:
        return None
    rank = found.group(2).count(",") + 1
    rewritten = [] if chip_has_descriptors() else [*["i64"] * (2 * rank), "i1"]
    return [f"*{found.group(1)}", *rewritten, *["i32"] * rank, *["i64"] * rank]


def end_of_arguments(text, start):
    depth = 1
    while depth:
        depth += {"(": 1, ")": -1}.get(text[start], 0)
        start += 1
    return start


def made_on_the_device(text):
    """Rewrites the IR of a kernel that takes descriptors into the IR of a kernel that makes them."""
    head = HEAD.search(text)
    if head is None:
        return text
    end = end_of_arguments(text, head.end())
    arguments = text[head.end():end]
    names = ARGUMENT.findall(arguments)
    made = []
    for name, sizes, sign, element in DESCRIPTOR.findall(arguments):
        rank = sizes.count("x")
        first = names.index(name) + 1
        shape, strides = names[first:first + rank], names[first + rank:first + 2 * rank]
        block = f"tensor<{sizes}{sign}{element}>"
        made.append(f"    {name} = tt.make_tensor_descriptor {name}_base, [{', '.join(shape)}], [{', '.join(strides)}]"
                    f" : <{element}>, <{block}>\n")
    if not made:
        return text
    arguments = DESCRIPTOR.sub(r"\1_base: !tt.ptr<\4> {tt.divisibility = 16 : i32}", arguments)
    body = text.index("{\n", text.index("attributes", end)) + 2
    return text[:head.end()] + arguments + text[end:body] + "".join(made) + text[body:]
