"""Rewrites a solution that uses the runtime of torch.compile's Inductor as plain Triton, from its text alone: nothing of it is run.

KernelBook's solutions are Inductor's code. A function `call` takes a list of tensors, and the forward of the class calls it. Its
kernels are functions of the file, or strings that `async_compile.triton` compiles. Here the lines of `call` become those of the
forward, with the launches, products and views that `tasks pairs` writes for its own solutions.

For debugging:  python -m tritonsmith_pairs.given FILE
"""

import ast
import re
import sys

from . import solution
from .errors import NoPair
from .given_calls import GivenForward
from .helpers import dotted

LONGEST = 1 << 20  # characters of a solution
RUNTIME = re.compile(r"\b(torch\._inductor|async_compile|extern_kernels|_?empty_strided_cuda|_?reinterpret_tensor|assert_size_stride"
                     r"|get_raw_stream|_cuda_getCurrentRawStream|triton_helpers|triton_heuristics|tl_math|_DeviceGuard|inductor_seeds)\b")
SETTING_UP = {"async_compile.wait", "triton_helpers.set_driver_to_gpu"}


class GivenSource(solution.Source):
    """The file of a given solution. Its class is ModelNew, or the one that has this second name."""

    def __init__(self, text):
        module = ast.parse(text)
        name, names = "ModelNew", {}
        for node in module.body:
            self.check(node)
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Name) and isinstance(node.targets[0], ast.Name):
                names[node.targets[0].id] = node.value.id
        super().__init__(text, names.get(name, name))
        if name in names:
            self.definitions.pop(name)
        self.imports = [node for node in self.imports if not RUNTIME.search(ast.unparse(node))]

    def check(self, node):
        """Statements that only set the runtime up are left out. Any other statement at the top has to be one that is kept."""
        if isinstance(node, ast.ImportFrom) and any(alias.name == "*" for alias in node.names):
            raise NoPair("unknown_statement", ast.unparse(node)[:200])
        if isinstance(node, ast.Expr):
            known = isinstance(node.value, ast.Constant) or dotted(getattr(node.value, "func", None)) in SETTING_UP
        elif isinstance(node, ast.Delete):
            known = ast.unparse(node) == "del async_compile"
        elif isinstance(node, ast.If):
            known = ast.unparse(node.test) == "__name__ == '__main__'"
        else:
            known = isinstance(node, (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef, ast.Assign, ast.AnnAssign))
        if not known:
            raise NoPair("unknown_statement", ast.unparse(node)[:200])


def plain(text):
    """Returns the text of the plain solution. Raises NoPair where the code has something unknown."""
    if len(text) > LONGEST:
        raise NoPair("too_large", f"it has {len(text)} characters, and at most {LONGEST} are read")
    if not RUNTIME.search(text):
        raise NoPair("no_inductor", "it does not use Inductor's runtime")
    source = GivenSource(text)
    given = source.method(source.class_node, "forward")
    if given is None:
        raise NoPair("unknown_class", "its class has no forward")
    taken = {*(a.arg for a in given.args.args), *source.definitions}
    taken.update(alias.asname or alias.name.split(".")[0] for node in source.imports for alias in node.names)
    forward = GivenForward(text, given, taken, source.forward_variables())
    lines = forward.write()
    if not forward.results:
        raise NoPair("unknown_code", "its forward does not call `call`")
    kept, new_class = source.kept(ast.parse("\n".join(lines).replace("return ", "")).body)
    written = solution.assemble(source, forward, kept, new_class, lines)
    left = RUNTIME.search(written)
    if left:
        raise NoPair("unknown_code", f"{left.group()} is left")
    return written


if __name__ == "__main__":
    print(plain(open(sys.argv[1]).read()))
