"""walk(node) lists the nodes of a syntax tree as ast.walk does, and faster. Tidying asks for the nodes of a kernel many times."""

from ast import AST, Del, Load, Store

SILENT = (Load, Store, Del)  # they say how a name is used, and hold nothing


def walk(node):
    """Returns the node and all nodes below it, outer ones first, without Load, Store and Del."""
    found = [node]
    for node in found:
        for field in node._fields:
            value = getattr(node, field, None)
            if value.__class__ is list:
                found += [child for child in value if isinstance(child, AST)]
            elif isinstance(value, AST) and not isinstance(value, SILENT):
                found.append(value)
    return found
