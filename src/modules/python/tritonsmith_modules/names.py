"""Says what a global name of a module means: a definition of the user's code, a thing to import, or one of Python's own."""

import ast
import dataclasses
import os
import sys

from .finder import bound_by_import, is_installed
from .problem import Problem


@dataclasses.dataclass(frozen=True)
class Definition:
    """A name that statements of `module` bind."""
    module: object
    name: str


@dataclasses.dataclass(frozen=True)
class External:
    """What an import statement of the task binds. `path` is what it means, as in "torch.nn"."""
    path: str
    alias: str
    line: str  # the statement that the task begins with


@dataclasses.dataclass(frozen=True)
class Folder:
    """A module of the user's code as a value: a file, or a folder without __init__.py."""
    path: str


@dataclasses.dataclass(frozen=True)
class Own:
    """One of Python's builtins, or a name that nothing binds."""
    name: str


class Names:
    def __init__(self, finder, is_inlined):
        self.finder, self.is_inlined = finder, is_inlined

    def resolve(self, module, name, seen=()):
        binders = module.binders.get(name, [])
        if binders and all(statement.is_import for statement in binders):
            node = binders[-1].node
            if isinstance(node, ast.Import):
                return self.of_import(module, node, name)
            return self.of_import_from(module, node, bound_by_import(node, name), seen)
        if binders:
            return Definition(module, name)
        if name in module.typing_imports:
            node = module.typing_imports[name]
            return self.of_import_from(module, node, bound_by_import(node, name), seen)
        for node in module.stars:
            found = self.of_star(module, node, name, seen)
            if found:
                return found
        return Own(name)

    def of_import(self, module, node, name):
        alias = bound_by_import(node, name)
        dotted = alias.name if alias.asname else name
        path = self.finder.file_of(dotted)
        if path and self.is_inlined(path):
            return Folder(path)
        if path is None:
            raise missing(module, node, alias.name)
        return External(dotted, name, f"import {alias.name} as {name}" if alias.asname else f"import {name}")

    def file_of_import(self, module, node):
        """Returns the file or folder that `from X import` names, and the absolute name of X if it is not inlined."""
        if node.level:
            path = self.finder.relative(module, node)
            if path is None:
                raise Problem(f"{module.shown} line {node.lineno}: `{ast.unparse(node)}` leads to no file below "
                              f"{self.finder.shown(self.finder.package_of(module))}")
        else:
            path = self.finder.file_of(node.module)
            if path is None and self.finder.exists(node.module):
                path = self.finder.file_of(node.module.split(".")[0])  # a module that its package makes at run time
                return (path, None) if self.is_inlined(path) else (path, node.module)
        if path is None:
            return None, None
        if self.is_inlined(path):
            return path, None
        return path, self.finder.dotted(path) if node.level else node.module

    def file_of_import_or_none(self, module, node):
        """Returns the same of an import that may fail, because it is within another statement."""
        try:
            return self.file_of_import(module, node)
        except Problem:
            return None, None

    def of_import_from(self, module, node, alias, seen):
        path, dotted = self.file_of_import(module, node)
        if path is None:
            raise missing(module, node, node.module)
        bound = alias.asname or alias.name
        if dotted is not None:
            renamed = f" as {bound}" if alias.asname and alias.asname != alias.name else ""
            return External(f"{dotted}.{alias.name}", bound, f"from {dotted} import {alias.name}{renamed}")
        found = self.member(path, alias.name, seen)
        if found is None:
            raise Problem(f"{module.shown} line {node.lineno}: {self.finder.shown(path)} has no {alias.name}")
        return found

    def member(self, path, name, seen=()):
        """Returns what a module of the user's code has under a name, or None."""
        if (path, name) in seen:
            return None
        if path.endswith(".py"):
            found = self.resolve(self.finder.load(path), name, (*seen, (path, name)))
            if not isinstance(found, Own):
                return found
        inner = self.finder.submodule(path, name)
        if inner is None:
            return None
        if self.is_inlined(inner):
            return Folder(inner)
        return External(self.finder.dotted(inner), name, f"import {self.finder.dotted(inner)} as {name}")

    def of_star(self, module, node, name, seen):
        path, dotted = self.file_of_import(module, node)
        if path is None or dotted is not None or not path.endswith(".py") or (path, name) in seen:
            return None
        other = self.finder.load(path)
        exported = other.exported()
        if name.startswith("_") if exported is None else name not in exported:
            return None
        return self.member(path, name, seen)

    def resolve_chain(self, module, names):
        """Returns what `a.b.c` means as far as modules of the user's code go, and how many of its names that takes."""
        found, used = self.resolve(module, names[0]), 1
        while isinstance(found, Folder) and used < len(names):
            inner = self.member(found.path, names[used])
            if inner is None:
                raise Problem(f"{module.shown} uses {'.'.join(names[:used + 1])}, which "
                              f"{self.finder.shown(found.path)} does not define")
            found, used = inner, used + 1
        return found, used

    def star_lines(self, module):
        """Returns the star imports of installed packages, from which a name may come that nothing else binds."""
        lines = []
        for node in module.stars:
            path, dotted = self.file_of_import(module, node)
            if dotted is not None:
                lines.append(f"from {dotted} import *")
        return lines


def missing(module, node, name):
    return Problem(f"{module.shown} line {node.lineno}: {sys.executable} has no module {name}; install it there, or name "
                   "your Python with TRITONSMITH_PYTHON")


def has_source(path):
    return path.endswith(".py") or os.path.isdir(path)


def inlines_package(folder=None):
    """Returns the rule that inlines the user's own files, and those of the installed package in `folder`."""
    def is_inlined(path):
        is_inside = folder is not None and (path == folder or path.startswith(folder + "/"))
        return has_source(path) and (is_inside or not is_installed(path))
    return is_inlined


def inlines_file(file):
    """Returns the rule that inlines the user's own files, and this one of an installed package."""
    def is_inlined(path):
        return has_source(path) and (path == file or not is_installed(path))
    return is_inlined
