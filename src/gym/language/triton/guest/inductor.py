"""Lets the guest run what torch.compile's Inductor writes, as KernelBook holds it, for PyTorch 2.5 to 2.11.

Such a file allocates by `empty_strided_cuda`, calls ATen as `extern_kernels.mm`, and launches Triton kernels that stand in
strings (`async_compile.triton`). All of it is allocations, operators and launches, so it has a plan like any other code.
Inductor itself never runs here. This module gives its names light stand-ins, and keeps its own functions where they only
choose configs or hold kernels' helpers. The decorators around kernels are in inductor_kernels.py.
"""

import importlib
import sys
from types import ModuleType

import torch
import triton.backends.compiler
import triton.compiler.compiler

from . import inductor_kernels
from .errors import CaptureStop


def empty_strided(device):
    def allocate(size, stride, dtype):
        return torch.empty_strided(size, stride, dtype=dtype, device=device)
    return allocate


def reinterpret_tensor(tensor, size, stride, offset_increment=0):
    return torch.as_strided(tensor, size, stride, tensor.storage_offset() + offset_increment)


def alloc_from_pool(pool, offset_bytes, dtype, size, stride):
    """Returns a tensor inside the memory of another one, `offset_bytes` behind its first element."""
    flat = torch.as_strided(pool, (pool.untyped_storage().nbytes() // pool.element_size(),), (1,), 0).view(torch.uint8)
    start = pool.storage_offset() * pool.element_size() + offset_bytes
    return torch.as_strided(flat[start:].view(dtype), size, stride)


def assert_size_stride(tensor, size, stride, op_name=None):
    """Raises what Inductor's own check raises. Like it, this ignores the strides of dimensions of at most one element."""
    if tuple(tensor.shape) != tuple(size):
        raise AssertionError(f"expected size {tuple(size)}, got {tuple(tensor.shape)}")
    for length, expected, actual in zip(size, stride, tensor.stride()):
        if length > 1 and expected != actual:
            raise AssertionError(f"expected stride {tuple(stride)}, got {tensor.stride()}")


def bias_addmm(bias, left, right, *, out=None, alpha=1, beta=1):
    """Adds a bias that is one row for all rows, as Inductor does for a bias of one dimension."""
    is_one_row = bias.dim() > 1 and bias.stride(0) == 0 and bias.size(0) != 0 or bias.size(0) == 1
    return torch.addmm(bias[0] if is_one_row else bias, left, right, out=out, alpha=alpha, beta=beta)


def mm_plus_mm(first, second, third, fourth, out=None):
    out = torch.mm(first, second, out=out)
    return out.addmm_(third, fourth)


def convolution_by_product(image, weight, *, out):
    weight = weight.squeeze(-1).squeeze(-1)
    return torch.matmul(image.permute(0, 2, 3, 1), weight.permute(1, 0), out=out.permute(0, 2, 3, 1))


class ExternKernels:
    """Inductor's names for operators that it leaves to ATen. Any other name is the function of torch that has it."""
    bias_addmm = staticmethod(bias_addmm)
    _mm_plus_mm = staticmethod(mm_plus_mm)
    conv1x1_via_mm = staticmethod(convolution_by_product)

    def __getattr__(self, name):
        if not hasattr(torch, name) or not callable(getattr(torch, name)) or name.startswith("__"):
            raise AttributeError(f"Inductor has no extern kernel {name}")
        return getattr(torch, name)


class AttrsDescriptor:
    """Triton 3.0 to 3.2 described aligned arguments by this. Launches find the alignment by themselves."""

    def __init__(self, *args, **kwargs): pass

    @classmethod
    def from_dict(cls, data): return cls()


def not_by_inductor(what):
    def refused(*args, **kwargs):
        raise CaptureStop("not_captured", f"{what} cannot be captured: only Inductor's Triton kernels can")
    return refused


def stand_ins():
    """Returns the modules of Inductor that generated code imports, with the names that it uses."""
    return {
        "async_compile": dict(AsyncCompile=inductor_kernels.AsyncCompile),
        "select_algorithm": dict(extern_kernels=ExternKernels()),
        "hooks": dict(run_intermediate_hooks=lambda name, value: None),
        "codegen.memory_planning": dict(_align=lambda size: (size + 63) & -64),
        "codegen.multi_kernel": dict(MultiKernelCall=not_by_inductor("a choice between kernels by measured times")),
        "wrapper_benchmark": dict(compiled_module_main=not_by_inductor("a benchmark")),
    }


def add_module(name, contents):
    """Adds names to a module of torch._inductor that is loaded, or makes a module that holds nothing else."""
    full = f"torch._inductor.{name}"
    module = sys.modules.get(full)
    if module is None:
        module = sys.modules[full] = ModuleType(full)
        parent, _, last = full.rpartition(".")
        setattr(importlib.import_module(parent), last, module)
    for key, value in contents.items():
        setattr(module, key, value)


def install():
    """Makes Inductor's names work without a GPU and without Inductor, in the whole process."""
    importlib.import_module("torch._inductor")
    helpers = importlib.import_module("torch._inductor.runtime.triton_helpers")
    helpers.set_driver_to_gpu = helpers.set_driver_to_cpu = lambda: None
    for name, contents in stand_ins().items():
        add_module(name, contents)
    inductor_kernels.install()
    guards = torch._C._dynamo.guards
    guards.assert_size_stride = assert_size_stride
    guards.assert_alignment = lambda tensor, alignment, op_name=None: None
    guards._empty_strided_cuda = empty_strided("cuda")
    guards._empty_strided_cpu = guards._empty_strided_cpu_pinned = empty_strided("cpu")
    guards._reinterpret_tensor = reinterpret_tensor
    for operator in (reinterpret_tensor, alloc_from_pool, mm_plus_mm):
        operator.default = operator
        setattr(torch.ops.inductor, f"_{operator.__name__}", operator)
    for module in (triton.compiler.compiler, triton.backends.compiler):
        if not hasattr(module, "AttrsDescriptor"):
            module.AttrsDescriptor = AttrsDescriptor
