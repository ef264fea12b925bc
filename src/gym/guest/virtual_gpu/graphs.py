"""CUDA graphs in a capture. A graph records the steps that its context sees, and each `replay()` adds them to the plan.

On the chip nothing runs while a graph is recorded, but its memory is allotted there and then. So a step that only
allots memory, or takes a view of memory that is there, joins the plan at once. All other steps join it at each replay and
make their results anew.
"""

import torch

from . import whole_operators
from .errors import CaptureStop
from .operators import ALLOTTING
from .private import keeper

_pools = 0
keep_recording, recording_of = keeper()  # of a VirtualGraph, which a candidate has


def tensors_in(value):
    """Returns the indices of all tensors in a value or a step of a plan."""
    if isinstance(value, dict):
        if isinstance(value.get("t"), int):
            return [value["t"]]
        return [index for inner in value.values() for index in tensors_in(inner)]
    return [index for inner in value for index in tensors_in(inner)] if isinstance(value, list) else []


class Recording:
    """The steps of one graph."""

    def __init__(self):
        self.steps, self.made = [], set()  # `made` are the tensors that only a replay makes

    def takes(self, step, storage_of):
        """Whether the step belongs to the graph. The other steps run while the graph is recorded."""
        outputs, given = step.get("outputs", []), tensors_in([step.get("args"), step.get("kwargs")])
        is_view = bool(outputs) and not set(outputs) & set(given) and (
            {storage_of(index) for index in outputs} <= {storage_of(index) for index in given})
        allots = step.get("aten", "").split(".")[0] in ALLOTTING or "constant" in step
        if allots or (is_view and self.made.isdisjoint(given)):
            return False
        self.made.update(set(outputs) - set(given))
        return True


def recorder():
    current = whole_operators.recorder()
    if current is None:
        raise CaptureStop("not_captured", "a CUDA graph is used outside of the module")
    return current


def graph_pool_handle():
    global _pools
    _pools += 1
    return 0, _pools


def is_capturing():
    current = whole_operators.recorder()
    return current is not None and current.graph is not None


class VirtualGraph:
    """Replaces torch.cuda.CUDAGraph."""

    def __init__(self, keep_graph=False):
        self.mempool = graph_pool_handle()

    def capture_begin(self, pool=None, capture_error_mode="global"):
        current = recorder()
        if current.graph is not None:
            raise RuntimeError("a CUDA graph is being captured already")
        if recording_of(self) is not None:
            raise RuntimeError("this CUDAGraph instance already owns a captured graph; reset() empties it")
        self.mempool = pool or self.mempool
        current.graph = Recording()
        keep_recording(self, current.graph)

    def capture_end(self):
        recorder().graph = None

    def replay(self):
        current = recorder()
        recording = recording_of(self)
        if recording is None or current.graph is recording:
            raise RuntimeError("called CUDAGraph.replay() without a preceding successful capture")
        current.repeat(recording.steps)

    def reset(self):
        keep_recording(self, None)

    def pool(self):
        return self.mempool

    def instantiate(self): pass
    def enable_debug_mode(self): pass
    def debug_dump(self, debug_path): pass


class VirtualGraphContext:
    """Replaces torch.cuda.graph."""

    default_capture_stream = None

    def __init__(self, cuda_graph, pool=None, stream=None, capture_error_mode="global"):
        self.cuda_graph, self.pool, self.stream = cuda_graph, pool, stream

    def __enter__(self):
        self.cuda_graph.capture_begin(self.pool)

    def __exit__(self, *error):
        self.cuda_graph.capture_end()


def install(cuda):
    for module in (cuda, cuda.graphs):
        module.CUDAGraph, module.graph, module.graph_pool_handle = VirtualGraph, VirtualGraphContext, graph_pool_handle
        module.is_current_stream_capturing = is_capturing
    torch._C._cuda_isCurrentStreamCapturing = is_capturing
