"""Puts one file together: the module's own constructor, the kernels, and the forward that launches them."""

import ast
import inspect

import torch

from . import helpers, layout
from .calls import Forward
from .errors import NoPair
from .nodes import walk

TASK_ONLY = {"get_inputs", "get_init_inputs"}


class Source:
    """The module's file, by the names of what stands at its top level."""

    def __init__(self, text, class_name, model=None):
        self.module = ast.parse(text)
        self.model = model
        self.definitions = {}
        self.imports = []
        for node in self.module.body:
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                self.imports.append(node)
            elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                self.definitions[node.name] = node
            elif isinstance(node, (ast.Assign, ast.AnnAssign)):
                for name in walk(node):
                    if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store):
                        self.definitions[name.id] = node
        self.class_node = self.definitions.get(class_name)
        if not isinstance(self.class_node, ast.ClassDef):
            raise NoPair("unknown_class", f"its class {class_name} is not defined at the top of its file")

    def forward_arguments(self):
        """The parameters of forward, as its class or one of its bases defines them."""
        forward = self.method(self.class_node, "forward")
        if forward is None:
            raise NoPair("unknown_class", "its forward is not defined in its file")
        return forward.args

    def forward_variables(self):
        """The variables and parameters of all forwards in the file."""
        found = set()
        for node in walk(self.module):
            if isinstance(node, ast.FunctionDef):
                found |= variables_of(node) | {a.arg for a in node.args.args}
        return found

    def method(self, node, name):
        for statement in node.body:
            if isinstance(statement, ast.FunctionDef) and statement.name == name:
                return statement
        for base in node.bases:
            parent = self.definitions.get(base.id) if isinstance(base, ast.Name) else None
            if isinstance(parent, ast.ClassDef) and (found := self.method(parent, name)):
                return found
        return None

    def kept(self, forward_body):
        """Returns the nodes of the file to be, in the old order: what the constructor needs, and the new class."""
        new_class = self.new_class(forward_body)
        needed, queue = {}, [new_class]
        while queue:
            for name in names_in(queue.pop()):
                node = self.definitions.get(name)
                if node is None or name in needed or name in TASK_ONLY or node is self.class_node:
                    continue
                needed[name] = self.without_forward(node)
                queue.append(needed[name])
        ordered, seen = [], set()
        for name, node in self.definitions.items():
            if name in needed and id(node) not in seen:
                seen.add(id(node))
                ordered.append(needed[name])
        return ordered, new_class

    def without_forward(self, node):
        """A submodule's class without the methods that only a forward needs: nothing calls its forward any more."""
        if not isinstance(node, ast.ClassDef) or self.model is None or not any(
                isinstance(m, torch.nn.Module) and type(m).__name__ == node.name for m in self.model.modules()):
            return node
        return with_body(node, constructor_parts(node))

    def new_class(self, forward_body):
        node = self.class_node
        arguments = self.forward_arguments()
        forward = ast.FunctionDef(name="forward", args=arguments, body=forward_body, decorator_list=[], returns=None,
                                  type_comment=None)
        body = constructor_parts(node)
        body = [s for s in body if not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))]
        new = with_body(node, [*body, forward])
        new.name = "ModelNew"
        return ast.fix_missing_locations(OwnSuper(node.name).visit(new))


class OwnSuper(ast.NodeTransformer):
    """super(Model, self) in a class of another name is super()."""

    def __init__(self, name):
        self.name = name

    def visit_Call(self, node):
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id == "super" and node.args \
                and isinstance(node.args[0], ast.Name) and node.args[0].id == self.name:
            node.args = []
        return node

    def visit_Name(self, node):
        return ast.Name("ModelNew", node.ctx) if node.id == self.name else node


def with_body(node, body):
    copy = ast.parse(ast.unparse(node)).body[0]
    copy.body = [ast.parse(ast.unparse(ast.fix_missing_locations(s))).body[0] for s in body] or [ast.Pass()]
    return copy


def constructor_parts(node):
    """The statements of a class that its constructor needs: no forward, and no method that only forward calls."""
    methods = {s.name: s for s in node.body if isinstance(s, ast.FunctionDef)}
    needed, queue = set(), [name for name in methods if name.startswith("__") or methods[name].decorator_list]
    while queue:
        name = queue.pop()
        if name in needed or name == "forward":
            continue
        needed.add(name)
        queue += [n.attr for n in walk(methods[name]) if isinstance(n, ast.Attribute) and n.attr in methods]
    return [s for s in node.body if not isinstance(s, ast.FunctionDef) or s.name in needed]


def names_in(node):
    """The names that the code takes from outside: not the parameters and variables of its functions."""
    if isinstance(node, (ast.FunctionDef, ast.Lambda)):
        own = {a.arg for a in walk(node.args) if isinstance(a, ast.arg)}
        own |= {n.id for n in walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        outside = [*node.args.defaults, *(d for d in node.args.kw_defaults if d), *getattr(node, "decorator_list", [])]
        outside += [a.annotation for a in walk(node.args) if isinstance(a, ast.arg) and a.annotation]
        body = node.body if isinstance(node.body, list) else [node.body]
        return set().union(*(names_in(n) for n in outside), *(names_in(n) for n in body)) - own \
            | set().union(set(), *(names_in(n) for n in outside))
    found = {node.id} if isinstance(node, ast.Name) else set()
    return found.union(*(names_in(child) for child in ast.iter_child_nodes(node)))


def variables_of(forward):
    """The variables that a forward assigns, which name the nodes of its graph."""
    return {n.id for n in walk(forward) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}


def rendered(result, forward, outputs, graph, inputs):
    """The expression of what forward returns."""
    known = {}
    for expression, tensor in zip(outputs, graph.outputs):
        if isinstance(tensor, torch.Tensor):
            known.setdefault(id(tensor), expression)
    for source, tensor in inputs:
        known.setdefault(id(tensor), source)

    def text(value):
        if isinstance(value, torch.Tensor):
            if id(value) not in known:
                raise NoPair("unknown_output", "an output of its forward is neither its graph's nor an input")
            return known[id(value)]
        if type(value) is tuple or type(value).__module__ == "torch.return_types":
            return f"({', '.join(map(text, value))}{',' if len(value) == 1 else ''})"
        if type(value) is list:
            return f"[{', '.join(map(text, value))}]"
        if type(value) is dict:
            return "{" + ", ".join(f"{k!r}: {text(v)}" for k, v in value.items()) + "}"
        if value is None or type(value) in (int, float, bool, str):
            return repr(value)
        raise NoPair("unknown_output", f"its forward returns {type(value).__name__}")

    return text(result)


def write(source_text, model, graph, result, inputs, strict=False):
    """Returns the text of the solution. `inputs` are pairs of a parameter's name and its value."""
    source = Source(source_text, type(model).__name__, model)
    arguments = source.forward_arguments()
    names = [a.arg for a in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]]
    taken = {*names, *source.definitions}
    taken.update(alias.asname or alias.name.split(".")[0] for node in source.imports for alias in node.names)
    forward = Forward(graph, model, taken, strict, source.forward_variables())
    outputs = forward.translate()
    lines = [*forward.lines, "return " + rendered(result, forward, outputs, graph, inputs)]
    if not forward.finished and not forward.own_functions:
        raise NoPair("no_kernel", "its forward needs no kernel: torch does everything")
    kept, new_class = source.kept(ast.parse("\n".join(lines).replace("return ", "")).body)
    return assemble(source, forward, kept, new_class, lines)


def text_of_class(node, lines):
    """The class as text. The forward's lines stay as they are written."""
    forward = next(s for s in node.body if isinstance(s, ast.FunctionDef) and s.name == "forward")
    forward.body = [ast.Expr(ast.Name("FORWARD", ast.Load()))]
    text = layout.wrapped(layout.close_class(ast.unparse(ast.fix_missing_locations(node))))
    return text.replace("        FORWARD", "\n".join(layout.wrapped(f"        {line}") for line in lines))


def assemble(source, forward, kept, new_class, lines):
    kernels = [kernel.text() for kernel in forward.finished]
    needed = []
    for kernel in forward.finished:
        needed += [name for name in kernel.needed if name not in needed]
    whole = "\n".join([*kernels, *(helpers.SOURCES[name][0] for name in needed)])
    below = layout.joined(kept)
    below = "\n\n\n".join([*([below] if below else []), text_of_class(new_class, lines)])
    wanted = ["import torch", "import triton", "import triton.language as tl"]
    if "libdevice." in whole:
        wanted.append("from triton.language.extra import libdevice")
    if "F." in below:
        wanted.append("import torch.nn.functional as F")
    imports = []
    for node in source.imports:
        for alias in node.names:
            name = alias.asname or alias.name.split(".")[0]
            single = ast.unparse(type(node)(**{**dict(ast.iter_fields(node)), "names": [alias]}))
            if name in names_in(ast.parse(below)) and single not in [*imports, *wanted]:
                imports.append(single)
    if any(single.endswith(" functional as F") for single in imports):
        wanted = [single for single in wanted if not single.endswith(" as F")]
    sections = ["\n".join(sorted({*imports, *wanted}, key=lambda line: ("triton" in line, line)))]
    sections += forward.own_functions.values()
    sections += [inspect.cleandoc(helpers.SOURCES[name][0]) for name in needed]
    text = "\n\n\n".join([*sections, *kernels, below]) + "\n"
    compile(text, "solution.py", "exec")
    return text
