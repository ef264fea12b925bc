"""Recorder sees every ATen operator that runs, below autograd, and records it as a step of the plan.

It sits above FakeTensorMode, so no tensor has data. A recorder serves one capture.
"""

import base64
import gc
from contextlib import contextmanager

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map
from torch._subclasses.fake_tensor import DataDependentOutputException, DynamicOutputShapeException, FakeTensor

from . import own_operators
from .constants import Constants
from .errors import CaptureStop, line_in
from .formats import as_on_a_device
from .tensors import TensorTable
from .values import encode

STEPS = 16384             # as in docs/plan.md
CONSTANT_BYTES = 4 << 20  # likewise
aten = torch.ops.aten
DETACH, LOCAL_SCALAR, LIFT_FRESH = aten.detach.default, aten._local_scalar_dense.default, aten.lift_fresh.default
CONVOLUTION = aten.convolution.default


class Facts:
    """What the recorder knows of an operator. It was read when torch made the operator, before a candidate could change it."""

    def __init__(self, func):
        overload = func._overloadname
        self.func, self.namespace = func, func.namespace
        self.name = func._schema.name if overload in ("", "default") else f"{func._schema.name}.{overload}"
        # The positions and names of the arguments that it writes to.
        self.writes = [(i, a.name) for i, a in enumerate(func._schema.arguments) if a.alias_info is not None and a.alias_info.is_write]
        self.views_in_place = torch.Tag.inplace_view in func.tags


_facts = {}  # by the operator's id. An operator that has facts is never freed.


def facts_about(func):
    if id(func) not in _facts:
        raise CaptureStop("tampering", "the file makes an operator of its own")
    return _facts[id(func)]


def install():
    """Reads the facts of each operator that torch has made and will make, in the whole process."""
    make = torch._ops.OpOverload.__init__

    def made(self, *args, **kwargs):
        make(self, *args, **kwargs)
        _facts[id(self)] = Facts(self)
    torch._ops.OpOverload.__init__ = made
    for one in gc.get_objects():
        if isinstance(one, torch._ops.OpOverload):
            _facts[id(one)] = Facts(one)


class Recorder(TorchDispatchMode):

    def __init__(self, path, fake_mode, seeds=False):
        super().__init__()
        self.seeds = seeds    # whether a number that the file draws by itself may be any number
        self.path, self.fake_mode = path, fake_mode
        self.phase = "init"
        self.steps = []
        self.graph = None     # the recording of the CUDA graph that is being captured, if there is one
        self.tensors = TensorTable(self.stop)
        self.constants = Constants(self.tensors)
        self.constant_bytes = 0
        self.fakes = {}       # id of a tensor with data -> (the tensor, its fake tensor)
        self.written = set()  # storages that forward wrote to through ATen
        self.paused = False

    @classmethod
    def _should_skip_dynamo(cls):
        """Returns False: torch would else wrap this mode, and the wrapper costs as much as recording."""
        return False

    @staticmethod
    def stop(error_class, message):
        raise CaptureStop(error_class, message)

    @contextmanager
    def pause(self):
        """Operators that run inside this context are not recorded."""
        before, self.paused = self.paused, True
        try:
            yield
        finally:
            self.paused = before

    def add_step(self, **step):
        steps = self.steps_for(step)
        if len(steps) >= STEPS:
            self.stop("not_captured", f"more than {STEPS} operators and launches")
        steps.append({"phase": self.phase, **step, "line": line_in(self.path)})

    def add_order(self, kind, stream, event):
        """Notes what happens to streams between two steps (streams.py)."""
        steps = self.steps if self.graph is None else self.graph.steps
        if len(steps) >= STEPS:
            self.stop("not_captured", f"more than {STEPS} operators, launches and waits")
        if not self.paused:
            steps.append({"phase": self.phase, "order": {"kind": kind, "stream": stream, "event": event}, "line": line_in(self.path)})

    def steps_for(self, step):
        """Returns the list that a step joins: the plan's or a CUDA graph's."""
        in_graph = self.graph is not None and self.graph.takes(step, lambda index: self.tensors.geometries[index][0])
        return self.graph.steps if in_graph else self.steps

    def repeat(self, steps):
        """Adds the steps of a CUDA graph to what is being recorded."""
        if len(self.steps) + len(steps) > STEPS:
            self.stop("not_captured", f"more than {STEPS} operators and launches")
        target = self.steps if self.graph is None else self.graph.steps
        target.extend({**step, "phase": self.phase} for step in steps)

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = dict(kwargs or {})
        facts = facts_about(func)
        if self.paused or facts.namespace in ("prim", "profiler"):
            return func(*args, **kwargs)
        if facts.namespace != "aten":
            return self.run_registered(func, args, kwargs)
        if any(isinstance(leaf, torch.Tensor) and not isinstance(leaf, FakeTensor)
               for leaf in tree_leaves((args, kwargs))):
            args, kwargs = tree_map(self.as_fake, (args, kwargs))
            if func is LIFT_FRESH:
                return args[0]
        if func is LOCAL_SCALAR:
            return self.read_scalar(args[0])
        if "generator" in kwargs:
            kwargs["generator"] = None  # a replay draws from its own generator
        kwargs.pop("pin_memory", None)
        if func is DETACH:
            return self.detach(args[0])
        if facts.views_in_place:
            self.separate(args[0])
        return self.record(func, args, kwargs)

    def detach(self, tensor):
        """Detaches a tensor without a step. Without gradients the result is the same tensor. torch detaches everything
        that a factory returns."""
        out = DETACH(tensor)
        self.tensors.by_id[id(out)] = self.index_of(tensor)
        self.tensors.alive.append(out)
        return out

    def separate(self, tensor):
        """Gives a tensor its own index before its form changes in place. Other tensors with its index keep their form."""
        before = self.index_of(tensor)
        del self.tensors.by_id[id(tensor)]
        self.add_step(aten="aten::alias", args=[{"t": before}], kwargs={}, outputs=[self.tensors.adopt(tensor)])

    def record(self, func, args, kwargs):
        name, writes = facts_about(func).name, facts_about(func).writes
        recorded_args = [encode(value, self.index_of) for value in args]
        recorded_kwargs = {key: encode(value, self.index_of) for key, value in kwargs.items()}
        try:
            out = self.laid_out(func, args, func(*args, **kwargs))
        except DataDependentOutputException:
            self.stop("data_dependent", f"{name} brings values of a tensor into Python")
        except DynamicOutputShapeException:
            known = self.constants.known_result(func, args, kwargs)
            if known is None:
                self.stop("data_dependent", f"the shape of what {name} returns depends on the values of a tensor")
            with self:  # a plan holds what follows from the source as a constant
                return tree_map(lambda leaf: self.as_fake(leaf).to(args[0].device), known)
        leaves = [leaf for leaf in ([out] if out is None else tree_leaves(out, is_leaf=lambda x: x is None))
                  if leaf is None or isinstance(leaf, torch.Tensor)]
        written = self.written_tensors(writes, args, kwargs)
        if written or any(leaf is not None for leaf in leaves):  # otherwise it only asked about a tensor's form
            outputs = [-1 if leaf is None else self.tensors.adopt(leaf) for leaf in leaves] if out is not None else []
            self.add_step(aten=name, args=recorded_args, kwargs=recorded_kwargs, outputs=outputs)
            self.constants.follow(func, args, kwargs, out, written)
        return out

    def laid_out(self, func, args, out):
        if func is not CONVOLUTION:
            return out
        with self.pause():
            return as_on_a_device(args, out)

    def record_whole(self, name, args, kwargs, out):
        """Records an operator above the point where torch chooses an implementation. `out` was computed while recording
        was paused."""
        outputs = [self.tensors.adopt(leaf) for leaf in tree_leaves(out)]
        self.add_step(aten=name, args=[encode(value, self.index_of) for value in args],
                      kwargs={key: encode(value, self.index_of) for key, value in kwargs.items()}, outputs=outputs)

    def written_tensors(self, writes, args, kwargs):
        written = []
        for position, name in writes:
            target = args[position] if position < len(args) else kwargs.get(name)
            written += [leaf for leaf in tree_leaves(target) if isinstance(leaf, torch.Tensor)]
        self.note_written(written)
        return written

    def note_written(self, tensors):
        if self.phase == "forward":
            self.written.update(self.tensors.storage_of(tensor) for tensor in tensors)

    def read_scalar(self, tensor):
        """Answers `.item()` and similar questions, but only if the value follows from the source alone."""
        known = self.constants.read_value_of(tensor)
        if known is not None:
            with torch._C._DisableTorchDispatch():
                return known.item()
        if (seed := self.drawn_seed(tensor)) is not None:
            return seed
        self.stop("data_dependent",
                  "Python reads the value of a tensor (.item(), .tolist(), float(), int(), bool() or `if tensor`)")

    def drawn_seed(self, tensor):
        """Turns `torch.randint(2**31, (1,)).item()` of a candidate into a constant: it draws a seed, and any will do.
        Returns None for any other tensor."""
        step = self.steps[-1] if self.steps and self.seeds else {}
        if not step.get("aten", "").startswith("aten::randint") or tensor.numel() != 1 or tensor.is_floating_point():
            return None
        if step["outputs"] != [self.index_of(tensor)]:
            return None
        low, high = ([value["i"] for value in step["args"] if "i" in value] + [0])[:2]
        low, high = min(low, high), max(low, high)
        seed = low + (high - low) // 3
        with torch._C._DisableTorchDispatch():
            real = torch.full(tensor.shape, seed, dtype=tensor.dtype)
            self.steps[-1] = {"phase": step["phase"], "constant": base64.b64encode(real.numpy().tobytes()).decode(),
                              "outputs": step["outputs"], "line": step["line"]}
        self.constants.know(step["outputs"][0], real)
        return seed

    def run_registered(self, func, args, kwargs):
        """Runs an operator that the file itself registered, so that its Python is recorded instead of its name."""
        body = own_operators.body_of(func._schema.name)
        if body is None:
            self.stop("not_captured", f"the operator {func._schema.name} is none of ATen's")
        with self:
            return body(*args, **kwargs)

    def as_fake(self, leaf):
        """Turns a tensor with data into a constant of the plan. Its values follow from the source alone."""
        if not isinstance(leaf, torch.Tensor) or isinstance(leaf, FakeTensor):
            return leaf
        if id(leaf) not in self.fakes:
            with torch._C._DisableTorchDispatch():
                real = leaf.detach().cpu().contiguous().clone()
                data = real.reshape(-1).view(torch.uint8).numpy().tobytes() if real.numel() else b""
            self.constant_bytes += len(data)
            if self.constant_bytes > CONSTANT_BYTES:
                self.stop("not_captured", f"the values of constant tensors exceed {CONSTANT_BYTES} bytes")
            with self.pause():
                fake = torch.empty(real.shape, dtype=real.dtype)
            index = self.tensors.adopt(fake)
            self.add_step(constant=base64.b64encode(data).decode(), outputs=[index])
            self.constants.know(index, real)
            self.fakes[id(leaf)] = leaf, fake
        return self.fakes[id(leaf)][1]

    def index_of(self, tensor):
        return self.tensors.index_of(self.as_fake(tensor))
