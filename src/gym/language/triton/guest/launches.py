"""Records Triton launches. Each launch is specialised and lowered to Triton IR as on the chip, and then not run.

The guest stops at Triton IR. A compile worker makes the cubin from the IR's text.
"""

import functools
import operator
import threading

import torch
import triton
from triton._C.libtriton import ir
from triton.compiler.compiler import ASTSource, make_backend
from triton.compiler.errors import CompileTimeAssertionFailure
from triton.runtime.autotuner import Autotuner
from triton.runtime.jit import JITFunction, MockTensor, TensorWrapper, create_function_from_signature, get_jit_fn_file_line

from . import descriptors, tuning, tuples
from .errors import CaptureStop
from .kernel_handle import CARRIED, CompiledKernel, Pointer
from .values import number, plain_number
from .triton_driver import VirtualDriver

GRID = (2**31 - 1, 65535, 65535)
KERNELS, ARGUMENTS, IR_BYTES, CONFIG_CHARACTERS = 1024, 256, 4 << 20, 200  # as in docs/plan.md
# A launch may pass these options. They change nothing in the code, or Triton IR shows what they change. In a plan each
# launch begins after the one before it has ended, which is what a launch by launch_pdl must allow for.
HARMLESS = ("debug", "instrumentation_mode", "sanitize_overflow", "launch_pdl", "launch_cooperative_grid",
            "default_dot_input_precision", "max_num_imprecise_acc_default")

_launches = None  # the Launches of the capture in progress


def current_target():
    return VirtualDriver().get_current_target()


@functools.cache
def backend_of(target):
    return make_backend(target)


def backend():
    return backend_of(current_target())


def set_launches(launches):
    global _launches
    _launches = launches


def new_context():
    context = ir.context()
    ir.load_dialects(context)
    backend().load_dialects(context)
    return context


spare_contexts = []  # the zygote fills it before it forks, since loading dialects takes milliseconds


def cache_of(function):
    """Returns what Triton keeps of a kernel for a device, with what it compiled first and the function that binds arguments
    last. A kernel that was launched has an entry."""
    if 0 not in function.device_caches:
        binder = create_function_from_signature(function.signature, function.params, backend())
        function.device_caches[0] = {}, {}, current_target(), backend(), binder
    return function.device_caches[0]


def restores(tuner, configs):
    """Whether the tuner resets or restores tensors between the runs by which it chooses, or has a hook that may do so."""
    if not isinstance(tuner, Autotuner):  # Inductor's own restores all that its kernels change
        return True
    return bool(tuner.reset_to_zero or tuner.restore_value or tuner.user_defined_pre_hook or tuner.user_defined_post_hook or
                any(config.pre_hook is not None for config in configs))


def words_of(config):
    """Returns the values of a config for a message, such as "BLOCK: 64, num_warps: 4". A value may be any object of the file."""
    shown = (bool, int, float, str, type(None))
    words = ", ".join(f"{name}: {value if type(value) in shown else type(value).__name__}"
                      for name, value in config.all_kwargs().items() if value is not None)
    return ascii(words)[1:-1][:CONFIG_CHARACTERS]


class Launches:
    """Holds the launches of one capture: the kernels by specialisation, and the choices of a tuner while it runs."""

    def __init__(self, recorder, kernels):
        self.recorder = recorder
        self.kernels = kernels  # the plan's "kernels", to which other languages add theirs
        self.signatures = {}  # index of a kernel -> the types of the arguments that have a name
        self.cache = {}     # (function, specialisation, options) -> (index, names of the arguments)
        self.handles = {}   # (function, index) -> what a launch returns
        self.binders = {}   # function -> what Triton keeps of it for a device
        self.tuned = set()  # (autotuner, key) of each tuning that was played
        self.hooks = tuning.hooks_of_launches()
        self.collected = None
        self.config = ""    # the config of the tuner's choice in words

    def run(self, function, args, grid, warmup, kwargs):
        if threading.current_thread() is not threading.main_thread():
            raise CaptureStop("unsupported_launch", "a kernel was launched from a second thread")
        tuning.refuse_hooks(self.hooks)
        if type(function).__name__ == "GluonJITFunction":
            raise CaptureStop("unsupported_launch", "Gluon kernels are not judged, since they have no Triton IR; write the kernel "
                                                    "with @triton.jit")
        for hook in function.pre_run_hooks:
            hook(*args, **kwargs)
        index, names, bound = self.specialise(function, args, kwargs)
        handle = self.handle_of(function, index, names)
        if warmup:
            return handle
        if grid is None:
            raise CaptureStop("unsupported_launch", f"{self.kernels[index]['name']} is launched without a grid")
        return self.launch(handle, index, names, grid, bound)

    def handle_of(self, function, index, names):
        """Returns what a launch returns. A candidate can change it and what Triton keeps of a kernel, so a launch reads neither."""
        if (function, index) not in self.handles:
            def launch(grid, args):
                given = dict(zip(function.arg_names, args))
                if missing := [name for name in names if name not in given]:
                    raise TypeError(f"{self.kernels[index]['name']} is launched without {', '.join(missing)}")
                return self.launch(handle, index, names, grid, given)
            handle = self.handles[function, index] = CompiledKernel(dict(self.kernels[index]), launch)
        handle = self.handles[function, index]
        cache_of(function)[0].setdefault(f"{function.cache_key} {index}", handle)
        return handle

    def cache_of(self, function):
        """Returns what Triton keeps of a kernel for a device, which a candidate must not replace."""
        found = cache_of(function)
        if self.binders.setdefault(function, found) is not found:
            raise CaptureStop("tampering", f"the file replaces what Triton keeps of the kernel {function.__name__}")
        return found

    def launch(self, handle, index, names, grid, bound):
        kernel = self.kernels[index]
        grid = self.checked_grid(grid(bound) if callable(grid) else grid, kernel["name"])
        values = [self.behind(part) for name, type_ in zip(names, self.signatures[index])
                  for part in tuples.leaves(name, type_, bound[name])]
        choice = {"kernel": index, "grid": grid, "arguments": self.encoded(kernel["arguments"], values)}
        if self.config:
            choice["config"] = self.config
        self.forget_constants(values)
        if 0 in grid:
            return handle  # Triton launches nothing in this case
        if self.collected is not None:
            self.collected.append(choice)
        else:
            self.recorder.add_step(launch=[choice])
        return handle

    def specialise(self, function, args, kwargs):
        """Returns the kernel's index, the names of its arguments, and the values of all parameters by name."""
        kwargs = {**kwargs, "debug": False, "instrumentation_mode": ""}
        wrapped = [self.wrap(i, value) for i, value in enumerate(args)]
        bound, specialisation, options = self.cache_of(function)[4](
            *wrapped, **{name: self.wrap(name, value) for name, value in kwargs.items()})
        given = dict(zip(function.arg_names, args)) | kwargs
        real = {name: given.get(name, value) for name, value in bound.items()}
        key = (function, tuple(map(str, specialisation)), str(options),
               tuple(str(real[p.name]) for p, s in zip(function.params, specialisation) if s[0] == "constexpr"))
        if key not in self.cache:
            parsed, signature, constants, attributes = function._pack_args(
                backend(), kwargs, bound, specialisation, options)
            self.refuse_options(parsed)
            self.cache[key] = self.lower(function, parsed, signature, constants, attributes)
        return *self.cache[key], real

    def wrap(self, name, value):
        if isinstance(value, tuple):
            return tuples.rebuilt(value, [self.wrap_member(name, member) for member in value])
        if not isinstance(value, torch.Tensor):
            if descriptors.is_descriptor(value):
                value.base = self.recorder.as_fake(value.base)
                descriptors.check(name, value)
                return value
            if hasattr(value, "data_ptr"):
                return self.pointer_to(name, self.behind(value), value.dtype)
            return MockTensor.wrap_dtype(value)
        return self.pointer_to(name, value, value.dtype)

    def pointer_to(self, name, tensor, dtype):
        tensor = self.recorder.as_fake(tensor)
        if not tensor.is_cuda:
            raise ValueError(f"Pointer argument (at {name}) cannot be accessed from Triton (cpu tensor?)")
        return Pointer(tensor, dtype)

    def behind(self, value):
        """Returns the tensor behind an argument that is none itself but has a `data_ptr`, as triton.reinterpret makes it."""
        if isinstance(value, torch.Tensor) or not hasattr(value, "data_ptr"):
            return value
        if isinstance(value, TensorWrapper):
            return self.behind(value.base)
        tensor = self.recorder.tensors.at_address(value.data_ptr())
        if tensor is None:
            raise CaptureStop("unsupported_launch", f"the data_ptr of a {type(value).__name__} is no tensor's")
        return tensor

    def wrap_member(self, name, value):
        if descriptors.is_descriptor(value):
            raise CaptureStop("unsupported_launch", f"argument {name}: descriptors in tuples are not supported")
        return self.wrap(name, value) if isinstance(value, tuple) or hasattr(value, "data_ptr") else value

    def refuse_options(self, options):
        defaults = backend().parse_options({})
        for name, value in options.__dict__.items():
            if name not in CARRIED and name not in HARMLESS and value != getattr(defaults, name):
                raise CaptureStop("unsupported_launch", f"the launch option {name}={value!r} is not supported")

    def lower(self, function, options, signature, constants, attributes):
        if len(self.kernels) >= KERNELS:
            raise CaptureStop("not_captured", f"more than {KERNELS} kernels")
        source = ASTSource(function, signature, constants, attributes)
        context = spare_contexts.pop() if spare_contexts else new_context()
        module = source.make_ir(current_target(), options, backend().get_codegen_implementation(options),
                                backend().get_module_map(), context)
        module = backend().make_ttir(module, {}, options, current_target().arch)
        names = [name for name, type_ in signature.items() if type_ != "constexpr"]
        types = []
        for name in names:
            types += tuples.leaf_types(signature[name])
            if any(len(type_) > 16 for type_ in types):
                raise CaptureStop("unsupported_launch", f"argument {name}: a type that is not supported")
        if len(types) > ARGUMENTS:
            raise CaptureStop("unsupported_launch", f"a kernel of more than {ARGUMENTS} arguments")
        _, line = get_jit_fn_file_line(function)
        kernel = {"name": module.get_entry_func_name(), "ttir": descriptors.made_on_the_device(str(module)),
                  "num_warps": options.num_warps,
                  "num_stages": options.num_stages, "num_ctas": options.num_ctas,
                  "arguments": [type_.replace("*k", "*") for type_ in types], "line": line}
        if options.maxnreg:
            kernel["maxnreg"] = options.maxnreg
        if not options.enable_fp_fusion:
            kernel["enable_fp_fusion"] = False
        if len(kernel["ttir"]) > IR_BYTES:
            raise CaptureStop("not_captured", f"the Triton IR of {kernel['name']} exceeds {IR_BYTES >> 20} MiB")
        index = len(self.kernels)
        self.kernels.append(kernel)
        self.signatures[index] = [signature[name] for name in names]
        return index, names

    def encoded(self, types, values):
        encoded = []
        for type_, value in zip(types, values):
            value = plain_number(value)
            if isinstance(value, torch.Tensor):
                encoded.append({"t": self.recorder.index_of(value)})
            elif isinstance(value, bool):
                encoded.append({"b": value})
            elif type_.startswith(("fp", "bf")):
                encoded.append({"f": number(float(value))})
            elif -2**63 <= value < 2**64:
                encoded.append({"i": value if value < 2**63 else value - 2**64})
            else:
                raise CaptureStop("unsupported_launch", f"the integer {value} exceeds 64 bits")
        return encoded

    def forget_constants(self, values):
        for value in values:
            if isinstance(value, torch.Tensor):
                self.recorder.constants.note_launch(self.recorder.tensors.storage_of(self.recorder.as_fake(value)))

    def checked_grid(self, grid, name):
        """Returns the three numbers of a grid. As Triton does, it takes any sequence and ignores all but three numbers."""
        try:
            grid = [grid[axis] for axis in range(min(len(grid), 3))]
        except TypeError:
            grid = []
        if not grid:
            raise CaptureStop("unsupported_launch", f"the grid of {name} must be a sequence of one to three numbers")
        for axis, size in enumerate(grid):
            if not hasattr(size, "__index__") or (isinstance(size, torch.Tensor) and size.is_floating_point()):
                raise TypeError(f"the grid of {name} must hold integers, not {type(size).__name__}")
            grid[axis] = size = plain_number(operator.index(size))
            if not 0 <= size <= GRID[axis]:
                raise CaptureStop("unsupported_launch", f"a grid of {size} along axis {axis} cannot be launched")
        return [*grid, *[1] * (3 - len(grid))]

    def tune(self, tuner, args, kwargs):
        """Records every config of an autotuner as one choice of one step. Only the chip can tell which is best."""
        if self.collected is not None:
            raise CaptureStop("unsupported_launch", "an autotuner inside another")
        tuner.nargs = dict(zip(tuner.arg_names, args))
        configs = tuner.prune_configs(kwargs) if len(tuner.configs) > 1 else tuner.configs
        if len(configs) > 512:
            raise CaptureStop("unsupported_launch", f"{len(configs)} configs are more than 512")
        tuning.play(self, tuner, configs, kwargs)
        choices, handle, failed = [], None, None
        hooks = ConfigHooks(self.recorder)
        try:
            for config in configs:
                if conflicts := kwargs.keys() & config.kwargs.keys():
                    raise ValueError(f"Conflicting meta-parameters: {', '.join(conflicts)}.")
                hooks.run(tuner, config, kwargs)
                self.collected, tuner.best_config, self.config = choices, config, words_of(config)
                try:
                    handle = tuner.fn.run(*args, **kwargs, **config.all_kwargs())
                except CompileTimeAssertionFailure as error:  # Triton skips such configs, too
                    failed = error
                self.collected = None
                hooks.keep(len(choices))
        finally:
            self.collected, tuner.nargs, self.config = None, None, ""
        if handle is None:
            raise failed
        tuner.best_config = configs[0]
        if choices:
            hooks.record()
            self.recorder.add_step(launch=choices, **({"tuned": True} if len(choices) > 1 else {}),
                                   **({"restores": True} if restores(tuner, configs) else {}))
        return handle


def changes_in_place(step):
    """Whether a step makes no tensor: its results are tensors that it received."""
    given = {value["t"] for value in step.get("args", []) if "t" in value}
    return "aten" in step and given.issuperset(index for index in step["outputs"] if index >= 0)


class ConfigHooks:
    """Records what the hooks of an autotuner's configs do to tensors. Triton runs a config's own hook before every launch of it,
    so a step that only some hooks take names the choices that it belongs to."""

    def __init__(self, recorder):
        self.recorder = recorder
        self.steps = None   # of the hook that ran last
        self.kept = []      # for each choice, the steps of its hook

    def run(self, tuner, config, kwargs):
        before = len(self.recorder.steps)
        if config.pre_hook is not None:
            config.pre_hook({**tuner.nargs, **kwargs, **config.all_kwargs()})
        self.steps = self.recorder.steps[before:]
        del self.recorder.steps[before:]

    def keep(self, choices):
        """Keeps the last hook's steps if its config became a choice: one that does not compile is none."""
        self.kept += [self.steps] * (choices - len(self.kept))

    def record(self):
        """Adds the steps before the launch: once for all choices, or once for each group whose hooks do the same."""
        groups = []
        for choice, steps in enumerate(self.kept):
            key = [{**step, "line": 0} for step in steps]
            for known, first, members in groups:
                if known == key:
                    members.append(choice)
                    break
            else:
                groups.append((key, steps, [choice]))
        if len(groups) > 1 and not all(changes_in_place(step) for _, steps, _ in groups for step in steps):
            raise CaptureStop("unsupported_launch", "the pre_hooks of the configs differ, and one makes a tensor")
        for _, steps, members in groups:
            belongs = {"choices": members} if len(groups) > 1 else {}
            self.recorder.steps += [{**step, **belongs} for step in steps]


def run(self, *args, grid=None, warmup=False, **kwargs):
    if _launches is None:
        raise CaptureStop("unsupported_launch", "a kernel is launched outside of the module")
    return _launches.run(self, args, grid, warmup, kwargs)


def tune(self, *args, **kwargs):
    if _launches is None:
        raise CaptureStop("unsupported_launch", "a kernel is launched outside of the module")
    return _launches.tune(self, args, kwargs)


def install():
    """Makes Triton record launches instead of running them, in the whole process."""
    JITFunction.run = run
    triton.compiler.CompiledKernel = CompiledKernel
    JITFunction.warmup = lambda self, *args, grid=None, **kwargs: self.run(*args, grid=grid, warmup=True, **kwargs)
    Autotuner.run = tune
    tuning.install()
