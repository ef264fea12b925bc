"""Finds the files of modules without running any of them, and says which are the user's own and which are installed.

A module is the user's own if its file lies in none of Python's folders for packages. The user's folders come first, as on
Python's path. torch, triton and Python's own modules are never looked for there.
"""

import ast
import importlib.machinery
import io
import os
import re
import sys
import sysconfig
import tokenize

from .problem import Problem
from .references import bound_names, imported_name, read_statement

MAX_BYTES = 4 << 20
NEVER_OWN = {"torch", "triton"} | set(sys.stdlib_module_names)
INSTALLED = re.compile(r"/(site|dist)-packages(/|$)")
STDLIB = tuple({os.path.realpath(sysconfig.get_path(name)) + "/" for name in ("stdlib", "platstdlib")})


def is_installed(path):
    return bool(INSTALLED.search(path)) or os.path.realpath(path).startswith(STDLIB)


class SourceModule:
    """A module's file as text and syntax tree. `statements` are its top-level statements but the main block's."""

    def __init__(self, path, shown):
        self.path, self.shown = path, shown
        self.source = read_source(path, shown)
        self.lines = self.source.encode().splitlines(keepends=True)
        try:
            self.tree = ast.parse(self.source)
        except SyntaxError as error:
            version = ".".join(map(str, sys.version_info[:2]))
            raise Problem(f"{shown} line {error.lineno}: {error.msg} (read by Python {version})") from None
        nodes = [node for node in self.tree.body if not is_main_block(node)]
        self.statements = [read_statement(node) for node in nodes]
        self.main_binds = bound_names(node for node in self.tree.body if is_main_block(node))[0]
        self.binders = {}
        self.typing_imports = {}  # name -> the import statement for type checkers that alone binds it
        for statement in self.statements:
            binds = statement.binds
            if is_typing_block(statement.node):
                binds = bound_names(statement.node.orelse)[0]
                self.typing_imports.update(names_of_imports(statement.node.body))
            for name in binds:
                self.binders.setdefault(name, []).append(statement)
        imports = [s.node for s in self.statements if s.is_import]
        imports += [node for s in self.statements if is_typing_block(s.node) for node in s.node.body]
        self.stars = [node for node in imports if isinstance(node, ast.ImportFrom) and node.names[0].name == "*"]

    def exported(self):
        """Returns the names that `from this import *` binds here, or None for every name without an underscore."""
        for statement in self.binders.get("__all__", []):
            value = getattr(statement.node, "value", None)
            if isinstance(value, (ast.List, ast.Tuple)) and all(isinstance(e, ast.Constant) for e in value.elts):
                return {element.value for element in value.elts}
        return None

    def names(self):
        """Returns the names of its classes and functions."""
        kinds = (ast.ClassDef, ast.FunctionDef)
        return [statement.node.name for statement in self.statements if isinstance(statement.node, kinds)]


def read_source(path, shown):
    try:
        with open(path, "rb") as file:
            data = file.read(MAX_BYTES + 1)
        if len(data) > MAX_BYTES:
            raise Problem(f"{shown}: is larger than {MAX_BYTES >> 20} MiB")
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        return data.decode(encoding).replace("\r\n", "\n").replace("\f", " ")
    except OSError as error:
        raise Problem(f"{shown}: {error.strerror}") from None
    except (SyntaxError, UnicodeDecodeError) as error:
        raise Problem(f"{shown}: is no Python text: {error}") from None


def is_main_block(node):
    """Whether the statement is `if __name__ == "__main__":`."""
    return (isinstance(node, ast.If) and isinstance(node.test, ast.Compare)
            and any(isinstance(each, ast.Name) and each.id == "__name__" for each in ast.walk(node.test))
            and any(isinstance(each, ast.Constant) and each.value == "__main__" for each in ast.walk(node.test)))


def is_typing_block(node):
    """Whether the statement is `if TYPE_CHECKING:`. Packages that load lazily say there what they hold."""
    if not isinstance(node, ast.If) or isinstance(node.test, ast.UnaryOp):
        return False
    tests = node.test.values if isinstance(node.test, ast.BoolOp) else [node.test]
    return any(getattr(test, "id", getattr(test, "attr", "")) == "TYPE_CHECKING" for test in tests)


def names_of_imports(nodes):
    """Returns the names that import statements bind below these nodes, and the statements."""
    found = {}
    for node in nodes:
        for inner in ast.walk(node):
            if isinstance(inner, ast.ImportFrom):
                found.update({imported_name(alias): inner for alias in inner.names})
    return found


class Finder:
    def __init__(self, folder, roots, is_alone=False):
        self.folder = folder  # relative paths begin here, and messages shorten paths below it
        self.is_alone = is_alone  # the module is a text that lies in no folder, so its relative imports lead nowhere
        self.roots = list(dict.fromkeys(os.path.abspath(os.path.join(folder, root)) for root in roots))
        self.modules = {}

    def shown(self, path):
        inside = os.path.relpath(path, self.folder)
        if not inside.startswith(".."):
            return inside
        found = INSTALLED.search(path)
        return path[found.end():] if found else path

    def load(self, path):
        path = os.path.abspath(path)
        if path not in self.modules:
            self.modules[path] = SourceModule(path, self.shown(path))
        return self.modules[path]

    def load_target(self, target):
        """Returns the module that `FILE.py` or `package.module` names, and makes its folders the first to search."""
        if target.endswith(".py") or "/" in target:
            path = os.path.abspath(os.path.join(self.folder, target))
            if not os.path.isfile(path):
                raise Problem(f"{target}: No such file")
        else:
            path = self.file_of(target)
            if path is None:
                raise Problem(f"{target}: no module of this name is below {self.folder}, on PYTHONPATH or in the "
                              f"packages of {sys.executable}; give the path of its file instead")
            if not path.endswith(".py"):
                what = "a folder without __init__.py" if os.path.isdir(path) else "not written in Python"
                raise Problem(f"{target}: is {what}; name a module that defines the class or function")
        top = os.path.dirname(path)
        while os.path.exists(os.path.join(top, "__init__.py")):
            top = os.path.dirname(top)
        self.roots = list(dict.fromkeys([top, os.path.dirname(path), *self.roots]))
        return self.load(path)

    def file_of(self, dotted):
        """Returns the .py file of a module, or of a package its __init__.py (or its folder), or None."""
        parts = dotted.split(".")
        for root in self.roots if parts[0] not in NEVER_OWN else []:
            found = descend(root, parts)
            if found:
                return found
            if descend(root, parts[:1]):  # the package is the user's own, but has no such module
                return None
        try:
            spec = next(filter(None, (finder.find_spec(parts[0], None) for finder in sys.meta_path)), None)
        except (ImportError, ValueError):
            return None
        if spec is None:
            return None
        if len(parts) == 1:
            return spec.origin if spec.has_location else next(iter(spec.submodule_search_locations or []), "built-in")
        for folder in spec.submodule_search_locations or []:
            found = descend(folder, parts[1:])
            if found:
                return found
        return None

    def exists(self, dotted):
        return self.file_of(dotted.split(".")[0]) is not None

    def package_of(self, module):
        """Returns the topmost folder of the package that the module's file belongs to, or of its folder."""
        folder = os.path.dirname(module.path)
        while os.path.exists(os.path.join(os.path.dirname(folder), "__init__.py")):
            folder = os.path.dirname(folder)
        return folder

    def relative(self, module, node):
        """Returns the file or folder that a relative import leads to, or None."""
        if self.is_alone and not is_installed(module.path):
            return None
        folder = os.path.dirname(module.path)
        for _ in range(node.level - 1):
            folder = os.path.dirname(folder)
        return descend(folder, node.module.split(".")) if node.module else descend(folder, [])

    def dotted(self, path):
        """Returns the absolute name of an installed module's file."""
        found = INSTALLED.search(path)
        name = path[found.end():].removesuffix(".py").removesuffix("/__init__")
        return name.replace("/", ".")

    def submodule(self, path, name):
        """Returns the file of a package's module, where `path` is the package's __init__.py or folder."""
        folder = path if os.path.isdir(path) else os.path.dirname(path)
        is_package = os.path.isdir(path) or os.path.basename(path) == "__init__.py"
        return descend(folder, [name]) if is_package else None


def descend(folder, parts):
    """Returns the file of the module `parts` below a folder. A folder without __init__.py stands for itself."""
    for part in parts[:-1]:
        folder = os.path.join(folder, part)
    last = os.path.join(folder, parts[-1]) if parts else folder
    for path in (os.path.join(last, "__init__.py"), last + ".py"):
        if os.path.isfile(path):
            return path
    for suffix in importlib.machinery.EXTENSION_SUFFIXES:
        if parts and os.path.isfile(last + suffix):
            return last + suffix
    return last if os.path.isdir(last) else None


def bound_by_import(node, name):
    """Returns the alias of an import statement that binds the name."""
    return next(alias for alias in node.names if imported_name(alias) == name)
