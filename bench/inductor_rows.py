"""Writes rows in KernelBook's layout: modules, and what torch.compile's Inductor writes for them on a machine without a GPU.

Parameters are bound by identity. Two files come out: OUT_raw.jsonl has Inductor's whole files, and OUT_cleaned.jsonl the form of
KernelBook's `triton_code`: kernels as functions, their block sizes in the launches, the names of PyTorch 2.5.

usage: PYTHONPATH=build/pairs:build/guest python bench/inductor_rows.py FOLDER OUT     FOLDER: from `tritonsmith tasks export zoo`
"""

import ast
import json
import pathlib
import random
import re
import sys
import warnings

from tritonsmith_guest.source_module import load_module
from tritonsmith_pairs import bindings, blocks, calls, inductor, kernels, solution
from tritonsmith_pairs.helpers import dotted

OWN_SETTINGS = {"compile_threads": 1, "fx_graph_cache": False, "fx_graph_remote_cache": False, "benchmark_kernel": False,
                "cpp_wrapper": False, "triton.unique_kernel_names": True, "triton.multi_kernel": 0, "triton.cudagraphs": False,
                "joint_graph_constant_folding": False}
SECOND_NAMES = {"rnumel = r0_numel", "roffset = r0_offset", "rindex = r0_index", "RBLOCK: tl.constexpr = R0_BLOCK"}
OLD_NAMES = {"r0_numel": "rnumel", "R0_BLOCK": "RBLOCK", "r0_index": "rindex", "r0_mask": "rmask", "r0_offset": "roffset", "r0_base": "rbase"}
HEAD = """from torch._inductor.runtime import triton_helpers
from torch._inductor.runtime.triton_helpers import libdevice, math as tl_math
from torch._inductor.runtime.triton_heuristics import grid
"""
KEPT_NAMES = {"assert_size_stride", "empty_strided_cuda", "reinterpret_tensor", "aten"}


def compiled(text):
    """Returns the model, its inputs by name, Inductor's graph, and what forward returns."""
    random.seed(0)
    module = load_module(text, "task.py", "task_module")
    fake_mode, model, inputs = inductor.fake_model(lambda: module.Model(*module.get_init_inputs()), lambda: list(module.get_inputs()))
    with fake_mode:
        graph, result = inductor.compile_module(model, inputs)
    return model, inputs, graph, result


def function_call(module):
    return next(node for node in ast.walk(module) if isinstance(node, ast.FunctionDef) and node.name == "call")


def new_class(text, model, inputs, graph, result):
    """ModelNew and what stands before it, as KernelBook's writer makes them."""
    source = solution.Source(text, "Model", model)
    forward = ast.parse(ast.unparse(source.method(source.class_node, "forward"))).body[0]
    old = [argument.arg for argument in forward.args.args[1:]]
    new = {name: f"input_{at}" for at, name in enumerate(old)}
    given = next(s.targets[0] for s in calls.statements(function_call(ast.parse(graph.text)))
                 if isinstance(s, ast.Assign) and isinstance(s.value, ast.Name) and s.value.id == "args")
    tensors = [e.id for e in given.elts] if isinstance(given, ast.Tuple) else [given.id]
    sources = [bindings.expression_of(each, model) for each in graph.inputs]
    lines = [f"{name} = {re.sub(r'^[A-Za-z_]+[0-9]*', lambda m: new.get(m.group(), m.group()), each)}" for name, each in zip(tensors, sources, strict=True)]
    outputs = [f"output[{at}]" for at in range(len(graph.outputs))]
    named = [(new[name], tensor) for name, tensor in zip(old, inputs)]
    lines += [f"output = call([{', '.join(tensors)}])", f"return {solution.rendered(result, None, outputs, graph, named)}"]
    for argument in forward.args.args:
        argument.arg, argument.annotation = new.get(argument.arg, argument.arg), None
    forward.returns, forward.body = None, ast.parse("\n".join(lines)).body
    node = solution.with_body(source.class_node, [*solution.constructor_parts(source.class_node), forward])
    node.name = "ModelNew"
    before = [each for each in source.module.body if getattr(each, "name", "") not in ("Model", "get_inputs", "get_init_inputs")]
    return joined([*before, ast.fix_missing_locations(solution.OwnSuper("Model").visit(node))])


def joined(nodes):
    return "\n\n\n".join(ast.unparse(ast.fix_missing_locations(node)) for node in nodes) + "\n"


class OldNames(ast.NodeTransformer):
    def visit_Name(self, node):
        node.id = OLD_NAMES.get(node.id, re.sub(r"^r0_(\d+)$", r"r\1", node.id))
        return node

    def visit_arg(self, node):
        self.generic_visit(node)
        node.arg = OLD_NAMES.get(node.arg, node.arg)
        return node


class OldLaunches(ast.NodeTransformer):
    def __init__(self, made):
        self.made = made

    def visit_Assign(self, node):
        self.generic_visit(node)
        is_stream = isinstance(node.value, ast.Call) and dotted(node.value.func) == "get_raw_stream"
        return ast.Expr(node.value) if is_stream else node

    def visit_Call(self, node):
        self.generic_visit(node)
        kernel = self.made.get(dotted(node.func).removesuffix(".run"))
        if kernel is None:
            return node
        parameters = [name for name in kernel.parameters if name not in kernel.constexprs]
        sizes = {name.removesuffix("numel"): a.value for name, a in zip(parameters, node.args) if name.endswith("numel")}
        chosen = blocks.choose(kernel.kind, sizes, kernel.fixed_blocks(), kernel.constexprs, 256)
        options = {**{name.replace("R0_", "R"): size for name, size in chosen.items()},
                   "num_warps": 2 if kernel.kind == "reduction" else 4, "num_stages": 1}
        counts = ", ".join(str(sizes[axis]) for axis in "zyx" if axis in sizes)
        launched = ast.parse(f"{kernel.generated_name}[grid({counts})]", mode="eval").body
        return ast.Call(launched, node.args, [ast.keyword(name, ast.Constant(value)) for name, value in options.items()])


def old_kernel(function):
    """The function with the names of PyTorch 2.5, and without names that nothing reads."""
    function.decorator_list = [ast.parse("triton.jit", mode="eval").body]
    for node in ast.walk(function):
        if isinstance(node, (ast.FunctionDef, ast.For)):
            node.body = [each for each in node.body if ast.unparse(each) not in SECOND_NAMES]
    OldNames().visit(function)
    loaded = {node.id for node in ast.walk(function) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    kept = []
    for statement in function.body:
        if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name) and statement.targets[0].id not in loaded:
            if not isinstance(statement.value, ast.Call):
                continue
            statement = ast.Expr(statement.value)
        kept.append(statement)
    function.body = kept
    return function


def cleaned(text):
    module, made, functions = ast.parse(text), {}, []
    for statement in module.body:
        if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Call) and dotted(statement.value.func) == "async_compile.triton":
            name, body = statement.targets[0].id, statement.value.args[1].value
            made[name] = kernels.Kernel(name, body)
            functions += [old_kernel(node) for node in ast.parse(body).body if isinstance(node, ast.FunctionDef)]
    call = OldLaunches(made).visit(function_call(module))
    call.args.args = [argument for argument in call.args.args if argument.arg != "self"]
    imports = [node for node in module.body if isinstance(node, (ast.Import, ast.ImportFrom)) and "start_graph" not in ast.unparse(node)]
    kept = [node for node in module.body if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") in KEPT_NAMES]
    return "\n".join([*map(ast.unparse, imports), HEAD, *map(ast.unparse, kept)]) + "\n\n\n" + joined([*functions, call])


def main():
    warnings.simplefilter("ignore")
    folder, out = sys.argv[1:]
    inductor.PLAIN = OWN_SETTINGS
    inductor.decompositions.install = inductor.shortcuts.install = lambda: None
    inductor.install()
    files, missing = sorted(pathlib.Path(folder).rglob("*.py")), 0
    with open(f"{out}_raw.jsonl", "w") as raw_rows, open(f"{out}_cleaned.jsonl", "w") as cleaned_rows:
        for path in files:
            text = path.read_text()
            try:
                model, inputs, graph, result = compiled(text)
                new = new_class(text, model, inputs, graph, result)
                forms = [f"{graph.text}\n\n{new}", f"{cleaned(graph.text)}\n\n{new}"]
            except Exception as error:
                missing += 1
                print(f"{path}: {type(error).__name__}: {str(error)[:200]}", file=sys.stderr)
                continue
            for rows, code in zip((raw_rows, cleaned_rows), forms):
                rows.write(json.dumps({"entry_point": "Model", "module_name": path.stem, "python_code": text, "triton_code": code}) + "\n")
    print(f"{len(files)} modules, {missing} of them without Inductor's code")


if __name__ == "__main__":
    main()
