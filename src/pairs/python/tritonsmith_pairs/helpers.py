"""Functions that Inductor's kernels take from torch._inductor, written out for a file that has only Triton.

A kernel of Inductor's calls `triton_helpers.max2(x, 1)`. Here that becomes `tl.reduce(x, 1, larger)`, and the file gets `larger`.
"""

import ast

from .nodes import walk

# name in the file -> (its source, names of the others that it needs)
SOURCES = {
    "larger": ('''
@triton.jit
def larger(a, b):
    return tl.maximum(a, b, propagate_nan=tl.PropagateNan.ALL)
''', ()),
    "smaller": ('''
@triton.jit
def smaller(a, b):
    return tl.minimum(a, b, propagate_nan=tl.PropagateNan.ALL)
''', ()),
    "either": ('''
@triton.jit
def either(a, b):
    return a | b
''', ()),
    "product_of": ('''
@triton.jit
def product_of(a, b):
    return a * b
''', ()),
    "larger_with_index": ('''
@triton.jit
def larger_with_index(value, index, other, other_index):
    """NaN is the largest value; of equal values the first counts."""
    nan, other_nan = value != value, other != other
    wins = (value > other) | (nan & (other_nan == 0))
    ties = (value == other) | (nan & other_nan)
    keep = wins | (ties & (index < other_index))
    return tl.where(keep, value, other), tl.where(keep, index, other_index)
''', ()),
    "smaller_with_index": ('''
@triton.jit
def smaller_with_index(value, index, other, other_index):
    """NaN is the smallest value; of equal values the first counts."""
    nan, other_nan = value != value, other != other
    wins = (value < other) | (nan & (other_nan == 0))
    ties = (value == other) | (nan & other_nan)
    keep = wins | (ties & (index < other_index))
    return tl.where(keep, value, other), tl.where(keep, index, other_index)
''', ()),
    "merged_moments": ('''
@triton.jit
def merged_moments(mean, m2, weight, other_mean, other_m2, other_weight):
    """Joins the mean, the sum of squared differences and the count of two sets."""
    total = weight + other_weight
    share = tl.where(total == 0.0, 0.0, other_weight / total)
    delta = other_mean - mean
    return mean + delta * share, m2 + other_m2 + delta * delta * weight * share, total
''', ()),
    "add_to_moments": ('''
@triton.jit
def add_to_moments(value, mean, m2, weight, first):
    """Adds one value to each running mean and sum of squared differences."""
    new_weight = weight + 1.0
    delta = value - mean
    new_mean = mean + delta / new_weight
    new_m2 = m2 + delta * (value - new_mean)
    if first:
        new_mean, new_m2, new_weight = value, 0.0 * m2, 0.0 * weight + 1.0
    return new_mean, new_m2, new_weight
''', ()),
    "floor_divide": ('''
@triton.jit
def floor_divide(a, b):
    quotient = a // b
    return tl.where(((a < 0) != (b < 0)) & (a % b != 0), quotient - 1, quotient)
''', ()),
    "floor_remainder": ('''
@triton.jit
def floor_remainder(a, b):
    rest = a % b
    return tl.where((rest != 0) & ((rest < 0) != (b < 0)), rest + b, rest)
''', ()),
    "plus": ('''
@triton.jit
def plus(a, b):
    return a + b
''', ()),
}

# triton_helpers.X(args) -> an expression in which A, B, ... stand for the arguments
CALLS = {
    "maximum": "larger(A, B)", "minimum": "smaller(A, B)",
    "max2": "tl.reduce(A, B, larger)", "min2": "tl.reduce(A, B, smaller)",
    "any": "tl.reduce(A, B, either)", "prod": "tl.reduce(A, B, product_of)",
    "max_with_index": "tl.reduce((A, B), C, larger_with_index)",
    "min_with_index": "tl.reduce((A, B), C, smaller_with_index)",
    "maximum_with_index": "larger_with_index(A, B, C, D)", "minimum_with_index": "smaller_with_index(A, B, C, D)",
    "welford": "tl.reduce((A, B, C), D, merged_moments)",
    "welford_combine": "merged_moments(A, B, C, D, E, F)",
    "welford_reduce": "add_to_moments(A, B, C, D, E)",
    "div_floor_integer": "floor_divide(A, B)", "remainder_integer": "floor_remainder(A, B)",
    "promote_to_tensor": "A",
}


def shared_name(function):
    """The name in SOURCES of a function (a, b) that returns a + b or a * b, else None."""
    arguments = [argument.arg for argument in function.args.args]
    values, result = {}, None
    for statement in function.body:
        if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
            values[statement.targets[0].id] = statement.value
        if isinstance(statement, ast.Return):
            result = values.get(statement.value.id) if isinstance(statement.value, ast.Name) else statement.value
    if len(arguments) != 2 or not isinstance(result, ast.BinOp) or not isinstance(result.left, ast.Name) \
            or not isinstance(result.right, ast.Name) or [result.left.id, result.right.id] != arguments:
        return None
    return {ast.Add: "plus", ast.Mult: "product_of"}.get(type(result.op))


class Replace(ast.NodeTransformer):
    """Replaces calls of triton_helpers, and what only has another name."""

    def __init__(self):
        self.needed = []
        self.unknown = set()

    def visit_Call(self, node):
        self.generic_visit(node)
        name = dotted(node.func)
        if name.startswith("triton_helpers."):
            return self.helper(name.removeprefix("triton_helpers."), node)
        if name == "tl.load" or name == "tl.store":
            node.keywords = [keyword for keyword in node.keywords if keyword.arg != "eviction_policy"]
            if node.args and isinstance(node.args[-1], ast.Constant) and node.args[-1].value is None:
                node.args.pop()
        return node

    def visit_Attribute(self, node):
        self.generic_visit(node)
        if isinstance(node.value, ast.Name) and node.value.id == "tl_math":
            return ast.Attribute(ast.Name("tl", ast.Load()), node.attr, node.ctx)
        return node

    def helper(self, name, node):
        if name == "select_one":  # the element of a scan that the mask names, which ends a block
            axis = next((k.value for k in node.keywords if k.arg == "dim"), None)
            if isinstance(axis, ast.UnaryOp) and isinstance(axis.op, ast.USub):
                node.keywords = [ast.keyword("axis", ast.Constant(1)), ast.keyword("keep_dims", ast.Constant(True))]
                chosen = ast.parse("tl.where(B, A, 0.0)", mode="eval").body
                return ast.Call(ast.parse("tl.sum", mode="eval").body,
                                [Substitute(dict(zip("AB", node.args))).visit(chosen)], node.keywords)
        if name not in CALLS or node.keywords:
            self.unknown.add(name)
            return node
        expression = ast.parse(CALLS[name], mode="eval").body
        for used in walk(expression):
            if isinstance(used, ast.Name) and used.id in SOURCES:
                self.need(used.id)
        return Substitute(dict(zip("ABCDEF", node.args))).visit(expression)

    def need(self, name):
        if name not in self.needed:
            self.needed.append(name)


class Substitute(ast.NodeTransformer):
    """Puts expressions in place of names."""

    def __init__(self, expressions):
        self.expressions = expressions

    def visit_Name(self, node):
        return self.expressions.get(node.id, node) if isinstance(node.ctx, ast.Load) else node


def dotted(node):
    """Returns "tl.load" for that expression, and nothing for other expressions."""
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else ""
