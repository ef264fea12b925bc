"""Reads the constructor's arguments from a task's own get_init_inputs, without running it."""

import ast

from .problem import Problem

MAX_DEPTH = 20
PLAIN = (ast.Constant, ast.List, ast.Tuple, ast.Dict, ast.UnaryOp, ast.USub, ast.BinOp, ast.Add, ast.Sub, ast.Mult, ast.Div,
         ast.FloorDiv, ast.Mod, ast.Pow, ast.Load, ast.Attribute, ast.Name)


class Constants(ast.NodeTransformer):
    """Puts the values of constants in place of their names."""

    def __init__(self, tree):
        self.values, self.depth = {}, 0
        for node in tree.body:
            targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
            for target in targets:
                if isinstance(target, ast.Name) and getattr(node, "value", None) is not None:
                    self.values[target.id] = node.value

    def visit_Name(self, node):
        if node.id == "torch":
            return node
        if node.id not in self.values or self.depth > MAX_DEPTH:
            raise Problem(f"get_init_inputs() uses `{node.id}`, which is no constant of the module")
        self.depth += 1
        value = self.visit(self.values[node.id])
        self.depth -= 1
        return value


def constructor_arguments(source):
    """Returns the positional arguments as text, and the keywords as the items of a dict."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError) as error:
        raise Problem(f"the module does not parse: {getattr(error, 'msg', error)}") from None
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "get_init_inputs"]
    returns = [node.value for node in functions[-1].body if isinstance(node, ast.Return)] if functions else []
    if not functions:
        return {"arguments": "", "keywords": ""}
    if len(returns) != 1 or returns[0] is None:
        raise Problem("get_init_inputs() is no single return of plain values")
    value = Constants(tree).visit(returns[0])
    strange = next((node for node in ast.walk(value) if not isinstance(node, PLAIN)), None)
    if strange is not None or not isinstance(value, (ast.List, ast.Tuple)):
        raise Problem("get_init_inputs() returns more than plain values")
    items = value.elts
    is_pair = len(items) == 2 and isinstance(items[0], (ast.List, ast.Tuple)) and isinstance(items[1], ast.Dict)
    positional, keywords = (items[0].elts, items[1]) if is_pair else (items, ast.Dict([], []))
    return {"arguments": ", ".join(map(ast.unparse, positional)),
            "keywords": ", ".join(f"{ast.unparse(key)}: {ast.unparse(each)}" for key, each in zip(keywords.keys, keywords.values))}
