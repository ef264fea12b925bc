"""Closure: the statements and imports that a name of a module needs, through all files of the user's code."""

import ast

from .names import Definition, External, Folder
from .problem import Problem
from .references import FUNCTIONS

COMMAND_LINE = {"parse_args", "parse_known_args"}


class Closure:
    def __init__(self, names):
        self.names = names
        self.modules = []      # in the order in which the closure reached them
        self.included = {}     # id of a statement -> (module, statement)
        self.definitions = {}  # Definition -> names that it must not take, because a function that uses it binds them
        self.externals = {}    # External -> lines such as "import torch.nn.functional"
        self.owns = set()      # builtins, and names that nothing binds
        self.stars = {}        # lines "from torch import *"
        self.meanings = {}     # id of a node of a reference -> (what it means, how many names of its chain)
        self.imported = {}     # id of a statement -> what imports within it bring, and whether only later
        self.waiting = []

    def include_definition(self, definition):
        if definition in self.definitions:
            return
        self.definitions[definition] = set()
        module = definition.module
        if module not in self.modules:
            self.modules.append(module)
        for statement in module.binders[definition.name]:
            self.include(module, statement)

    def include(self, module, statement):
        if id(statement) not in self.included:
            self.included[id(statement)] = (module, statement)
            self.waiting.append((module, statement))

    def close(self):
        """Follows everything that the included statements refer to."""
        while self.waiting:
            while self.waiting:
                self.follow(*self.waiting.pop(0))
            self.include_changes()

    def follow(self, module, statement):
        if not statement.is_import:
            refuse_command_line(module, statement)
        for name in statement.binds | (statement.sets & module.binders.keys()):
            if name != "*":
                self.include_definition(Definition(module, name))
        strict = is_decorated(statement.node)
        for reference in statement.references:
            if reference.is_annotation and not strict:
                self.follow_annotation(module, reference)
            else:
                self.follow_reference(module, reference)
        for node, kind in statement.imports:
            self.follow_import(module, statement, node, kind)

    def follow_reference(self, module, reference):
        meaning, used = self.names.resolve_chain(module, reference.names)
        self.meanings[id(reference.nodes[0])] = (meaning, used)
        if isinstance(meaning, Folder):
            shown = self.names.finder.shown(meaning.path)
            raise Problem(f"{module.shown} line {reference.line} uses the module {'.'.join(reference.names[:used])} ({shown}) "
                          "as a value; a task is one file, so name what it uses of the module")
        if isinstance(meaning, Definition):
            self.include_definition(meaning)
            if used > 1 or meaning.name != reference.names[0]:
                self.definitions[meaning] |= reference.hidden
        elif isinstance(meaning, External):
            lines = self.externals.setdefault(meaning, {})
            if used == 1:
                lines.update(dict.fromkeys(submodule_lines(module, reference.names)))
        else:
            self.follow_own(module, reference, meaning)

    def follow_own(self, module, reference, meaning):
        if meaning.name in module.main_binds and not reference.is_ambiguous:
            raise Problem(f"{module.shown} line {reference.line} uses `{meaning.name}`, which only the block "
                          '`if __name__ == "__main__"` sets; a task does not run that block')
        self.owns.add(meaning.name)
        self.stars.update(dict.fromkeys(self.names.star_lines(module)))

    def follow_annotation(self, module, reference):
        """Annotations are text in a task. It only keeps imports for them, which tell a reader what they mean."""
        if reference.names[0] in module.typing_imports:
            return
        try:
            meaning, used = self.names.resolve_chain(module, reference.names)
        except Problem:
            return
        if isinstance(meaning, External):
            self.externals.setdefault(meaning, {})
        self.meanings[id(reference.nodes[0])] = (meaning, used)

    def follow_import(self, module, statement, node, kind):
        """Follows an import statement within another statement. The task's text takes other words for it."""
        if isinstance(node, ast.Import):
            for alias in node.names:
                path = self.names.finder.file_of(alias.name)
                if path and self.names.is_inlined(path):
                    raise Problem(f"{module.shown} line {node.lineno}: `{ast.unparse(node)}` imports a module of your own "
                                  "within another statement; import it at the top of the file")
            return
        path, dotted = self.names.file_of_import_or_none(module, node)
        if path is None or dotted is not None:
            return
        for alias in node.names:
            found = self.names.member(path, alias.name)
            if not isinstance(found, Definition):
                raise Problem(f"{module.shown} line {node.lineno}: `{ast.unparse(node)}` imports {alias.name} within another "
                              "statement; import it at the top of the file")
            self.imported.setdefault(id(statement), []).append((found, kind == "function"))
            self.include_definition(found)

    def include_changes(self):
        """Includes the statements that change something included, as in `TABLE["gelu"] = GELU`."""
        for module in self.modules:
            for statement in module.statements:
                if id(statement) in self.included:
                    continue
                changed = [name for name in statement.changes if name and self.is_included(module, name)]
                called = [name for name in statement.calls_on if name and self.is_included_value(module, name)]
                if changed or called:
                    self.include(module, statement)

    def is_included(self, module, name):
        try:
            return self.names.resolve(module, name) in self.definitions
        except Problem:
            return False

    def is_included_value(self, module, name):
        binders = module.binders.get(name, [])
        is_value = any(isinstance(each.node, (ast.Assign, ast.AnnAssign)) for each in binders)
        return is_value and self.is_included(module, name)


def is_decorated(node):
    """Whether a decorator may read the annotations of the function or class, as dataclass does."""
    return bool(getattr(node, "decorator_list", None))


def refuse_command_line(module, statement):
    if isinstance(statement.node, (*FUNCTIONS, ast.ClassDef)):
        return
    for node in ast.walk(statement.node):
        if isinstance(node, ast.Call) and getattr(node.func, "attr", "") in COMMAND_LINE:
            raise Problem(f"{module.shown} line {node.lineno} reads the command line (`{ast.unparse(node)}`), and the module "
                          "uses the result; a task has no command line, so give the module its values by --init")


def submodule_lines(module, names):
    """Returns lines such as "import torch.utils.checkpoint" for a chain of names that needs them."""
    for statement in module.binders.get(names[0], []):
        if isinstance(statement.node, ast.Import):
            for alias in statement.node.names:
                parts = alias.name.split(".")
                if not alias.asname and len(parts) > 1 and names[:len(parts)] == parts:
                    yield f"import {alias.name}"
