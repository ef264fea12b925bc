"""Writes statements of several files as one text, with the names that were chosen for it.

The text of a statement stays as it is, comments included, but for the names that change. Python before 3.12 does not know
where a name within an f-string is. A statement with such a change is written anew from its syntax tree.
"""

import ast
import re
import sys

from .names import Definition, External, Own
from .problem import Problem

KNOWS_FSTRINGS = sys.version_info >= (3, 12)
MAX_COMMENT_LINES = 12


class Edits:
    """The changes to one statement: nodes and the text that replaces them."""

    def __init__(self):
        self.of_nodes = []  # (first node, last node, text)
        self.of_definitions = []  # (node, old name, new name)
        self.in_fstring = False

    def __bool__(self):
        return bool(self.of_nodes or self.of_definitions)


def edits_of(module, statement, closure, chosen):
    edits = Edits()
    for reference in statement.references:
        meaning, used = closure.meanings.get(id(reference.nodes[0]), (None, 0))
        old = ".".join(reference.names[:used])
        if meaning == Own("__file__"):
            new = repr(module.path)
        elif isinstance(meaning, External) and meaning not in chosen.of:
            continue
        else:
            new = chosen.name_of(meaning, old if not isinstance(meaning, Definition) else None)
        if new is None or new == old:
            continue
        if reference.is_ambiguous:
            raise Problem(f"{module.shown} line {reference.line}: `{old}` clashes with another `{old}` of the files that the "
                          "task joins; give one of them another name")
        edits.of_nodes.append((reference.nodes[0], reference.nodes[used - 1], new))
        edits.in_fstring |= reference.in_fstring
    for name, node in statement.defines:
        new = chosen.name_of(Definition(module, name), name)
        if new != name:
            edits.of_definitions.append((node, name, new))
    for node, kind in statement.imports:
        new = text_of_import(module, node, kind, closure, chosen)
        if new is not None:
            edits.of_nodes.append((node, node, new))
    return edits


def text_of_import(module, node, kind, closure, chosen):
    """Returns what replaces an import within a statement, or None if it stays."""
    if isinstance(node, ast.Import):
        return None
    path, dotted = closure.names.file_of_import_or_none(module, node)
    if path is None or (dotted is not None and not node.level):
        return None
    if dotted is not None:
        return ast.unparse(ast.ImportFrom(dotted, node.names, 0))
    parts = []
    for alias in node.names:
        bound = alias.asname or alias.name
        if kind == "module":
            bound = chosen.name_of(Definition(module, bound), bound)
        found = chosen.of[closure.names.member(path, alias.name)]
        if found != bound or kind == "class":
            parts.append(f"{bound} = {found}")
    return "; ".join(parts) or "pass"


def written(module, statement, edits):
    """Returns the statement's text with the changes, and the comment right above it."""
    node = statement.node
    if edits and ((edits.in_fstring and not KNOWS_FSTRINGS) or not can_edit(edits)):
        return ast.unparse(ast.fix_missing_locations(Rewrite(edits).visit(node)))
    first = min([node.lineno, *(each.lineno for each in getattr(node, "decorator_list", []))])
    lines = module.lines
    start = sum(map(len, lines[:first - 1]))
    if not getattr(node, "decorator_list", []):
        start += node.col_offset
    end = offset(lines, node.end_lineno, node.end_col_offset)
    changes = [(offset(lines, a.lineno, a.col_offset), offset(lines, b.end_lineno, b.end_col_offset), new)
               for a, b, new in edits.of_nodes]
    data = b"".join(lines)
    for defined, old, new in edits.of_definitions:
        at = offset(lines, defined.lineno, defined.col_offset)
        found = re.compile(rb"(?:async\s+)?(?:def|class)\s+(" + old.encode() + rb")\b").match(data, at)
        changes.append((*found.span(1), new))
    for begin, finish, new in sorted(changes, reverse=True):
        data = data[:begin] + new.encode() + data[finish:]
        end += len(new.encode()) - (finish - begin)
    return comment_above(lines, first) + data[start:end].decode()


def can_edit(edits):
    return all(isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) for node, _, _ in edits.of_definitions)


def offset(lines, line, column):
    return sum(map(len, lines[:line - 1])) + column


def comment_above(lines, first):
    """Returns the comment right above a line."""
    begin = first
    while begin > 1 and lines[begin - 2].startswith(b"#") and not lines[begin - 2].startswith(b"#!"):
        begin -= 1
    if first - begin > MAX_COMMENT_LINES:
        begin = first
    return b"".join(lines[begin - 1:first - 1]).decode()


class Rewrite(ast.NodeTransformer):
    """Makes the changes in the syntax tree."""

    def __init__(self, edits):
        self.nodes = {id(last): new for _, last, new in edits.of_nodes}
        self.definitions = {}
        for node, old, new in edits.of_definitions:
            self.definitions.setdefault(id(node), []).append((old, new))

    def visit(self, node):
        if id(node) in self.nodes:
            new = ast.parse(self.nodes[id(node)]).body
            if isinstance(node, ast.stmt):
                return new
            new = new[0].value
            if isinstance(new, ast.Name):
                new.ctx = node.ctx
            return new
        for old, new in self.definitions.get(id(node), []):
            if isinstance(node, ast.Global):
                node.names = [new if name == old else name for name in node.names]
            else:
                node.name = new
        return self.generic_visit(node)
