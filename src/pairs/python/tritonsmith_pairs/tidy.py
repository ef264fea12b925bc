"""Makes the body of a generated kernel readable without changing what it computes.

Inductor writes one operation a line, into tmp0, tmp1, ... Here constants become literals, values that are used once move into
the expression that uses them, index variables with two names keep one, and the rest gets names that say what it is.
"""

import ast
import keyword
import math
import operator
import re

from .helpers import dotted
from .nodes import walk

WIDTH = 72  # an expression grows no longer than this by taking others in
LINE = 108  # nor a statement than this
SIZES = re.compile(r"([xyz]|r\d+_)?numel$")
COMPARISONS = {ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge}
NAMES_OF_OPERATORS = {ast.Sub: "difference", ast.Mult: "scaled", ast.Div: "quotient", ast.Add: "added"}
NAMES_OF_CALLS = {"tl.load": "value", "tl.abs": "magnitude", "tl.log": "logarithm", "libdevice.log": "logarithm",
                  "tl.sqrt_rn": "root", "libdevice.sqrt": "root", "libdevice.log1p": "logarithm", "libdevice.erf": "error",
                  "libdevice.sin": "sine", "tl.sin": "sine", "tl.cos": "cosine", "libdevice.pow": "power", "tl.sum": "total", "libdevice.exp": "exponential", "tl.exp": "exponential",
                  "libdevice.rsqrt": "scale", "libdevice.tanh": "hyperbolic", "tl.sigmoid": "gate", "tl.dot": "product",
                  "tl.where": "chosen", "larger": "clipped", "smaller": "clipped"}


def parts(node):
    return ast.unparse(node)


def blocks_of(node):
    """Yields every list of statements, outer ones first. Expressions hold none."""
    for name in ("body", "orelse"):
        block = getattr(node, name, None)
        if isinstance(block, list):
            yield block
            for statement in block:
                yield from blocks_of(statement)


def assigned_names(function):
    """Returns how often each name is assigned, in whatever way."""
    counts = {}
    for node in walk(function):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            counts[node.id] = counts.get(node.id, 0) + 1
    for argument in function.args.args:
        counts[argument.arg] = counts.get(argument.arg, 0) + 1
    return counts


class Readers:
    """Which names a statement reads. Answers are kept, since most statements are asked about again and again."""

    def __init__(self):
        self.known = {}

    def reads(self, statement, name):
        if statement not in self.known:
            self.known[statement] = set(loaded_names_of(statement))
        return name in self.known[statement]

    def of(self, name, block):
        """Yields the statements that read the name: of a loop or a condition, those within, unless its first line reads it."""
        for statement in block:
            if not self.reads(statement, name):
                continue
            first_line = getattr(statement, "iter", None) or getattr(statement, "test", None)
            if first_line is None or name in loaded_names_of(first_line):
                yield statement
            else:
                yield from self.of(name, statement.body)
                yield from self.of(name, statement.orelse)

    def replaced(self, name, expression):
        """Every reader of the name reads the expression's names instead."""
        names = set(loaded_names_of(expression))
        for known in self.known.values():
            if name in known:
                known.remove(name)
                known |= names


class ReplaceName(ast.NodeTransformer):
    def __init__(self, name, expression):
        self.name, self.expression = name, expression

    def visit_Name(self, node):
        return self.expression if node.id == self.name and isinstance(node.ctx, ast.Load) else node


def single_target(statement):
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1 and isinstance(statement.targets[0], ast.Name):
        return statement.targets[0].id
    return None


def annotated_target(statement):
    if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
        return statement.target.id
    return None


def is_literal(node):
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        node = node.operand
    return isinstance(node, ast.Constant) and isinstance(node.value, (int, float)) and not isinstance(node.value, bool)


def literal_of(node):
    """`tl.full([1], 0.5, tl.float32)` is the literal 0.5, because a literal has that type wherever it has one of its own."""
    if is_literal(node):
        return node
    if isinstance(node, ast.Call) and dotted(node.func) == "tl.full" and len(node.args) == 3 and is_one(node.args[0]) \
            and is_literal(node.args[1]):
        kind, value = dotted(node.args[2]), ast.literal_eval(node.args[1])
        if kind == "tl.float32" and math.isfinite(value):
            return number(float(value))
        if kind in ("tl.int32", "tl.int64") and isinstance(value, int):
            return number(value)
    return None


class Peephole(ast.NodeTransformer):
    """96 as a number of int32 that is cast to float32 is 96.0; a tensor is broadcast to a shape once; x * 1.0 is x; an offset
    of 0 and the slice [:] are nothing."""

    def visit_Compare(self, node):
        self.generic_visit(node)
        compare = COMPARISONS.get(type(node.ops[0])) if len(node.ops) == 1 else None
        both = [node.left, *node.comparators]
        if compare and all(isinstance(each, ast.Constant) and type(each.value) is int for each in both):
            return ast.Constant(compare(*(each.value for each in both)))
        return node

    def visit_BinOp(self, node):
        self.generic_visit(node)
        if isinstance(node.op, ast.BitAnd):
            for one, other in ((node.left, node.right), (node.right, node.left)):
                if isinstance(one, ast.Constant) and one.value is True:
                    return other
        if isinstance(node.op, (ast.Mult, ast.Div)) and is_number(node.right, 1.0):
            return node.left
        if isinstance(node.op, ast.Add) and is_number(node.right, 0) and isinstance(node.left, ast.Name) \
                and node.left.id.endswith("_ptr"):
            return node.left
        return node

    def visit_Subscript(self, node):
        self.generic_visit(node)
        whole = isinstance(node.slice, ast.Slice) and (node.slice.lower, node.slice.upper, node.slice.step) == (None,) * 3
        return node.value if whole and dotted(getattr(node.value, "func", None)) == "tl.arange" else node

    def visit_Call(self, node):
        self.generic_visit(node)
        if isinstance(node.func, ast.Attribute) and node.func.attr == "to" and is_literal(node.func.value) \
                and len(node.args) == 1 and dotted(node.args[0]) == "tl.float32":
            return number(float(ast.literal_eval(node.func.value)))
        if dotted(node.func) == "tl.broadcast_to" and isinstance(node.args[0], ast.Call) \
                and dotted(node.args[0].func) == "tl.broadcast_to" and parts(node.args[0].args[1]) == parts(node.args[1]):
            return node.args[0]
        return node


def is_number(node, value):
    return isinstance(node, ast.Constant) and type(node.value) is type(value) and node.value == value


def number(value):
    node = ast.Constant(abs(value))
    return ast.UnaryOp(ast.USub(), node) if value < 0 else node


def is_one(node):
    return isinstance(node, ast.List) and all(isinstance(e, ast.Constant) and e.value == 1 for e in node.elts)


def allows_literal(parent, child):
    """A literal takes the type of a tensor beside it in arithmetic and comparisons. Elsewhere it becomes a tensor of its own
    type, which is the type that it had. It must never meet another literal, or stand alone where a tensor is demanded."""
    if isinstance(parent, ast.BinOp):
        other = parent.right if parent.left is child else parent.left
        return not is_literal(other)
    if isinstance(parent, ast.Compare):
        return len(parent.comparators) == 1 and not is_literal(parent.left if parent.left is not child else parent.comparators[0])
    if isinstance(parent, ast.Call):
        name = dotted(parent.func)
        return (name == "tl.where" and child is not parent.args[0]) or name in ("larger", "smaller", "tl.maximum", "tl.minimum")
    return False


def inline(function):
    changed = True
    while changed:
        changed, readers = False, Readers()
        counts, loads = assigned_names(function), loaded_names_of(function)
        for block in list(blocks_of(function)):
            at = 0
            while at < len(block):
                name = single_target(block[at])
                if name and counts.get(name) == 1 and not SIZES.search(name) and try_inline(
                        function, block, at, name, counts, loads, readers):
                    changed = True  # the next statement is at this index now
                else:
                    at += 1


def loaded_names_of(function):
    """Returns how often each name is read."""
    counts = {}
    for node in walk(function):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            counts[node.id] = counts.get(node.id, 0) + 1
    return counts


def try_inline(function, block, at, name, counts, loads, readers):
    expression = block[at].value
    if isinstance(expression, ast.Name) and counts.get(expression.id) == 1:  # a second name for the same thing
        replace_everywhere(function, block, at, name, expression, readers)
        loads[expression.id] = loads.get(expression.id, 1) - 1 + loads.pop(name, 0)
        counts.pop(name)
        return True
    literal = literal_of(expression)
    if literal is not None:
        reading = list(readers.of(name, function.body))
        casts = casts_to_float(reading)
        is_wide = isinstance(expression, ast.Call) and dotted(expression.args[2]) == "tl.int64"  # it decides the type of a sum
        if not all((allows_literal(parent, child) and not (is_wide and not isinstance(parent, ast.Compare)))
                   or id(parent) in casts for parent, child in loads_of(reading, name)):
            return False
        replace_everywhere(function, block, at, name, literal, readers)
        counts.pop(name)
        loads.pop(name, None)
        return True
    if loads.get(name) != 1 or not is_movable(expression, counts):
        return False
    for later in block[at + 1:]:
        if not readers.reads(later, name):
            continue
        if not isinstance(later, (ast.Assign, ast.Expr)):
            return False
        candidate = ReplaceName(name, expression).visit(copy_of(later))
        if longest(candidate) > WIDTH or len(parts(candidate)) > LINE:
            return False
        index = block.index(later)
        block[index] = candidate
        del block[at]
        counts.pop(name)
        loads.pop(name)
        return True
    return False


def longest(statement):
    value = statement.value
    if isinstance(value, ast.Call) and dotted(value.func) == "tl.store":
        return max(len(parts(argument)) for argument in value.args)
    return len(parts(value))


def copy_of(node):
    return ast.parse(ast.unparse(node)).body[0]


def replace_everywhere(function, block, at, name, expression, readers):
    del block[at]
    for statement in readers.of(name, function.body):
        ReplaceName(name, expression).visit(statement)
    readers.replaced(name, expression)


def casts_to_float(statements):
    """The expressions `x.to` of all calls `x.to(tl.float32)`."""
    return {id(node.func) for statement in statements for node in walk(statement)
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
            and node.func.attr == "to" and len(node.args) == 1 and dotted(node.args[0]) == "tl.float32"}


def loads_of(statements, name):
    return [(parent, child) for statement in statements for parent in walk(statement)
            for child in ast.iter_child_nodes(parent)
            if isinstance(child, ast.Name) and child.id == name and isinstance(child.ctx, ast.Load)]


def is_movable(expression, counts):
    """Whether the expression gives the same at a later statement: it loads nothing, and its names are assigned once."""
    for node in walk(expression):
        if isinstance(node, ast.Call) and dotted(node.func) in ("tl.load", "tl.atomic_add", "tl.rand", "tl.randint64"):
            return False
        if isinstance(node, ast.Name) and counts.get(node.id, 0) > 1:
            return False
    return not isinstance(expression, (ast.Tuple, ast.List))


def drop_unused(function):
    """Removes assignments to names that nothing reads."""
    while True:
        loads = loaded_names_of(function)
        unused = [(block, statement) for block in blocks_of(function) for statement in block
                  if (name := single_target(statement) or annotated_target(statement)) and not loads.get(name)
                  and is_plain(statement.value)]
        if not unused:
            return
        for block, statement in unused:
            block.remove(statement)


def is_plain(expression):
    return not any(isinstance(node, ast.Call) and dotted(node.func).startswith("tl.atomic") for node in walk(expression))


def simplify_masks(function, counts):
    """A mask of `tl.full(..., True, tl.int1)` masks nothing."""
    always = {name for block in blocks_of(function) for statement in block if (name := single_target(statement))
              and counts.get(name) == 1 and is_true(statement.value)}

    class Drop(ast.NodeTransformer):
        def visit_BinOp(self, node):
            self.generic_visit(node)
            if isinstance(node.op, ast.BitAnd):
                for one, other in ((node.left, node.right), (node.right, node.left)):
                    if isinstance(one, ast.Name) and one.id in always:
                        return other
            return node

        def visit_Call(self, node):
            self.generic_visit(node)
            at = {"tl.load": 1, "tl.store": 2}.get(dotted(node.func))
            if at is not None and len(node.args) > at and isinstance(node.args[at], ast.Name) and node.args[at].id in always:
                del node.args[at]
                node.keywords = [keyword for keyword in node.keywords if keyword.arg != "other"]
            return node

    if always:
        Drop().visit(function)


def is_true(node):
    return (isinstance(node, ast.Call) and dotted(node.func) == "tl.full" and len(node.args) == 3
            and isinstance(node.args[1], ast.Constant) and node.args[1].value is True)


def drop_second_names(function):
    """`roffset = column_offset` in each of several loops: a name that is always a second name of the same variable."""
    sources = {}
    for statement in statements_of(function):
        for node in walk(statement) if not isinstance(statement, (ast.For, ast.If, ast.While)) else ():
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                name = single_target(statement)
                source = statement.value.id if name and isinstance(statement.value, ast.Name) else None
                sources.setdefault(node.id, set()).add(source)
    loops = {n.id for node in walk(function) if isinstance(node, ast.For) for n in walk(node.target) if isinstance(n, ast.Name)}
    second = {name: next(iter(found)) for name, found in sources.items()
              if len(found) == 1 and None not in found and name not in loops and re.fullmatch(r"roffset|rindex|r\d+_\d+", name)}
    for block in blocks_of(function):
        block[:] = [s for s in block if single_target(s) not in second]
    for node in walk(function):
        while isinstance(node, ast.Name) and node.id in second:
            node.id = second[node.id]


def tidy(function, loaded_names):
    """Tidies a kernel in place. `loaded_names` says what each pointer's tensor is called."""
    simplify_masks(function, assigned_names(function))
    drop_second_names(function)
    drop_unused(function)
    for _ in range(3):
        inline(function)
        Peephole().visit(function)
        drop_unused(function)
    rename(function, loaded_names)
    rename_indices(function)
    ast.fix_missing_locations(function)


def rename(function, loaded_names):
    taken = {argument.arg for argument in function.args.args} | {"tl", "triton", "libdevice"}
    names = {}
    for node in walk(function):
        if isinstance(node, ast.Name):
            taken.add(node.id)
    for statement in statements_of(function):
        name = single_target(statement)
        if name is None and isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Tuple):
            rename_several(statement, names, taken)
            continue
        if name is None or name in names or not re.fullmatch(r"_?tmp\d+(_\w+)?", name):
            continue
        names[name] = fresh(wish(statement.value, loaded_names), taken)
    for node in walk(function):
        if isinstance(node, ast.Name) and node.id in names:
            node.id = names[node.id]


def rename_several(statement, names, taken):
    """The results of a scan, or of a reduction of mean, squares and weights."""
    targets = statement.targets[0].elts
    called = parts(statement.value)
    wanted = ["scanned"] if "associative_scan" in called else ["mean", "m2", "weight"] if "moments" in called else ["value", "index"]
    for target, word in zip(targets, [*wanted, *("part" for _ in targets)]):
        if isinstance(target, ast.Name) and target.id not in names and re.fullmatch(r"_?tmp\d+(_\w+)?", target.id):
            names[target.id] = fresh(f"new_{word}" if "add_to_moments" in called else word, taken)


def rename_indices(function):
    """The indices along x, y and r0 are offsets, or rows and columns."""
    used = {node.id for node in walk(function) if isinstance(node, ast.Name)} | {a.arg for a in function.args.args}
    alone = sorted(name for name in used if re.fullmatch(r"r0_\d+", name))
    if "r0_index" not in used and len(alone) == 1 and not any(a.arg == alone[0] for a in function.args.args):
        for node in walk(function):  # the only index along the reduced dimension
            if isinstance(node, ast.Name) and node.id == alone[0]:
                node.id = "r0_index"
        used.add("r0_index")
    if "r0_index" in used:
        wanted = {"x": "row", "r0_": "column", "y": "group", "r1_": "inner"}
    elif "yindex" in used:
        wanted = {"x": "column", "y": "row", "z": "plane"}
    else:
        wanted = {}
    names = {f"{axis}{kind}": f"{word}{end}" for axis, word in wanted.items() for kind, end in (
        ("index", "s"), ("mask", "_mask"), ("offset", "_offset"), ("base", "_base"))} or {"xindex": "offsets", "xmask": "mask"}
    for old, new in names.items():
        if old in used and new not in used:
            for node in walk(function):
                if isinstance(node, ast.Name) and node.id == old:
                    node.id = new


def statements_of(node):
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt):
            yield child
            yield from statements_of(child)


def wish(expression, loaded_names):
    while isinstance(expression, (ast.Subscript, ast.Attribute)) or (
            isinstance(expression, ast.Call) and isinstance(expression.func, ast.Attribute) and expression.func.attr == "to"):
        expression = expression.func.value if isinstance(expression, ast.Call) else expression.value
    if isinstance(expression, ast.Compare) or isinstance(expression, ast.BinOp) and isinstance(expression.op, (ast.BitAnd, ast.BitOr)):
        return "inside"
    if isinstance(expression, ast.BinOp):
        return NAMES_OF_OPERATORS.get(type(expression.op), "value")
    if not isinstance(expression, ast.Call):
        return "value"
    name = dotted(expression.func)
    if name == "tl.broadcast_to" and not isinstance(expression.args[0], ast.Name):
        return wish(expression.args[0], loaded_names)
    if name == "tl.load":
        for node in walk(expression.args[0]):
            if isinstance(node, ast.Name) and node.id in loaded_names:
                return loaded_names[node.id]
    if name == "tl.reduce":
        which = dotted(expression.args[2])
        return {"larger": "largest", "smaller": "smallest", "product_of": "product"}.get(which, "result")
    if name == "tl.full":
        return "running"
    return NAMES_OF_CALLS.get(name, "value")


def fresh(wanted, taken):
    name, count = wanted, 1
    while name in taken or keyword.iskeyword(name):
        count += 1
        name = f"{wanted}_{count}"
    taken.add(name)
    return name
