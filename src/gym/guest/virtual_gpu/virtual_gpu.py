"""The virtual GPU answers the questions that torch asks about a GPU which this machine need not have.

The answers are those of the chip that kernels are compiled for (device_properties.py). Nothing runs. A question that needs a run, such as for a measured time, ends the capture with an error class.
"""

import copy
import functools
import sys
from contextlib import contextmanager
from types import FunctionType, ModuleType

import torch

from . import addresses, gradients, graphs, guards, memory, process_answers, streams, whole_operators
from .device_properties import PROPERTIES, capability
from .errors import CaptureStop
from .languages import TITLES
from .streams import VirtualEvent, VirtualStream


def refuse(what):
    def refused(*args, **kwargs):
        raise CaptureStop("not_captured", f"{what} cannot be answered by a capture: nothing runs")
    return refused


# These take the device as their first argument. There is one, and PyTorch refuses the number of any other.
OF_A_DEVICE = {"current_stream", "default_stream", "get_device_properties", "get_device_capability", "get_device_name", "mem_get_info",
               "synchronize", "set_device", "memory_allocated", "max_memory_allocated", "memory_reserved", "max_memory_reserved",
               "memory_stats", "_cuda_setDevice"}


def of_this_device(answer):
    @functools.wraps(answer)
    def answered(*args, **kwargs):
        device = args[0] if args else kwargs.get("device")
        if isinstance(device, (str, torch.device)):
            device = torch.device(device).index
        if type(device) is int and device > 0:
            raise torch.AcceleratorError("CUDA error: invalid device ordinal")
        return answer(*args, **kwargs)
    return answered


class VirtualGenerator(torch.Generator):
    """A generator for the GPU that works without a GPU. Seeds do not matter, since a replay draws its own numbers."""

    def __new__(cls, device="cpu"):
        return super().__new__(cls, "cpu")


class NoExtensions(ModuleType):
    """Replaces torch.utils.cpp_extension: nothing builds or loads C++ or CUDA code here."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return refuse(f"torch.utils.cpp_extension.{name}")


@contextmanager
def guard(*args, **kwargs):
    yield


def unchanged(target=None, *args, **kwargs):
    """Replaces torch.jit.script and similar functions. A capture records eager behaviour."""
    return target if target is not None else lambda function: function


def compiled(model=None, *args, **kwargs):
    """Replaces torch.compile. A task's module stays as it is. A candidate may compile a function that never runs: calling
    it ends the capture, since another compiler would write what runs."""
    if model is None:
        return compiled
    recorder = whole_operators.recorder()
    if recorder is None or not recorder.seeds:
        return model

    def refused(*args, **kwargs):
        raise CaptureStop("not_captured", "a function that torch.compile has compiled is called, so another compiler would "
                                          f"write what it computes; write that as a {TITLES} kernel, or leave torch.compile out")
    if isinstance(model, torch.nn.Module):
        model = copy.copy(model)
        model.forward = refused
        return model
    return functools.wraps(model)(refused)


def apply_to_module(self, function, recurse=True):
    """Replaces nn.Module._apply (`.cuda()`, `.half()`). torch's own cannot swap fake tensors that have other references."""
    if recurse:
        for module in self.children():
            module._apply(function)
    with torch.no_grad():
        for tensor in self._parameters.values():
            if tensor is not None:
                applied = function(tensor)
                tensor.data = applied
                tensor.fake_device = applied.device
    for name, tensor in self._buffers.items():
        if tensor is not None:
            self._buffers[name] = function(tensor)
    return self


def install():
    """Makes the virtual GPU answer all of torch's questions to a driver, in the whole process."""
    import torch._subclasses.fake_tensor as fake_tensor
    torch._C._ensureCUDADeviceGuardSet()  # makes device guards no-ops; must come before is_available returns True
    fake_tensor.FakeTensorMode.avoid_device_init = property(lambda mode: True)  # torch.tensor(..., device="cuda")
    torch.nn.Module._apply = apply_to_module
    fake_tensor.init_gpu_context = lambda *args: None  # would make a CUDA context
    install_cuda(torch.cuda)
    install_raw_answers(torch._C)
    install_accelerator(torch.accelerator)
    torch.Stream, torch.Event = VirtualStream, VirtualEvent
    torch._C._set_cudnn_enabled(False)  # otherwise convolutions ask the device for its algorithms
    torch.backends.cudnn.is_acceptable = lambda tensor: False  # RNN weights need no flattening here
    torch.compile = compiled
    torch.jit.script = torch.jit.trace = unchanged
    torch.Generator = VirtualGenerator
    install_tensor_answers(fake_tensor.FakeTensor)
    install_storage_answers(torch.UntypedStorage)
    gradients.install()
    sys.modules["torch.utils.cpp_extension"] = torch.utils.cpp_extension = NoExtensions("torch.utils.cpp_extension")


def install_cuda(cuda):
    answers = dict(
        is_available=True, is_initialized=True, device_count=1, current_device=0, current_stream=streams.current,
        default_stream=streams.default, get_device_properties=PROPERTIES,
        get_device_capability=lambda *args, **kwargs: capability(), get_device_name=lambda *args, **kwargs: PROPERTIES.name,
        get_arch_list=lambda: [f"sm_{PROPERTIES.major}{PROPERTIES.minor}"], mem_get_info=memory.information,
        synchronize=streams.synchronize, init=None, _lazy_init=None, set_device=None, set_stream=streams.use,
        empty_cache=None, ipc_collect=None, memory_allocated=memory.allocated,
        max_memory_allocated=memory.most_allocated, memory_reserved=memory.reserved, max_memory_reserved=memory.reserved, reset_peak_memory_stats=None, manual_seed=None,
        manual_seed_all=None, seed=None, seed_all=None, initial_seed=0, is_bf16_supported=True,
        can_device_access_peer=False, get_gencode_flags="",
        is_tf32_supported=True, memory_stats=memory.statistics,
        memory_snapshot=refuse("a snapshot of a GPU's memory"), memory_summary=refuse("a summary of a GPU's memory"),
        memory_stats_as_nested_dict=refuse("a summary of a GPU's memory"),
        memory_cached=memory.reserved, max_memory_cached=memory.reserved, reset_max_memory_allocated=None,
        reset_max_memory_cached=None,
        reset_accumulated_memory_stats=None, get_per_process_memory_fraction=1.0, set_per_process_memory_fraction=None,
        get_allocator_backend="native", get_sync_debug_mode=0, set_sync_debug_mode=None, get_stream_from_external=streams.default,
        set_rng_state=None, set_rng_state_all=None,
        _is_in_bad_fork=False, _exchange_device=0, _maybe_exchange_device=0, _get_device_index=0)
    for name, answer in answers.items():
        answer_it(cuda, name, answer)
        for module in (cuda.memory, cuda.random):
            if hasattr(module, name):
                answer_it(module, name, answer)
    cuda.get_rng_state = cuda.random.get_rng_state = lambda *args: torch.zeros(16, dtype=torch.uint8)
    cuda.get_rng_state_all = cuda.random.get_rng_state_all = lambda: [cuda.get_rng_state()]
    cuda.default_generators = (torch.default_generator,)
    cuda.cudart = cuda.current_blas_handle = refuse("the CUDA runtime")
    cuda.device = cuda.device_of = guard
    cuda.stream = cuda.StreamContext = streams.Entered
    cuda.Stream = cuda.ExternalStream = cuda.streams.Stream = VirtualStream
    cuda.Event = cuda.streams.Event = VirtualEvent
    VirtualEvent.elapsed_time = refuse("the time between two CUDA events")
    cuda.make_graphed_callables = refuse("a module that torch turns into a CUDA graph")
    graphs.install(cuda)
    cuda.nvtx.range_push = cuda.nvtx.range_pop = cuda.nvtx.mark = lambda *args: None
    cuda.nvtx.range = guard
    cuda.memory._snapshot = cuda.memory._dump_snapshot = refuse("a snapshot of a GPU's memory")
    # torch.manual_seed calls all of these. Those of other accelerators would look into this process for a trace.
    for module in (cuda.random, torch.xpu, torch.mtia):
        module.manual_seed = module.manual_seed_all = lambda *args: None


def install_raw_answers(raw):
    """Replaces the functions below torch.cuda. Code that torch.compile generated calls them directly."""
    answers = dict(
        _cuda_getCurrentRawStream=streams.raw_current, _cuda_getCurrentStream=streams.current_parts,
        _cuda_getDefaultStream=(0, 0, 1), _cuda_setStream=streams.use_raw,  # the stream's id, its device's index and type
        _cuda_getDevice=0, _cuda_getDeviceCount=1, _cuda_setDevice=None, _cuda_exchangeDevice=0, _cuda_maybeExchangeDevice=0,
        _cuda_synchronize=streams.synchronize, _cuda_emptyCache=None)
    for name, answer in answers.items():
        answer_it(raw, name, answer)


def answer_it(module, name, answer):
    function = answer if isinstance(answer, FunctionType) else lambda *args, **kwargs: answer
    setattr(module, name, of_this_device(function) if name in OF_A_DEVICE else function)


# The dtypes that tensors on a GPU may have. Quantized types and types of less than a byte need special operators.
DTYPES = {
    torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.complex32, torch.complex64, torch.complex128,
    torch.float8_e4m3fn, torch.float8_e5m2, torch.float8_e4m3fnuz, torch.float8_e5m2fnuz, torch.float8_e8m0fnu,
    torch.int8, torch.int16, torch.int32, torch.int64, torch.uint8, torch.uint16, torch.uint32, torch.uint64, torch.bool}


def install_accelerator(accelerator):
    answers = dict(
        is_available=True, device_count=1, current_accelerator=torch.device("cuda"), current_device_index=0,
        current_device_idx=0, set_device_index=None, set_device_idx=None, current_stream=streams.current,
        set_stream=streams.use, synchronize=streams.synchronize, empty_cache=None, memory_stats=memory.statistics, memory_allocated=memory.allocated,
        max_memory_allocated=memory.most_allocated, memory_reserved=memory.reserved, max_memory_reserved=memory.reserved, reset_accumulated_memory_stats=None,
        reset_peak_memory_stats=None, get_memory_info=memory.information,
        get_device_capability=lambda *args: {"supported_dtypes": set(DTYPES)})
    for module in (accelerator, getattr(accelerator, "memory", None)):
        for name, answer in answers.items():
            if hasattr(module, name):
                answer_it(module, name, answer)
    accelerator.device_index = guard
    for name in ("_get_accelerator", "_accelerator_getAccelerator"):
        if hasattr(torch._C, name):
            answer_it(torch._C, name, torch.device("cuda"))
    torch.get_device_module.cache_clear()  # it may have found no accelerator before


def is_known(tensor):
    recorder = whole_operators.recorder()
    return recorder is not None and recorder.constants.value_of(tensor) is not None


def known_array(tensor):
    """Returns the values of a tensor that follow from the source alone."""
    with torch._C._DisableTorchDispatch():
        return whole_operators.recorder().constants.read_value_of(tensor).numpy()


def size_of_tensor():
    """Returns the `__sizeof__` by which sys.getsizeof finds a fake tensor as large as a real one. Python itself adds more
    bytes for a class that is written in Python."""
    real = torch.empty(0)
    like_a_fake = real.as_subclass(type("Subclass", (torch.Tensor,), {}))
    added = sys.getsizeof(like_a_fake) - like_a_fake.__sizeof__()
    size = sys.getsizeof(real) - added
    return lambda self: size


def install_tensor_answers(fake_tensor_class):
    def reads(what):
        def refused(self, *args, **kwargs):
            raise CaptureStop("data_dependent", f"{what} reads the values of a tensor")
        return refused
    fake_tensor_class.numpy = lambda self, *, force=False: known_array(self) if is_known(self) else reads(".numpy()")(self)
    fake_tensor_class.__array__ = lambda self, *args, **kwargs: known_array(self) if is_known(self) else reads("numpy")(self)
    fake_tensor_class.__repr__ = fake_tensor_class.__str__ = reads("printing a tensor")
    fake_tensor_class.__format__ = lambda self, spec: str(self)
    for name in ("to_sparse", "to_sparse_csr", "to_sparse_csc", "to_sparse_bsr", "to_sparse_bsc", "to_mkldnn"):
        setattr(fake_tensor_class, name, refuse(f".{name}()"))
    fake_tensor_class.data_ptr = addresses.address_of
    fake_tensor_class._version = property(version_of)
    fake_tensor_class.pin_memory = lambda self, device=None: self
    fake_tensor_class.__sizeof__ = size_of_tensor()
    fake_tensor_class.record_stream = lambda self, stream: None
    fake_tensor_class.is_shared = lambda self: self.is_cuda


_real_version = torch.Tensor._version


def version_of(tensor):
    """Returns how often a tensor was written in place. That of an input is another number in each call."""
    if guards.is_called_by_candidate():
        process_answers.note_version()
    return _real_version.__get__(tensor)


def install_storage_answers(storage_class):
    """Makes the storage of a fake tensor answer as the storage of a tensor on a GPU does."""
    real_address, real_device, real_shared = storage_class.data_ptr, storage_class.device, storage_class.is_shared

    def is_fake(storage):
        return real_device.__get__(storage).type == "meta"
    storage_class.data_ptr = lambda self: addresses.address_of_storage(self) if is_fake(self) else real_address(self)
    storage_class.device = property(lambda self: memory.device_of(self) if is_fake(self) else real_device.__get__(self))
    storage_class.is_shared = lambda self: memory.device_of(self).type == "cuda" if is_fake(self) else real_shared(self)
