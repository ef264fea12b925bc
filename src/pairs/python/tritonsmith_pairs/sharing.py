"""Makes one kernel of several that differ only in their numbers, as a person would: the numbers become parameters.

Inductor writes a kernel for each position of a network and each step of a recurrence. Two such kernels often differ only in a width
or in an offset. Numbers that only enter sums and products of an index become arguments of the launch, so that one compiled
kernel serves all launches. All others become constants of the kernel (tl.constexpr), which mean what the written numbers meant.
"""

import ast
import re

from .nodes import walk
from .tidy import fresh

TRITON = {"tl", "triton", "libdevice"}


def share(kernels, launches):
    """Returns the kernels that are left. Their launches pass the numbers, by `launch.numbers`."""
    if len(kernels) < 2:
        return kernels
    groups = {}
    for kernel in kernels:
        groups.setdefault(skeleton(kernel), []).append(kernel)
    kept = []
    for group in groups.values():
        kept.append(group[0])
        if len(group) > 1:
            merge(group, [launch for launch in launches if launch.kernel in group])
    renumber(kept)
    return kept


def skeleton(kernel):
    """What kernels have in common that differ in names and numbers only."""
    if kernel.others:
        return id(kernel)
    local = {a.arg for a in kernel.function.args.args}
    local |= {n.id for n in walk(kernel.function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    numbered, parts = {}, []

    def visit(node):
        if isinstance(node, ast.Name):
            parts.append(str(numbered.setdefault(node.id, len(numbered))) if node.id in local else node.id)
        elif isinstance(node, ast.arg):
            parts.append(f"{numbered.setdefault(node.arg, len(numbered))}{node.arg if node.annotation else ''}")
        elif is_number(node):
            parts.append(type(node.value).__name__)
        elif isinstance(node, ast.Constant):
            parts.append(repr(node.value))
        else:
            parts.append(type(node).__name__ + str(getattr(node, "attr", getattr(node, "arg", ""))))
            for child in ast.iter_child_nodes(node):
                visit(child)
            parts.append(")")

    visit(kernel.function.args)
    for statement in kernel.function.body:
        visit(statement)
    return " ".join(parts)


def is_number(node):
    return isinstance(node, ast.Constant) and type(node.value) in (int, float)


def numbers_of(function):
    """Yields (parent, field, position in the field or None, number) for each number, in the same order for equal skeletons."""
    for parent in walk(function):
        for field, value in ast.iter_fields(parent):
            for at, child in enumerate(value) if isinstance(value, list) else [(None, value)]:
                if isinstance(child, ast.AST) and is_number(child):
                    yield parent, field, at, child


def merge(group, launches):
    """The first kernel of the group replaces all."""
    first = group[0]
    positions = list(zip(*(list(numbers_of(kernel.function)) for kernel in group)))
    taken = {n.id for n in walk(first.function) if isinstance(n, ast.Name)} | set(TRITON)
    taken |= {a.arg for a in first.function.args.args}
    vectors = [tuple(number.value for _, _, _, number in position) for position in positions]
    # The type of a number and its value in each kernel of the group -> the positions in the first one's code that hold them. 96 and
    # 96.0 are equal in Python and not in Triton.
    values = {}
    for position, vector in sorted(zip(positions, vectors), key=lambda pair: pair[1][0]):
        if len(set(vector)) > 1:
            kind = type(vector[0])
            base = next((known for of, known in values if of is kind and differs_by_a_number(known, vector)), vector)
            values.setdefault((kind, base), []).append((position[0], vector[0] - base[0] if base is not vector else 0))
    data = data_names(first.function)
    for (kind, vector), uses in values.items():
        runtime = kind is int and all(is_index(parent, data) for (parent, _, _, _), _ in uses)
        name = fresh(name_for(kind, uses, runtime), taken)
        for (parent, field, at, _), added in uses:
            put(parent, field, at, with_added(name, added))
        add_parameter(first.function, name, runtime)
        for launch in launches:
            launch.numbers.append((name, vector[group.index(launch.kernel)]))
    rename_after_common_part(group)
    for launch in launches:
        launch.kernel = first
    ast.fix_missing_locations(first.function)


def differs_by_a_number(known, vector):
    return known == vector or type(known[0]) is int and len({a - b for a, b in zip(known, vector)}) == 1


def data_names(function):
    """The variables that hold loaded values, or follow from them."""
    found, before = set(), None
    while before != len(found):
        before = len(found)
        for node in walk(function):
            if isinstance(node, ast.Assign) and reads_data(node.value, found):
                found |= {n.id for target in node.targets for n in walk(target) if isinstance(n, ast.Name)}
    return found


def reads_data(node, data):
    return any(isinstance(n, ast.Name) and n.id in data or isinstance(n, ast.Attribute) and n.attr == "load" for n in walk(node))


def is_index(parent, data):
    """Whether a number within `parent` is added to, multiplied with or compared with an index. An index has 32 or 64 bits, as the
    argument of a launch has. Data may have fewer, and there only a constant means what the written number meant."""
    sums = isinstance(parent, ast.BinOp) and isinstance(parent.op, (ast.Add, ast.Sub, ast.Mult))
    return (sums or isinstance(parent, ast.Compare)) and not reads_data(parent, data)


def name_for(kind, uses, runtime):
    if kind is float:
        return "FACTOR"
    if not runtime:
        return "SIZE"
    parents = [parent for (parent, _, _, _), _ in uses]
    return "stride" if all(isinstance(p, ast.BinOp) and isinstance(p.op, ast.Mult) for p in parents) else "offset"


def with_added(name, number):
    node = ast.Name(name, ast.Load())
    if number == 0:
        return node
    return ast.BinOp(node, ast.Add() if number > 0 else ast.Sub(), ast.Constant(abs(number)))


def put(parent, field, at, node):
    if at is None:
        setattr(parent, field, node)
    else:
        getattr(parent, field)[at] = node


def add_parameter(function, name, runtime):
    """A runtime parameter stands before the first constant, a constant at the end."""
    arguments = function.args.args
    if runtime:
        at = next((i for i, a in enumerate(arguments) if a.annotation is not None), len(arguments))
        arguments.insert(at, ast.arg(name))
    else:
        arguments.append(ast.arg(name, ast.parse("tl.constexpr", mode="eval").body))


def rename_after_common_part(group):
    """layers_0_weight_ptr in one kernel and layers_1_weight_ptr in the other is weight_ptr."""
    function = group[0].function
    names = {n.id for n in walk(function) if isinstance(n, ast.Name)} | {a.arg for a in function.args.args} | TRITON
    renamed = {}
    for arguments in zip(*(kernel.function.args.args[:] for kernel in group)):
        pointers = [argument.arg for argument in arguments]
        if not all(pointer.endswith("_ptr") for pointer in pointers):
            continue
        tensor = pointers[0].removesuffix("_ptr")
        common = common_end([pointer.removesuffix("_ptr") for pointer in pointers])
        if common and common != tensor and not {f"{common}_ptr", common} & names:
            renamed[pointers[0]] = f"{common}_ptr"
            renamed[tensor] = common
            names |= {f"{common}_ptr", common}
    for node in walk(function):
        if isinstance(node, ast.Name):
            node.id = renamed.get(node.id, node.id)
        if isinstance(node, ast.arg):
            node.arg = renamed.get(node.arg, node.arg)


def common_end(names):
    """The words at the end that all names share, without a number in front."""
    words = [name.split("_") for name in names]
    end = []
    for column in zip(*(reversed(each) for each in words)):
        if len(set(column)) > 1:
            break
        end.insert(0, column[0])
    while end and end[0].isdigit():
        end.pop(0)
    return "_".join(end) if end and end[0].isidentifier() and not all(word.isdigit() for word in end) else ""


def renumber(kernels):
    """Kernels of the same name have the numbers 2, 3 and so on."""
    taken = set()
    for kernel in kernels:
        kernel.name = kernel.function.name = fresh(re.sub(r"_\d+$", "", kernel.name), taken)
