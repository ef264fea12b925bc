"""Lays code out as people do: short lines, constants together, no blank line below the head of a class."""

import ast
import re

WIDTH = 118


def wrapped(text):
    """Breaks lines that are too long at the commas of their last call, or of a function's parameters."""
    return "\n".join(part for line in text.split("\n") for part in broken(line))


def broken(line):
    if len(line) <= WIDTH:
        return [line]
    begin = last_group(line)
    if begin is None:
        return [line]
    end = closing(line, begin)
    parts = split_at_commas(line[begin + 1:end])
    indent = " " * (len(line) - len(line.lstrip()) + 8)
    lines, current = [], line[:begin + 1]
    for at, part in enumerate(parts):
        piece = part + (", " if at + 1 < len(parts) else line[end:])
        if len(current) + len(piece.rstrip()) > WIDTH and current.strip() and not current.endswith("("):
            lines.append(current.rstrip())
            current = indent
        current += piece
    return [*lines, current.rstrip()]


def last_group(line):
    """Where the outermost parenthesis begins that holds the last commas of the line; None if there is none."""
    depth, begin, found = 0, None, None
    for at, char in enumerate(line):
        if char in "([":
            if depth == 0 and char == "(":
                begin = at
            depth += 1
        elif char in ")]":
            depth -= 1
            if depth == 0 and begin is not None and "," in line[begin:at]:
                found, begin = begin, None
    return None if "'" in line or '"' in line else found


def closing(line, begin):
    depth = 0
    for at in range(begin, len(line)):
        depth += line[at] in "(["
        depth -= line[at] in ")]"
        if depth == 0:
            return at
    return len(line)


def split_at_commas(text):
    parts, depth, start = [], 0, 0
    for at, char in enumerate(text):
        depth += char in "(["
        depth -= char in ")]"
        if char == "," and depth == 0:
            parts.append(text[start:at].strip())
            start = at + 1
    return [*parts, text[start:].strip()]


def close_class(text):
    """`class A:` and its first method follow each other, as people write them."""
    return re.sub(r"^(class [^\n]*:)\n\n", r"\1\n", text, flags=re.M)


def joined(nodes):
    """Top-level definitions: constants one below the other, functions and classes apart."""
    text = ""
    for before, node in zip([None, *nodes], nodes):
        own = wrapped(close_class(ast.unparse(ast.fix_missing_locations(node))))
        both_plain = isinstance(before, (ast.Assign, ast.AnnAssign)) and isinstance(node, (ast.Assign, ast.AnnAssign))
        text += ("" if before is None else "\n" if both_plain else "\n\n\n") + own
    return text
