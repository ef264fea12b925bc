"""Inductor's kernels: the decorators of `triton_heuristics` around a jit function, and the strings that hold kernels.

Inductor's own functions choose the configs. A kernel then launches as an autotuner's does: every config is an alternative
of one step, and the grid of each follows from Inductor's grid expression or from the caller's `grid=grid(numel)`.
"""

import functools
import linecache
from types import ModuleType

from torch._inductor.runtime import hints, triton_heuristics
from triton.runtime.jit import KernelInterface

from . import guards, launches
from .device_properties import PROPERTIES
from .errors import CaptureStop, captured_path
from .source_module import register_source

# The decorators of generated code. All of them end in `cached_autotune`.
DECORATORS = ("pointwise", "reduction", "cooperative_reduction", "persistent_reduction", "split_scan", "template",
              "fixed_config", "user_autotune", "foreach")
# Names of blocks that changed between PyTorch 2.5 and 2.7.
FORMER_NAMES = {"R0_BLOCK": "RBLOCK"}


def device():
    return hints.DeviceProperties(
        type="cuda", index=0, multi_processor_count=PROPERTIES.multi_processor_count,
        cc=10 * PROPERTIES.major + PROPERTIES.minor, major=PROPERTIES.major,
        regs_per_multiprocessor=PROPERTIES.regs_per_multiprocessor,
        max_threads_per_multi_processor=PROPERTIES.max_threads_per_multi_processor,
        max_threads_per_block=PROPERTIES.max_threads_per_block, warp_size=PROPERTIES.warp_size)


def sizes_by_name(sizes, is_reduction):
    """Returns size hints as PyTorch 2.7 writes them. PyTorch 2.5 lists them from the outermost dimension inwards, and names
    no dimension. PyTorch 2.6 calls the reduced one "r"."""
    if isinstance(sizes, dict):
        return {"r0_" if name == "r" else name: size for name, size in sizes.items()}
    if sizes is None or not is_reduction:
        return sizes and dict(zip("xyz", reversed(sizes)))
    return {"x": sizes[0], "r0_": sizes[-1]}


def meta_by_name(meta):
    """Returns a kernel's description with the virtual GPU as its device."""
    return {**meta, "device": device(), "signature": {str(key): value for key, value in meta.get("signature", {}).items()}}


def translated(decorator):
    """Makes a decorator take its keyword arguments in the notation of any version."""
    @functools.wraps(decorator)
    def heuristics(*args, **kwargs):
        meta = kwargs.get("triton_meta") or {}
        kwargs["triton_meta"] = meta_by_name(meta)
        if "size_hints" in kwargs:
            kwargs["size_hints"] = sizes_by_name(kwargs["size_hints"], decorator.__name__ != "pointwise")
        made = decorator(*args, **kwargs)
        return lambda function: made(function).with_constants(meta.get("constants", {}))
    return heuristics


class Kernel(KernelInterface):
    """A kernel inside one of Inductor's decorators. It has the parts of an autotuner that a launch reads."""

    def __init__(self, fn, configs, inductor_meta):
        self.fn, self.inductor_meta, self.nargs, self.best_config = fn, inductor_meta, None, None
        self.arg_names, self.__name__ = fn.arg_names, fn.__name__
        self.configs = [self.fitted(config) for config in configs]
        self.constants = {}

    def fitted(self, config):
        """Gives a config the names of the kernel's blocks, and drops those that the kernel does not have."""
        for name, former in FORMER_NAMES.items():
            if name in config.kwargs and name not in self.arg_names and former in self.arg_names:
                config.kwargs[former] = config.kwargs.pop(name)
        config.kwargs = {name: value for name, value in config.kwargs.items() if name in self.arg_names}
        return config

    def with_constants(self, constants):
        named = {self.arg_names[key] if isinstance(key, int) else key: value for key, value in constants.items()}
        self.constants = {name: value for name, value in named.items() if name in self.arg_names}
        return self

    def prune_configs(self, kwargs):
        return self.configs

    def given_names(self):
        """Returns the parameters that a call passes, in order: all but those that a config or the description fixes."""
        compiled = {parameter.name for parameter in self.fn.params if parameter.is_constexpr}
        fixed = {name for name in self.constants if name in compiled or self.constants[name] is None}
        return [name for name in self.arg_names if name not in fixed and name not in self.configs[0].kwargs]

    def run(self, *args, stream=None, grid=None, benchmark_run=False, **kwargs):
        extra = self.inductor_meta.get("extra_launcher_args", [])
        count = len(args) - len(extra)
        names = self.given_names()
        if count > len(names):
            raise TypeError(f"{self.__name__} takes {len(names)} arguments, not {count}")
        given = {**{name: value for name, value in self.constants.items() if name not in self.configs[0].kwargs},
                 **dict(zip(names, args[:count])), **kwargs}
        sizes = dict(zip(extra, args[count:]))
        return launches.tune(self, **given, grid=grid or (lambda bound: self.grid_of(bound, sizes)))

    def grid_of(self, bound, sizes):
        """Evaluates Inductor's expression of the grid for one config. `bound` has all parameters by name."""
        if "grid_type" not in self.inductor_meta:
            raise CaptureStop("unsupported_launch", f"{self.__name__} is launched without a grid")
        config = {name: value for name, value in bound.items() if name in self.configs[0].kwargs}
        grid = triton_heuristics.GridExpr.from_meta(self.inductor_meta, {**self.inductor_meta.get("config", {}), **config})
        return grid.eval_slow({**bound, **sizes})


def cached_autotune(size_hints, configs, triton_meta, heuristic_type, filename=None, inductor_meta=None, **others):
    """Replaces Inductor's tuner, which compiles, measures and keeps files."""
    configs = triton_heuristics.unique_configs(configs)
    return lambda function: Kernel(function, configs, inductor_meta or {})


def ceil_divide(size, block):
    return 1 if size is None else size if block is None else -(-size // block)


def grid(*numels):
    """The grid of PyTorch 2.5 and 2.6: a function of the config, from sizes that begin with the outermost dimension."""
    x, y, z = (*reversed(numels), None, None)[:3]

    def of_config(meta):
        rows, planes = ceil_divide(y, meta.get("YBLOCK")), ceil_divide(z, meta.get("ZBLOCK"))
        if z is None:
            planes = -(-rows // launches.GRID[1]) or 1
            rows = -(-rows // planes)
        return ceil_divide(x, meta.get("XBLOCK", 1)), rows, planes
    return of_config


def split_scan_grid(xnumel, rnumel):
    return lambda meta: (ceil_divide(rnumel, meta.get("RBLOCK", 1)), xnumel, 1)


def cooperative_reduction_grid(xnumel):
    return lambda meta: (meta["RSPLIT"], ceil_divide(xnumel, meta.get("XBLOCK", 1)), 1)


def grid_combo_kernels(*args, **kwargs):
    raise CaptureStop("unsupported_launch", "combined kernels of PyTorch 2.5 and 2.6 cannot be captured")


class AsyncCompile:
    """Makes kernels of strings, at once and in this process."""

    def triton(self, kernel_name, source_code, device_str="cuda"):
        return getattr(module_of(source_code, kernel_name), kernel_name)

    def wait(self, scope): pass

    def __getattr__(self, name):
        raise CaptureStop("not_captured", f"async_compile.{name} cannot be captured: only Triton kernels can")


def module_of(source, name):
    """Runs a string that holds a kernel. If the string stands as it is in the captured file, then the kernel's lines are the
    file's lines, so that an error names them."""
    path = captured_path()
    whole = "".join(linecache.getlines(path))
    at = whole.find(source)
    if source and at >= 0:
        code = compile("\n" * whole.count("\n", 0, at) + source, path, "exec")
    else:
        path = f"{name}.py"
        register_source(source, path)
        code = compile(source, path, "exec")
    module = ModuleType(name)
    module.__file__ = path
    module.__builtins__ = guards.builtins_of_candidates()
    exec(code, module.__dict__)
    return module


def install():
    for name in DECORATORS:
        setattr(triton_heuristics, name, translated(getattr(triton_heuristics, name)))
    triton_heuristics.cached_autotune = cached_autotune
    for function in (grid, split_scan_grid, cooperative_reduction_grid, grid_combo_kernels):
        setattr(triton_heuristics, function.__name__, function)
    triton_heuristics.start_graph = lambda: None
    triton_heuristics.end_graph = lambda *args: None
