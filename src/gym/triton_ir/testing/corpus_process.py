"""Runs one pass over the corpus for compare_with_interpreter.py. `compile FOLDER` writes compiled.pickle (IR, arguments,
initial buffers). `interpret FOLDER` writes expected.pickle (buffers after the launch)."""
import os
import pickle
import sys
import warnings

warnings.filterwarnings("ignore")
import numpy as np
import torch
import triton

from corpus import collect
from corpus.case import Descriptor


def array_of(tensor):
    """Returns the tensor's bytes as a numpy array of unsigned integers with the element's width."""
    widths = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}
    flat = tensor.contiguous().view(-1).view({1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}[tensor.element_size()])
    return flat.numpy().view(widths[tensor.element_size()]).copy()


def type_of(argument):
    if isinstance(argument, torch.Tensor):
        return "*" + {torch.float32: "fp32", torch.float16: "fp16", torch.bfloat16: "bf16", torch.float64: "fp64",
                      torch.int8: "i8", torch.int16: "i16", torch.int32: "i32", torch.int64: "i64", torch.bool: "i1",
                      torch.uint8: "u8", torch.uint16: "u16", torch.uint32: "u32", torch.uint64: "u64",
                      torch.float8_e4m3fn: "fp8e4nv", torch.float8_e5m2: "fp8e5"}[argument.dtype]
    if isinstance(argument, Descriptor):
        return f"tensordesc<{type_of(argument.tensor)[1:]}{argument.block}>".replace(" ", "")
    if isinstance(argument, bool):
        return "u1"
    if isinstance(argument, int):
        return "i32" if -2**31 <= argument < 2**31 else "i64"
    return "fp32"


def compile_case(case):
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource, make_backend
    from triton._C.libtriton import ir
    names = case.kernel.arg_names
    tensors, arguments, signature = [], [], {}
    positional = iter(case.arguments)
    for name in names:
        if name in case.constants:
            signature[name] = "constexpr"
            continue
        argument = next(positional)
        signature[name] = type_of(argument)
        if isinstance(argument, (torch.Tensor, Descriptor)):
            arguments.append(dict(buffer=len(tensors), offset=0))
            tensors.append(argument if isinstance(argument, torch.Tensor) else argument.tensor)
            if isinstance(argument, Descriptor):
                arguments += [dict(int=n) for n in (*argument.shape, argument.shape[1], 1)]
        else:
            arguments.append(dict(int=int(argument)) if isinstance(argument, (int, bool)) else dict(float=argument))
    target = GPUTarget("cuda", 90, 32)
    backend = make_backend(target)
    options = backend.parse_options(dict(debug=case.debug))
    constants = {(names.index(name),): value for name, value in case.constants.items()}
    attributes = {(names.index(n),): [["tt.divisibility", 16]] for n in names if signature[n].startswith("*")}
    source = ASTSource(case.kernel, signature, constants, attributes)
    context = ir.context()
    ir.load_dialects(context)
    backend.load_dialects(context)
    module = source.make_ir(target, options, backend.get_codegen_implementation(options), backend.get_module_map(), context)
    module = backend.make_ttir(module, {}, options, 90)
    grid = list(case.grid) + [1] * (3 - len(case.grid))
    return dict(ttir=str(module), arguments=arguments, grid=grid, arrays=[array_of(t) for t in tensors],
                dtypes=[str(t.dtype) for t in tensors], tolerance=case.tolerance)


def repair_interpreter():
    """Mends Triton 3.6's interpreter, which passes an array of one element to int(). numpy no longer allows this."""
    from triton.runtime import interpreter
    patch = interpreter._patch_lang_tensor

    def patched(tensor, scope):
        patch(tensor, scope)
        scope.set_attr(tensor, "__index__", lambda self: int(self.handle.data.item()))
    interpreter._patch_lang_tensor = patched


def interpret_case(case):
    tensors = [getattr(a, "tensor", a) for a in case.arguments if isinstance(a, (torch.Tensor, Descriptor))]
    if case.reference is not None:
        outputs = case.reference(*case.arguments)
        for tensor, output in outputs:
            tensor.copy_(torch.as_tensor(output).to(tensor.dtype).reshape(tensor.shape))
    else:
        case.kernel[case.grid](*case.arguments, **case.constants)
    return dict(arrays=[array_of(t) for t in tensors])


def main():
    mode, folder, parts = sys.argv[1], sys.argv[2], sys.argv[3:]
    torch.set_num_threads(1)
    results = {}
    if mode == "interpret":
        repair_interpreter()
        sys.stdout = open(os.devnull, "w")  # hides the output of tl.device_print
    for case in collect.cases(folder):
        if parts and not any(part in case.name for part in parts):
            continue
        try:
            results[case.name] = compile_case(case) if mode == "compile" else interpret_case(case)
        except Exception as problem:  # the report names the failed case
            text = " ".join(str(problem).split())
            results[case.name] = dict(problem=f"{mode}: {type(problem).__name__}: {text[-300:]}")
    name = {"compile": "compiled.pickle", "interpret": "expected.pickle"}[mode]
    with open(os.path.join(folder, name), "wb") as file:
        pickle.dump(results, file)


if __name__ == "__main__":
    main()
