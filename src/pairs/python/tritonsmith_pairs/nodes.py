"""Walks syntax trees. Writing a solution walks thousands of times, and ast.walk is several times as slow."""

import ast

# Fields that hold no nodes, or only contexts and signs of operators, which have nothing below them.
PLAIN = {"ctx", "op", "ops", "id", "attr", "arg", "name", "asname", "module", "level", "kind", "type_comment", "conversion", "simple"}
FIELDS = {each: tuple(field for field in each._fields if field not in PLAIN) for each in vars(ast).values()
          if isinstance(each, type) and issubclass(each, ast.AST)} | {ast.Constant: ()}


def walk(node):
    """Yields the node and all nodes below it in the order of ast.walk, but no contexts and no signs of operators."""
    waiting = [node]
    for node in waiting:
        for field in FIELDS[type(node)]:
            value = getattr(node, field, None)
            if type(value) is list:
                waiting.extend([each for each in value if isinstance(each, ast.AST)])
            elif isinstance(value, ast.AST):
                waiting.append(value)
        yield node
