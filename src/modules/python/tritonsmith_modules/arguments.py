"""Reads call arguments from the command line, as in "randn(8, 1024, dtype=bf16), mask=None".

A name means what it means in the file that the user names, or in the file that defines the class. Else it is a short form
of a dtype, one of Python's builtins, or torch's.
"""

import ast
import builtins
import dataclasses
import difflib
import os
import re

from .names import External, Own
from .problem import Problem
from .references import read_statement
from .task_text import Edits, Rewrite

DTYPES = {"bf16": "bfloat16", "fp16": "float16", "f16": "float16", "half": "float16", "fp32": "float32", "f32": "float32",
          "fp64": "float64", "f64": "float64", "e4m3": "float8_e4m3fn", "e5m2": "float8_e5m2", "i8": "int8", "i16": "int16",
          "i32": "int32", "i64": "int64", "u8": "uint8"}
TYPES_OF_TORCH = {"float", "int", "bool", "complex"}  # called, they are Python's; as a dtype they are torch's
TORCH = External("torch", "torch", "import torch")


@dataclasses.dataclass
class Arguments:
    """The arguments of a call. Their names are resolved in two steps: `follow` and, once names are chosen, `text`."""
    option: str
    positional: list = dataclasses.field(default_factory=list)
    keywords: dict = dataclasses.field(default_factory=dict)
    has_stars: bool = False

    @property
    def every(self):
        return [*self.positional, *self.keywords.values()]


def parse_arguments(text, option):
    try:
        call = ast.parse(f"f({text}\n)", mode="eval").body
    except (SyntaxError, ValueError) as error:
        raise Problem(f"{option} \"{text}\": {getattr(error, 'msg', error)}; it holds the arguments of a call, as in "
                      "\"randn(8, 1024, dtype=bf16), True\"") from None
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name) or call.func.id != "f":
        raise Problem(f"{option} \"{text}\" is no list of arguments; one is \"randn(8, 1024, dtype=bf16), True\"")
    if any(keyword.arg is None for keyword in call.keywords):
        raise Problem(f"{option} \"{text}\": name each keyword; ** cannot be checked")
    return Arguments(option, call.args, {keyword.arg: keyword.value for keyword in call.keywords},
                     any(isinstance(argument, ast.Starred) for argument in call.args))


class Resolver:
    """Resolves the names of arguments in modules, the first of which is the one that the user names."""

    def __init__(self, closure, modules, torch_names):
        self.closure, self.modules, self.torch_names = closure, modules, torch_names
        self.statements = {}  # id of an argument's node -> its statement
        self.replacements = {}  # id of a name's node -> the name below torch

    def follow(self, arguments):
        for node in arguments.every:
            called = {id(inner.func) for inner in ast.walk(node) if isinstance(inner, ast.Call)}
            statement = read_statement(ast.Expr(node))
            self.statements[id(node)] = statement
            for reference in statement.references:
                name = reference.names[0]
                module = next((each for each in self.modules if self.knows(each, name)), None)
                if module:
                    self.closure.follow_reference(module, reference)
                    continue
                below = self.name_below_torch(name, id(reference.nodes[0]) in called, arguments.option)
                if below is None:
                    self.closure.owns.add(name)
                else:
                    self.replacements[id(reference.nodes[0])] = below
                    self.closure.externals.setdefault(TORCH, {})

    def knows(self, module, name):
        return name in module.main_binds or not isinstance(self.closure.names.resolve(module, name), Own)

    def name_below_torch(self, name, is_called, option):
        """Returns torch's name, "" for torch itself, or None for one of Python's builtins."""
        if name == "torch":
            return ""
        if name in DTYPES:
            return DTYPES[name]
        if hasattr(builtins, name) and (is_called or name not in TYPES_OF_TORCH):
            return None
        if self.torch_names and name not in self.torch_names:
            close = difflib.get_close_matches(name, [*self.torch_names, *DTYPES, *self.modules[0].names()], 1)
            raise Problem(f"{option}: {self.modules[0].shown} defines no `{name}`, and torch has none"
                          + (f"; did you mean `{close[0]}`?" if close else ""))
        return name

    def text(self, node, chosen):
        """Returns the argument as the task writes it."""
        edits, torch = Edits(), chosen.of.get(TORCH, "torch")
        for reference in self.statements[id(node)].references:
            first = reference.nodes[0]
            below = self.replacements.get(id(first))
            if below is not None:
                edits.of_nodes.append((first, first, f"{torch}.{below}" if below else torch))
                continue
            meaning, used = self.closure.meanings.get(id(first), (None, 0))
            if meaning is not None:
                new = chosen.name_of(meaning, ".".join(reference.names[:used]))
                edits.of_nodes.append((first, reference.nodes[used - 1], new))
        return ast.unparse(ast.fix_missing_locations(Rewrite(edits).visit(ast.Expr(node))))

    def is_plain(self, node):
        """Whether a plan can hold the value: numbers, strings, None, dtypes, and lists and dicts of them."""
        if isinstance(node, (ast.List, ast.Tuple)):
            return all(map(self.is_plain, node.elts))
        if isinstance(node, ast.Dict):
            keys = all(isinstance(key, ast.Constant) and isinstance(key.value, str) for key in node.keys)
            return keys and all(map(self.is_plain, node.values))
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return self.is_plain(node.operand)
        if isinstance(node, ast.Constant):
            return node.value is None or isinstance(node.value, (bool, int, float, str))
        below = self.replacements.get(id(node.value if isinstance(node, ast.Attribute) else node))
        return below is not None and is_dtype(below or getattr(node, "attr", ""))


def is_dtype(name):
    return bool(re.fullmatch(r"b?float\d+(_\w+)?|u?int\d+|bool|float|int|half|double|long|complex\d*", name))


def names_of_torch(finder):
    """Returns the names that torch's own files mention, without importing it. Empty: they were not found."""
    path = finder.file_of("torch")
    names = set()
    for inner in ("__init__.py", "_C/_VariableFunctions.pyi", "_C/__init__.pyi", "functional.py"):
        try:
            with open(os.path.join(os.path.dirname(path or ""), inner), encoding="utf-8") as file:
                names.update(re.findall(r"(?<![\w.])[A-Za-z]\w*", file.read()))
        except OSError:
            continue
    return names
