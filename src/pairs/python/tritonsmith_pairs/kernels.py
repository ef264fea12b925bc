"""Turns each kernel that Inductor wrote into a plain @triton.jit function."""

import ast
import keyword
import re

from . import blocks, helpers, layout, tidy
from . import operator_traits as traits
from .errors import NoPair
from .helpers import dotted
from .nodes import walk

KINDS = {"pointwise": "pointwise", "reduction": "reduction", "persistent_reduction": "reduction"}
GRIDS = {"Grid1D": "x", "Grid2D": "xy", "Grid3D": "xyz", "Grid2DWithYZOverflow": "xy"}
LONGEST = 65535  # programs along any axis but the first
OTHER_WORDS = {"prepare_softmax_online": "softmax_parts", "_to_copy": "cast"}
PRODUCTS = {word.strip("_") for word in traits.CONVOLVES | traits.SCORES} | {"conv", "conv_transpose"}
PLAIN_WORDS = {"aten", "prims", "default", "fused", "poi", "red", "per", "triton", "to", "copy", "lift_fresh"}
SIZE_NAMES = {"xnumel": "n_elements", "ynumel": "n_rows", "znumel": "n_planes"}
REDUCED_NAMES = {"xnumel": "n_rows", "r0_numel": "n_columns", "r1_numel": "n_inner", "ynumel": "n_groups"}


class Launch:
    """A statement of the forward that launches a kernel. Sharing changes the kernel and adds numbers to pass."""

    def __init__(self, kernel, grid, given, options):
        self.kernel, self.grid, self.given, self.options = kernel, grid, given, options
        self.numbers = []  # pairs of a parameter's name and its value

    def __str__(self):
        numbers = [f"{name}={value!r}" for name, value in self.numbers]
        return f"{self.kernel.name}[{self.grid}]({', '.join([*self.given, *numbers, *self.options])})"


class Kernel:
    """One function of the file to be, and how it is launched."""

    def __init__(self, generated_name, text):
        self.generated_name = generated_name
        module = ast.parse(text)
        functions = [node for node in module.body if isinstance(node, ast.FunctionDef)]
        self.function = functions[-1]
        self.others = functions[:-1]  # jit functions that the kernel calls
        self.heuristics = next((node for node in self.function.decorator_list if isinstance(node, ast.Call)), None)
        self.kind = self.kind_of()
        self.meta = self.literal("inductor_meta")
        self.parameters = [argument.arg for argument in self.function.args.args]
        self.constexprs = [a.arg for a in self.function.args.args if a.annotation is not None]
        self.name, self.needed = None, []
        self.argument_names = {}

    def kind_of(self):
        if self.heuristics is None:
            raise NoPair("unknown_kernel", f"{self.generated_name} has no heuristics")
        kind = KINDS.get(dotted(self.heuristics.func).removeprefix("triton_heuristics."))
        if kind is None:
            raise NoPair("unknown_kernel", f"a kernel of the kind {ast.unparse(self.heuristics.func)}")
        return kind

    def literal(self, name):
        """The keyword's dict, without values that are no literals."""
        node = next((k.value for k in getattr(self.heuristics, "keywords", ()) if k.arg == name), None)
        out = {}
        for key, value in zip(node.keys, node.values) if isinstance(node, ast.Dict) else ():
            try:
                out[ast.literal_eval(key)] = ast.literal_eval(value)
            except ValueError:
                continue
        return out

    def finish(self, name, tensor_names, comment):
        """Writes the function with the names that its first launch's tensors have."""
        self.name = name
        replace = helpers.Replace()
        for function in [*self.others, self.function]:
            replace.visit(function)
        if replace.unknown:
            raise NoPair("unknown_helper", f"a kernel needs triton_helpers.{sorted(replace.unknown)[0]}")
        self.needed = replace.needed
        self.share_scan_functions()
        self.numels = {}
        self.function.body = [s for s in self.function.body if not self.takes_size(s)]
        self.persistent = self.fixed_blocks()
        names = self.rename_arguments(tensor_names)
        self.function.decorator_list = [ast.parse("triton.jit", mode="eval").body]
        self.function.name = name
        tidy.tidy(self.function, {pointer: pointer.removesuffix("_ptr") for pointer in names})
        if comment:
            self.function.body.insert(0, ast.Expr(ast.Constant(comment)))
        ast.fix_missing_locations(self.function)

    def share_scan_functions(self):
        """A function of two numbers that a scan calls is `plus` or `product_of`, if it is one of these."""
        kept = []
        for function in self.others:
            shared = helpers.shared_name(function)
            if shared is None:
                kept.append(function)
                continue
            if shared not in self.needed:
                self.needed.append(shared)
            for node in walk(self.function):
                if isinstance(node, ast.Name) and node.id == function.name:
                    node.id = shared
        self.others = kept

    def takes_size(self, statement):
        """`xnumel = 1536` repeats what the launch passes."""
        name = tidy.single_target(statement)
        if name and re.fullmatch(r"([xyz]|r\d+_)numel", name) and isinstance(statement.value, ast.Constant):
            self.numels[name] = statement.value.value
            return name in self.parameters
        return False

    def fixed_blocks(self):
        """Block sizes that the body fixes: `R0_BLOCK: tl.constexpr = 128`."""
        return {s.target.id: s.value.value for s in self.function.body
                if isinstance(s, ast.AnnAssign) and isinstance(s.target, ast.Name) and isinstance(s.value, ast.Constant)
                and s.target.id.endswith("_BLOCK")}

    def rename_arguments(self, tensor_names):
        """Renames pointers after their tensors and sizes after what they count. Returns the pointers' names."""
        taken, pointers = set(), []
        sizes = SIZE_NAMES if self.kind == "pointwise" and "ynumel" not in self.parameters else REDUCED_NAMES
        if self.kind == "pointwise" and "ynumel" in self.parameters:
            sizes = {"xnumel": "n_columns", "ynumel": "n_rows", "znumel": "n_planes"}
        for parameter in self.parameters:
            if parameter in tensor_names:
                new = tidy.fresh(f"{tensor_names[parameter]}_ptr", taken)
                pointers.append(new)
            else:
                new = tidy.fresh(sizes.get(parameter, BLOCK_NAMES.get(parameter, parameter)), taken)
            self.argument_names[parameter] = new
        for old, new in BLOCK_NAMES.items():
            self.argument_names.setdefault(old, new)
        for old, new in sizes.items():
            self.argument_names.setdefault(old, new)
        for node in walk(self.function):
            if isinstance(node, ast.Name) and node.id in self.argument_names:
                node.id = self.argument_names[node.id]
            if isinstance(node, ast.arg) and node.arg in self.argument_names:
                node.arg = self.argument_names[node.arg]
        return pointers

    def launch(self, arguments, rendered, given_blocks=None, given_warps=None):
        """Returns the launch. `arguments` holds sizes by parameter, `rendered` all as text. Block sizes and warps that nobody
        gives are chosen."""
        sizes = {name.removesuffix("numel"): value for name, value in {**self.numels, **arguments}.items()}
        loop = blocks.PRODUCTS if self.scans_products() else blocks.LOOP
        chosen = {**blocks.choose(self.kind, sizes, self.persistent, self.constexprs, loop), **(given_blocks or {})}
        axes = GRIDS.get(self.meta.get("grid_type"))
        if axes is None:
            raise NoPair("unknown_grid", f"a grid of the type {self.meta.get('grid_type')}")
        grid = []
        for axis in axes:
            block = chosen.get(f"{axis.upper()}BLOCK", 1)
            grid.append(f"triton.cdiv({sizes[axis]}, {block})" if block > 1 else str(sizes[axis]))
            count = -(-sizes[axis] // block)
            if axis != "x" and count > LONGEST:
                grid[-1:] = self.continued(axis, count)
        given = [rendered[p] for p in self.parameters if p not in self.constexprs]
        options = [f"{self.argument_names[p]}={chosen[p]}" for p in self.constexprs if p in chosen]
        warps = given_warps or (blocks.warps(chosen, self.persistent) if self.kind == "reduction" else 4)
        if warps != 4:
            options.append(f"num_warps={warps}")
        comma = "," if len(grid) == 1 else ""
        return Launch(self, f"({', '.join(grid)}{comma})", given, options)

    def scans_products(self):
        return any(isinstance(node, ast.Call) and dotted(node.func) == "tl.associative_scan"
                   and dotted(node.args[2]) == "product_of" for node in walk(self.function))

    def continued(self, axis, count):
        """The third axis continues the second where the kernel counts programs along both."""
        if axis != "y" or self.meta["grid_type"] != "Grid2DWithYZOverflow":
            raise NoPair("unknown_grid", f"a grid of more than {LONGEST} along {axis}")
        parts = -(-count // LONGEST)
        return [str(-(-count // parts)), str(parts)]

    def text(self):
        return "\n\n\n".join(layout.wrapped(ast.unparse(ast.fix_missing_locations(f))) for f in [*self.others, self.function])


BLOCK_NAMES = {"XBLOCK": "BLOCK_X", "YBLOCK": "BLOCK_Y", "ZBLOCK": "BLOCK_Z", "R0_BLOCK": "BLOCK_R", "R1_BLOCK": "BLOCK_S"}


ATEN_WORDS = {"native_layer_norm": "layer_norm", "native_group_norm": "group_norm", "convolution": "conv", "mm": "matmul",
              "addmm": "linear", "bmm": "matmul", "baddbmm": "matmul", "var_mean": "var", "linalg_vector_norm": "norm",
              "_native_batch_norm_legit_functional": "batch_norm", "_native_batch_norm_legit": "batch_norm",
              "_native_batch_norm_legit_no_training": "batch_norm", "max_pool2d_with_indices": "max_pool2d",
              "_low_memory_max_pool_with_offsets": "max_pool", "upsample_nearest2d": "upsample", "nll_loss_forward": "nll_loss"}
SILENT_WORDS = traits.UNNAMED | {"getitem", "size"}


def operators_of(nodes, aten, variables):
    """Returns the operators' names. A node whose result the forward assigns has the name of that variable, which says nothing
    about the operator: then ATen's names count."""
    if not any(node in variables or re.sub(r"_\d+$", "", node) in variables for node in nodes):
        return nodes
    words = [each.removeprefix("aten.").removeprefix("prims.") for each in aten]
    return [ATEN_WORDS.get(word, word.strip("_")) for word in words if word not in SILENT_WORDS] or nodes


def own_words(words):
    """The operators that a generated kernel computes: products and convolutions are never among them. A kernel beside one of
    these adds its bias, or prepares its operand."""
    return [word for word in words if word not in PRODUCTS] or (["bias"] if words else [])


def words_of(nodes):
    """Operators' names as people say them: "linear_1" and "aten.addmm" are linear and addmm."""
    words = []
    for node in nodes:
        word = re.sub(r"_\d+$", "", node.split(".")[1] if node.startswith(("aten.", "prims.")) else node).strip("_")
        word = OTHER_WORDS.get(word, word)
        if word and word not in words and word not in PLAIN_WORDS:
            words.append(word)
    return words


def kernel_name(words, taken):
    kept = [word for word in words if word.isidentifier()][:4]
    base = "_".join([*kept, "kernel"]) if kept else "elementwise_kernel"
    if keyword.iskeyword(base) or base[0].isdigit():
        base = "fused_kernel"
    return tidy.fresh(base[:60], taken)
