"""Kernels as a data set holds them: with or without the decorators of Inductor, of PyTorch 2.5 and later."""

import ast
import re

from .errors import NoPair
from .helpers import dotted
from .kernels import ATEN_WORDS, KINDS, SILENT_WORDS, Kernel, own_words
from .nodes import walk

KINDS_OF_NAMES = {"poi": "pointwise", "red": "reduction", "per": "reduction"}
DROPPED = ("tl.full", "tl.device_assert", "tl.arange", "tl.broadcast_to")  # statements that compute nothing
GRIDS_BY_AXES = {"x": "Grid1D", "xy": "Grid2D", "xyz": "Grid3D"}


def words_of_name(name):
    """The operators in the name of a kernel: triton_poi_fused_add_relu_3 has add and relu."""
    match = re.fullmatch(r"triton_(?:poi|red|per)_fused_?(.*?)(?:_\d+)*", name)
    tokens, words = match.group(1).split("_") if match else [], []
    while tokens:
        length, word = next(((count, ATEN_WORDS.get(whole, whole)) for count in range(min(8, len(tokens)), 1, -1)
                             for whole in ("_".join(tokens[:count]), "_".join(tokens[:count]).strip("_"))
                             if whole in ATEN_WORDS or whole in SILENT_WORDS), (1, ATEN_WORDS.get(tokens[0], tokens[0])))
        if word and word not in SILENT_WORDS and word not in words:
            words.append(word)
        tokens = tokens[length:]
    return own_words(words)


def modernised(function):
    """PyTorch 2.5 calls the reduced dimension r, later versions call it r0_. The kernel gets the later names."""
    used = {node.id for node in walk(function) if isinstance(node, ast.Name)} | {a.arg for a in function.args.args}
    names = {old: new for old, new in (("rnumel", "r0_numel"), ("RBLOCK", "R0_BLOCK"), ("rindex", "r0_index"), ("rmask", "r0_mask"),
                                       ("roffset", "r0_offset"), ("rbase", "r0_base")) if old in used and new not in used}
    if "rindex" in names:
        names.update({name: f"r0_{name[1:]}" for name in used if re.fullmatch(r"r\d+", name) and f"r0_{name[1:]}" not in used})
    for node in walk(function):
        if isinstance(node, ast.Name):
            node.id = names.get(node.id, node.id)
        elif isinstance(node, ast.arg):
            node.arg = names.get(node.arg, node.arg)
    return names


def without_idle_statements(body):
    """Leaves out statements whose value nobody takes, and checks of indices, whose messages name Inductor's variables."""
    kept = []
    for statement in body:
        if isinstance(statement, ast.Expr) and (isinstance(statement.value, ast.Constant) or (
                isinstance(statement.value, ast.Call) and dotted(statement.value.func) in DROPPED)):
            continue
        for field in ("body", "orelse"):
            if getattr(statement, field, None):
                setattr(statement, field, without_idle_statements(getattr(statement, field)) or [ast.Pass()])
        kept.append(statement)
    return kept


class GivenKernel(Kernel):
    """A kernel whose text somebody gives."""

    def __init__(self, generated_name, text):
        super().__init__(generated_name, text)
        self.old_names = modernised(self.function)
        for function in [*self.others, self.function]:
            function.body = without_idle_statements(function.body) or [ast.Pass()]
        self.parameters = [argument.arg for argument in self.function.args.args]
        self.constexprs = [a.arg for a in self.function.args.args if a.annotation is not None]
        arguments = self.function.args
        if arguments.vararg or arguments.kwarg or arguments.kwonlyargs or arguments.posonlyargs or arguments.defaults:
            raise NoPair("unknown_kernel", f"{generated_name} has parameters that Inductor's kernels do not have")
        if any(a.annotation is not None and dotted(a.annotation) != "tl.constexpr" for a in arguments.args):
            raise NoPair("unknown_kernel", f"{generated_name} has a parameter of a type that is not tl.constexpr")
        if "grid_type" not in self.meta:
            self.meta["grid_type"] = self.grid_type()

    def kind_of(self):
        if self.heuristics is not None:
            kind = KINDS.get(dotted(self.heuristics.func).split(".")[-1])
            if kind is not None:
                return kind
        match = re.match(r"triton_([a-z]+)_", self.generated_name)
        if self.heuristics is None and match and match.group(1) in KINDS_OF_NAMES:
            return KINDS_OF_NAMES[match.group(1)]
        raise NoPair("unknown_kernel", f"{self.generated_name} is neither pointwise nor a reduction")

    def grid_type(self):
        """Before PyTorch 2.7 the launch says what the grid is, and the kernel which axes it counts along."""
        axes = "".join(axis for axis in "xyz" if f"{axis}numel" in self.parameters)
        if axes not in GRIDS_BY_AXES:
            raise NoPair("unknown_grid", f"{self.generated_name} has no xnumel")
        continues = any(isinstance(node, ast.Call) and dotted(node.func) == "tl.program_id" and isinstance(node.args[0], ast.Constant)
                        and node.args[0].value == 2 for node in walk(self.function) if getattr(node, "args", None))
        return "Grid2DWithYZOverflow" if axes == "xy" and continues else GRIDS_BY_AXES[axes]

    def options_of(self, keywords, grid, sizes):
        """What a launch gives: block sizes by parameter, and warps. `grid` is the node of its grid, or None."""
        blocks, warps = {}, None
        for keyword in keywords:
            name = self.old_names.get(keyword.arg, keyword.arg)
            value = keyword.value.value if isinstance(keyword.value, ast.Constant) else None
            if name in ("stream", "grid"):
                continue
            if type(value) is not int or value < 1 or value & (value - 1):
                raise NoPair("unknown_launch", f"{self.generated_name} is launched with {ast.unparse(keyword)[:80]}")
            if name in self.constexprs:
                blocks[name] = value
            elif name == "num_warps":
                warps = value
            elif name != "num_stages":
                raise NoPair("unknown_launch", f"{self.generated_name} is launched with {ast.unparse(keyword)[:80]}")
        for name, size in self.numels.items():
            if sizes.get(name, size) != size:
                raise NoPair("unknown_grid", f"{self.generated_name} counts {size} elements and its launch {sizes[name]}")
        if grid is not None:
            self.check_grid(grid, sizes)
        return {"given_blocks": blocks, "given_warps": warps}

    def check_grid(self, grid, sizes):
        """`grid(ynumel, xnumel)` has to say what the arguments say, from which the plain grid is made."""
        if not isinstance(grid, ast.Call) or dotted(grid.func).split(".")[-1] != "grid" or grid.keywords:
            raise NoPair("unknown_grid", f"{self.generated_name} has the grid {ast.unparse(grid)[:80]}")
        counts = [node.value if isinstance(node, ast.Constant) else None for node in reversed(grid.args)]
        known = {**self.numels, **sizes}
        if counts != [known.get(f"{axis}numel") for axis in "xyz"[:len(counts)]]:
            raise NoPair("unknown_grid", f"{self.generated_name} has the grid {ast.unparse(grid)[:80]}, and its arguments another")
