"""Checks call arguments against a signature that is read from the syntax tree."""

import ast

from .names import Definition
from .problem import Problem
from .references import chain_of


class Signature:
    def __init__(self, name, arguments, skip_first):
        self.name, self.arguments = name, arguments
        positional = [*arguments.posonlyargs, *arguments.args]
        defaults = [None] * (len(positional) - len(arguments.defaults)) + arguments.defaults
        self.positional = [(a.arg, d is not None) for a, d in zip(positional, defaults)][1 if skip_first else 0:]
        self.keyword_only = [(a.arg, d is not None) for a, d in zip(arguments.kwonlyargs, arguments.kw_defaults)]
        self.takes_more = arguments.vararg is not None
        self.takes_any_keyword = arguments.kwarg is not None
        self.skip_first = skip_first

    def __str__(self):
        shown = ast.unparse(strip_annotations(self.arguments))
        if self.skip_first:
            shown = shown.split(", ", 1)[1] if ", " in shown else ""
        return f"{self.name}({shown})"

    def check(self, positional, keywords, option):
        """Raises a Problem unless the arguments fit. `option` is the one that gives them."""
        names = [name for name, _ in self.positional]
        if len(positional) > len(names) and not self.takes_more:
            raise Problem(f"{option} gives {len(positional)} arguments and {self} takes {len(names)}")
        known = set(names) | {name for name, _ in self.keyword_only}
        for keyword in keywords:
            if keyword not in known and not self.takes_any_keyword:
                raise Problem(f"{option} gives `{keyword}`, which {self} does not take")
            if keyword in names[:len(positional)]:
                raise Problem(f"{option} gives `{keyword}` twice: {self}")
        required = [name for name, has_default in self.positional[len(positional):] if not has_default]
        required += [name for name, has_default in self.keyword_only if not has_default]
        lacking = [f"`{name}`" for name in required if name not in keywords]
        if lacking:
            raise Problem(f"{self} needs {' and '.join(lacking)}: give {'it' if len(lacking) == 1 else 'them'} by {option}, "
                          f"as in {option} \"{example(option, lacking, is_first=not (positional or keywords))}\"")

    def in_order(self, positional, keywords):
        """Returns the arguments with as many keywords as possible in their place, and the names of the others."""
        values, rest = list(positional), dict(keywords)
        for name, _ in self.positional[len(values):]:
            if name not in rest or len(rest) == 0:
                break
            values.append(rest.pop(name))
        return values, rest


def example(option, lacking, is_first):
    """Returns arguments for the parameters that lack one, as a user may write them."""
    value = "768" if option == "--init" else "randn(8, 1024)"
    return ", ".join(value if is_first else f"{name.strip('`')}={value}" for name in lacking)


def strip_annotations(arguments):
    def bare(argument):
        return argument and ast.arg(argument.arg)
    return ast.arguments([bare(a) for a in arguments.posonlyargs], [bare(a) for a in arguments.args], bare(arguments.vararg),
                         [bare(a) for a in arguments.kwonlyargs], arguments.kw_defaults, bare(arguments.kwarg), arguments.defaults)


def method_of(names, definition, method, depth=0):
    """Returns the syntax tree of a class's method, own or inherited from a class of the user's code, or None."""
    for statement in definition.module.binders.get(definition.name, []):
        node = statement.node
        if not isinstance(node, ast.ClassDef) or depth > 20:
            return None
        for inner in node.body:
            if isinstance(inner, ast.FunctionDef) and inner.name == method:
                return inner
        for base in node.bases:
            found = base_of(names, definition.module, base)
            method_there = isinstance(found, Definition) and method_of(names, found, method, depth + 1)
            if method_there:
                return method_there
            if not isinstance(found, Definition) and not is_module_class(base):
                return None
    return None


def is_module_class(base):
    return ast.unparse(base).split(".")[-1] == "Module"


def base_of(names, module, base):
    chain = chain_of(base)
    if not chain:
        return None
    return names.resolve_chain(module, [chain[0].id, *(node.attr for node in chain[1:])])[0]
