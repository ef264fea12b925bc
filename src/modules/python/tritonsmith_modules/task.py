"""Makes a task from a class or a function of the user's code: one file in KernelBench's format (docs/tasks.md)."""

import ast
import difflib
import os

from . import examples
from .arguments import DTYPES, TORCH, Resolver, is_dtype, names_of_torch, parse_arguments
from .chosen_names import ChosenNames
from .closure import Closure
from .constructor import constructor_arguments
from .finder import Finder, is_installed
from .names import Definition, External, Folder, Names, inlines_file, inlines_package
from .order import order
from .problem import Problem
from .references import FUNCTIONS, chain_of
from .signature import Signature, method_of
from .task_text import edits_of, written

MAX_LINES = 1000  # of an installed package's own code; a task imports the rest of the package where there is more
NN = External("torch.nn", "nn", "import torch.nn as nn")


def make_task(question):
    """Returns {"sources": one for each of the question's "inputs"} and facts about the module (Maker.facts).

    The question also has "target", "init", "dtype", "folder" (where relative paths begin) and "path" (more folders). With
    "is_alone" the target's file was sent as text: it has no neighbours, and get_init_inputs() has the arguments of its Model."""
    target, _, name = question["target"].rpartition(":")
    is_alone = question.get("is_alone", False)
    finder = Finder(question["folder"], ["", *question["path"]], is_alone)
    module = finder.load_target(target)
    if is_alone and name == "Model" and not question["init"].strip():
        question["init"] = init_of(constructor_arguments(module.source))
    found = find(Names(finder, inlines_package(package_of(finder, module))), module, name, finder)
    home = found.module
    if not is_installed(home.path):
        return Maker(question, finder, Names(finder, inlines_package()), module, found).make()
    try:
        names = Names(finder, inlines_package(package_of(finder, home)))
        made = Maker(question, finder, names, module, found).make()
        if made["sources"][0].count("\n") <= MAX_LINES:
            return made
    except Problem:
        pass  # without the rest of the package there may be none
    return Maker(question, finder, Names(finder, inlines_file(home.path)), module, found).make()


def init_of(constructor):
    """Returns the constructor's arguments as a call has them. The keywords come as the items of a dict."""
    keywords = ast.parse("{" + constructor["keywords"] + "}", mode="eval").body
    named = [f"{key.value}={ast.unparse(value)}" for key, value in zip(keywords.keys, keywords.values)]
    return ", ".join(filter(None, [constructor["arguments"], *named]))


def package_of(finder, module):
    return finder.package_of(module) if is_installed(module.path) else None


def find(names, module, name, finder, depth=0):
    """Returns the definition that a name of a module leads to, through imports and aliases."""
    meaning = names.resolve(module, name)
    if isinstance(meaning, External) and depth < 20:
        package, _, inner = meaning.path.rpartition(".")
        if not package or finder.file_of(package) is None:
            raise Problem(f"{module.shown}: {name} is the module {meaning.path}; name a class or a function")
        other = finder.load(finder.file_of(package))
        return find(Names(finder, inlines_package(package_of(finder, other))), other, inner, finder, depth + 1)
    if isinstance(meaning, Folder):
        raise Problem(f"{module.shown}: {name} is a module; name a class or a function of it, as in {name}.py:NAME")
    if not isinstance(meaning, Definition):
        have = module.names()
        close = difflib.get_close_matches(name, [*have, *module.binders], 1)  # an imported name counts, too
        listed = ", ".join(have[:12]) + (" and others" if len(have) > 12 else "") if have else "no class and no function"
        raise Problem(f"{module.shown} defines no {name}" + (f"; did you mean {close[0]}?" if close else f"; it has {listed}"))
    value = getattr(node_of(meaning), "value", None)
    chain = chain_of(value) if value is not None and depth < 20 else []
    if chain:
        leads = names.resolve_chain(meaning.module, [chain[0].id, *(node.attr for node in chain[1:])])[0]
        if isinstance(leads, Definition):
            return find(names, leads.module, leads.name, finder, depth + 1)
    return meaning


def node_of(definition):
    """Returns the class or function that a definition is, else its last statement."""
    nodes = [statement.node for statement in definition.module.binders[definition.name] if not statement.is_import]
    for node in reversed(nodes):
        for inner in ast.walk(node):
            if isinstance(inner, (*FUNCTIONS, ast.ClassDef)) and inner.name == definition.name:
                return inner
    return nodes[-1]


class Maker:
    def __init__(self, question, finder, names, module, found):
        self.question, self.finder, self.names, self.module, self.found = question, finder, names, module, found
        self.node = node_of(found)
        self.is_class = isinstance(self.node, ast.ClassDef)
        self.closure = Closure(names)
        self.resolver = Resolver(self.closure, [module, found.module], names_of_torch(finder))

    def make(self):
        self.refuse_values()
        self.signature = self.signature_of_call()
        self.init = self.read_init()
        self.calls = [self.read_inputs(text) for text in self.question["inputs"] or [""]]
        self.inputs = self.calls[0]
        self.refuse_other_calls()
        self.closure.include_definition(self.found)
        self.closure.close()
        self.resolver.follow(self.init)
        for call in self.calls:
            self.resolver.follow(call)
        self.closure.close()
        self.is_plain_init = all(map(self.resolver.is_plain, self.init.every))
        self.closure.externals.setdefault(TORCH, {})
        if not self.is_class:
            self.closure.externals.setdefault(NN, {})
        is_wrapped = self.is_wrapped()
        self.chosen = ChosenNames(self.closure, self.found.module, () if is_wrapped else ("Model",))
        body = self.text_of_statements()
        parts = [self.head(), *body, *([self.wrapper()] if is_wrapped else [])]
        calls = [", ".join(self.resolver.text(node, self.chosen) for node in call.every) for call in self.calls]
        sources = ["\n\n\n".join([*parts, self.get_inputs(call, calls), self.get_init_inputs()]) + "\n" for call in calls]
        try:
            compile(sources[0], "task", "exec", dont_inherit=True)
        except SyntaxError as error:
            raise Problem(f"{self.found.module.shown}: the joined text does not parse (line {error.lineno}: {error.msg}); "
                          "this is a mistake of ours") from None
        return {"sources": sources, "calls": calls, **self.facts()}

    def facts(self):
        """Returns what a replacement of the module is made from."""
        arguments, keywords = self.init_texts() if self.is_class and self.is_plain_init else ("", "")
        return {"name": self.found.name, "file": self.found.module.shown, "is_class": self.is_class, "arguments": arguments,
                "keywords": keywords, "parameters": self.parameters(hidden=set())[0]}

    def refuse_values(self):
        shown = f"{self.found.module.shown} line {self.node.lineno}"
        if isinstance(self.node, (*FUNCTIONS, ast.ClassDef)):
            bases = [ast.unparse(base) for base in getattr(self.node, "bases", [])]
            if any(base.split(".")[-1] == "Function" for base in bases):
                raise Problem(f"{shown}: {self.found.name} is an autograd function; name a function that calls "
                              f"{self.found.name}.apply")
            return
        value = getattr(self.node, "value", None)
        is_function = isinstance(value, ast.Lambda) or (isinstance(value, ast.Call) and ast.unparse(value.func).endswith("partial"))
        if not is_function:
            raise Problem(f"{shown}: {self.found.name} is a value; name a class or a function")

    # Arguments
    def signature_of_call(self):
        if not self.is_class:
            plain = isinstance(self.node, FUNCTIONS) and not foreign_decorators(self.node)
            return Signature(self.found.name, self.node.args, skip_first=False) if plain else None
        method = method_of(self.names, self.found, "forward")
        return Signature("forward", method.args, skip_first=True) if method else None

    def read_init(self):
        if not self.is_class:
            if self.question["init"].strip():
                raise Problem(f"--init is for classes, and {self.found.name} is a function")
            return parse_arguments("", "--init")
        arguments = parse_arguments(self.question["init"], "--init")
        method = method_of(self.names, self.found, "__init__")
        if method and not arguments.has_stars:
            Signature(self.found.name, method.args, skip_first=True).check(arguments.positional, arguments.keywords, "--init")
        return arguments

    def refuse_other_calls(self):
        for i, call in enumerate(self.calls[1:]):
            if (len(call.positional), list(call.keywords)) != (len(self.inputs.positional), list(self.inputs.keywords)):
                raise Problem(f"--inputs: all must give the same arguments, and the first gives {described(self.inputs)}, "
                              f"number {i + 2} {described(call)}")

    def read_inputs(self, text):
        known = [name for name, _ in [*self.signature.positional, *self.signature.keyword_only]] if self.signature else []
        if examples.is_example_file(text):
            if self.finder.is_alone:
                raise Problem(f"--inputs {text.strip()}: no file can be named here; write the arguments, as in randn(8, 1024)")
            path = os.path.join(self.finder.folder, text.strip())
            arguments = examples.read_examples(path, text.strip(), "--inputs", known)
        else:
            arguments = parse_arguments(text, "--inputs")
        if self.signature and not arguments.has_stars:
            self.signature.check(arguments.positional, arguments.keywords, "--inputs")
            values, rest = self.signature.in_order(arguments.positional, arguments.keywords)
            arguments.positional, arguments.keywords = values, rest
        return arguments

    # Text
    def is_wrapped(self):
        simple = self.is_class and not self.inputs.keywords and self.is_plain_init and not self.question["dtype"]
        return not (simple and self.found.name == "Model")

    def head(self):
        home = self.found.module
        others = sorted({module.shown for module, _ in self.closure.included.values()} - {home.shown})
        lines = [f"# {self.found.name} of {home.shown}" + (f", with what it uses of {', '.join(others)}" if others else ""),
                 "from __future__ import annotations", ""]
        imports, bound = {}, set()
        for external, extra in self.closure.externals.items():
            name = self.chosen.of[external]
            if (external.path, name) in bound and not extra:
                continue
            bound.add((external.path, name))
            line = external.line if name == external.alias else renamed(external, name)
            imports.update(dict.fromkeys([*extra, line] if external.line.startswith("import ") else [line, *extra]))
        return "\n".join([*lines, *sorted(imports, key=import_order), *self.closure.stars])

    def text_of_statements(self):
        parts, last, was_short = [], None, False
        ordered = order(self.closure)
        are_several = len({id(module) for module, _ in ordered}) > 1
        for module, statement in ordered:
            text = written(module, statement, edits_of(module, statement, self.closure, self.chosen)).rstrip()
            is_short = "\n" not in text
            if module is not last and are_several:
                text = f"# {module.shown}\n{text}"
            if module is last and is_short and was_short:
                parts[-1] += "\n" + text
            else:
                parts.append(text)
            last, was_short = module, is_short
        return parts

    def wrapper(self):
        name, lines = self.chosen.of[self.found], []
        if not self.is_class:
            nn = self.chosen.of[NN]
            given, passed = self.parameters(hidden={name})
            return f"class Model({nn}.Module):\n    def forward({', '.join(['self', *given])}):\n        return {name}({passed})"
        if self.question["dtype"] or not self.is_plain_init:
            takes, passes = ("*args, **kwargs", "*args, **kwargs") if self.is_plain_init else ("", self.call_text(self.init))
            lines += [f"    def __init__({', '.join(filter(None, ['self', takes]))}):", f"        super().__init__({passes})"]
            if self.question["dtype"]:
                lines.append(f"        self.to({self.chosen.of[TORCH]}.{dtype_of(self.question['dtype'])})")
        if self.inputs.keywords:
            given, passed = self.parameters(hidden=set())
            lines += [*([""] if lines else []), f"    def forward({', '.join(['self', *given])}):",
                      f"        return super().forward({passed})"]
        return "\n".join([f"class Model({name}):", *(lines or ["    pass"])])

    def parameters(self, hidden):
        """Returns the names of forward's parameters, and the arguments of the call that they are passed to."""
        names = [name for name, _ in self.signature.positional] if self.signature else []
        given = [names[i] if i < len(names) else f"input_{i}" for i in range(len(self.inputs.positional))]
        given = [f"{name}_" if name in hidden else name for name in given]
        keywords = [f"{name}_" if name in hidden else name for name in self.inputs.keywords]
        passed = [*given, *(f"{name}={local}" for name, local in zip(self.inputs.keywords, keywords))]
        return [*given, *keywords], ", ".join(passed)

    def call_text(self, arguments):
        text = self.resolver.text
        return ", ".join([*(text(node, self.chosen) for node in arguments.positional),
                          *(f"{name}={text(node, self.chosen)}" for name, node in arguments.keywords.items())])

    def get_inputs(self, call, calls):
        others = "".join(f"    # It is also called with {other}\n" for other in calls if other != call)
        return f"def get_inputs():\n{others}    return [{call}]"

    def get_init_inputs(self):
        init = "[]"
        if self.is_class and self.is_plain_init:
            values, keywords = self.init_texts()
            is_pair = bool(keywords) or any(isinstance(node, ast.Dict) for node in self.init.positional)
            init = f"[[{values}], {{{keywords}}}]" if is_pair else f"[{values}]"
        return f"def get_init_inputs():\n    return {init}"


    def init_texts(self):
        """Returns the constructor's positional arguments, and its keywords as items of a dict."""
        values = ", ".join(self.resolver.text(node, self.chosen) for node in self.init.positional)
        return values, ", ".join(f"{name!r}: {self.resolver.text(node, self.chosen)}" for name, node in self.init.keywords.items())


def described(call):
    """Returns "2 arguments and `scale`"."""
    count = len(call.positional)
    return " and ".join([f"{count} argument{'' if count == 1 else 's'}", *(f"`{name}`" for name in call.keywords)])


def foreign_decorators(node):
    """Whether a decorator may change what the function takes."""
    keep = {"compile", "no_grad", "inference_mode", "script", "jit", "script_if_tracing", "ignore", "autocast", "lru_cache", "cache"}
    names = [ast.unparse(each.func if isinstance(each, ast.Call) else each).split(".")[-1] for each in node.decorator_list]
    return any(name not in keep for name in names)


def dtype_of(text):
    name = DTYPES.get(text, text.removeprefix("torch."))
    if not is_dtype(name):
        raise Problem(f"--dtype {text}: no such type; one is bf16, fp16, fp32 or fp64")
    return name


def renamed(external, name):
    if external.line.startswith("from "):
        package, _, member = external.path.rpartition(".")
        return f"from {package} import {member} as {name}"
    return f"import {external.path} as {name}"


def import_order(line):
    """Plain imports of Python's own modules come first, torch's next."""
    return (not line.startswith("import "), "torch" in line, line)
