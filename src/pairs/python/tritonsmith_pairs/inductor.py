"""Runs Inductor over a module without a GPU and returns what it wrote, and where each tensor of it comes from.

Dynamo hands every graph over to a function here. The function notes the source of each input ("L['self']._modules['fc']..."),
has Inductor write its code, and stops it before anything is compiled or run. So parameters are bound by identity.
"""

import contextlib
import io
import logging
import re
import warnings

import torch
import torch._dynamo
import torch._dynamo.repro.after_aot as after_aot
import torch._dynamo.symbolic_convert
import torch._inductor.config as config
import torch._subclasses.fake_tensor as fake_tensor
import torch.fx.experimental.proxy_tensor as proxy_tensor
import triton
import triton.runtime.cache
from torch._inductor import compile_fx, graph
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_map

from tritonsmith_guest import virtual_gpu
from tritonsmith_guest.device_properties import PROPERTIES
from tritonsmith_guest.triton_driver import VirtualDriver

from . import decompositions, shortcuts
from .errors import NoPair

# Settings under which the code is plainest: no memory reuse, no choices that only a measurement could make, no checks.
PLAIN = {
    "compile_threads": 1, "fx_graph_cache": False, "fx_graph_remote_cache": False, "allow_buffer_reuse": False,
    "inplace_buffers": False, "layout_optimization": False, "shape_padding": False, "comprehensive_padding": False,
    "size_asserts": False, "alignment_asserts": False, "nan_asserts": False, "assert_indirect_indexing": False, "combo_kernels": False,
    "benchmark_kernel": False, "joint_graph_constant_folding": False, "cpp_wrapper": False,
    "triton.unique_kernel_names": True, "triton.cooperative_reductions": False, "triton.mix_order_reduction": False,
    "triton.multi_kernel": 0, "triton.cudagraphs": False, "triton.autotune_pointwise": False,
    "triton.codegen_upcast_to_fp32": True, "graph_partition": False, "online_softmax": False, "generate_intermediate_hooks": False,
}
RANDOM = re.compile(r"inductor_seed|tl\.rand|aten\.(bernoulli|rand|normal|uniform|exponential|multinomial|native_dropout)")


class Written(BaseException):
    """Ends Inductor once it has written its code. No `except Exception` of torch's may catch it."""


class Graph:
    """What one graph of the module became: its text and buffers, the sources of its inputs, its outputs in order."""

    def __init__(self, inputs, examples, outputs):
        self.inputs, self.examples, self.outputs = inputs, examples, outputs
        self.text = None
        self.constants = {}
        self.buffers = {}  # Inductor's, by the names that they have in the text


def install():
    """Lets torch, dynamo and Inductor believe that there is a GPU.

    It does less than the virtual GPU of captures, whose functions in place of classes dynamo would stumble over."""
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    logging.getLogger("torch.__trace").handlers.clear()  # torch would print its graphs for nobody
    torch._C._ensureCUDADeviceGuardSet()
    fake_tensor.FakeTensorMode.avoid_device_init = property(lambda mode: True)
    fake_tensor.init_gpu_context = lambda *args: None
    triton.runtime.driver.set_active(VirtualDriver())
    virtual_gpu.install_raw_answers(torch._C)
    answers = {"is_available": True, "device_count": 1, "current_device": 0, "get_device_properties": PROPERTIES,
               "get_device_capability": (9, 0), "_lazy_init": None, "_exchange_device": 0, "_maybe_exchange_device": 0,
               "synchronize": None, "set_device": None, "is_bf16_supported": True, "set_rng_state": None}
    for name, answer in answers.items():
        virtual_gpu.answer_it(torch.cuda, name, answer)
    torch.cuda.random._lazy_init = lambda: None
    torch.cuda.get_rng_state = lambda device="cuda": torch.get_rng_state()
    from torch._dynamo.device_interface import CudaInterface
    for name, answer in (("get_device_properties", PROPERTIES), ("get_compute_capability", 90), ("is_available", True),
                         ("device_count", 1), ("current_device", 0)):
        setattr(CudaInterface, name, staticmethod(lambda *args, answer=answer, **kwargs: answer))
    CudaInterface.Worker.get_device_properties = staticmethod(lambda *args, **kwargs: PROPERTIES)
    install_inductor()


def install_inductor():
    for name, value in PLAIN.items():
        setattr_dotted(config, name, value)
    import torch._inductor.fx_passes.fuse_attention as fuse_attention
    import torch._inductor.fx_passes.pad_mm as pad_mm
    fuse_attention._sfdp_init = pad_mm._pad_mm_init = lambda *args, **kwargs: None  # both would use a GPU
    for kind in ("flash", "mem_efficient", "cudnn"):
        getattr(torch.backends.cuda, f"enable_{kind}_sdp")(False)
    torch._C._set_cudnn_enabled(False)
    torch._dynamo.symbolic_convert.get_funcname = lambda *arguments: None  # for logs: it reads large files of torch to name a line
    after_aot.save_graph_repro = lambda *args, **kwargs: None  # it writes each graph down, for a trace that nobody reads
    proxy_tensor.CONSTANT_NUMEL_LIMIT = 0  # it would compute with constants on a GPU, as of `torch.tensor(0.0, device=x.device)`
    torch._dynamo.config.ignore_logging_functions.add(warnings.warn)
    torch._dynamo.config.allow_rnn = True
    triton.runtime.cache.triton_key()  # a hash of Triton's files, which a guest would compute for each product
    decompositions.install()
    shortcuts.install()
    graph.GraphLowering.compile_to_module = graph.GraphLowering._compile_to_module = take_text


def setattr_dotted(target, name, value):
    *parents, last = name.split(".")
    for parent in parents:
        target = getattr(target, parent)
    if hasattr(target, last):
        setattr(target, last, value)


_current = None  # the Graph that Inductor is writing


def take_text(lowering):
    written = lowering.codegen()[0]
    _current.text = getattr(written, "value", None) or str(written)
    _current.constants = dict(lowering.constants)
    _current.buffers = dict(lowering.name_to_buffer)
    raise Written


def sources_of(module):
    """Returns the source of each input of a graph, as dynamo's guards name it."""
    return [node.meta["grapharg"].source.name if not callable(node.meta["grapharg"].source.name)
            else node.meta["grapharg"].source.name() for node in module.graph.nodes
            if node.op == "placeholder" and "grapharg" in node.meta]


def compile_module(model, inputs):
    """Returns (graph, result): result is what forward returns, whose tensors are those in graph.outputs or inputs."""
    found = []

    def backend(module, example_inputs):
        global _current
        if found:
            raise NoPair("graph_break", "its forward is not one graph: Python decides between operators")
        placeholders = [node for node in module.graph.nodes if node.op == "placeholder"]
        sources = sources_of(module)
        if len(sources) != len(placeholders):
            raise NoPair("unbound_input", "an input of its graph has no source")
        outputs = [node.meta.get("example_value") if isinstance(node, torch.fx.Node) else node
                   for node in module.graph.output_node().args[0]]
        _current = Graph(sources, list(example_inputs), outputs)
        with contextlib.suppress(Written):
            compile_fx.compile_fx(module, example_inputs)
        if _current.text and RANDOM.search(_current.text):
            raise NoPair("random", "its forward draws random numbers")
        found.append(_current)
        return lambda *args: outputs

    torch._dynamo.reset()
    compiled = torch._dynamo.optimize(backend, nopython=True, dynamic=False)(model)
    with torch.no_grad(), contextlib.redirect_stderr(io.StringIO()):
        result = compiled(*inputs)
    if not found:
        raise NoPair("no_operator", "its forward computes nothing on tensors")
    if found[0].text is None:
        raise NoPair("not_written", "Inductor wrote no code for its graph")
    return found[0], result


class KnownNumbers(TorchFunctionMode):
    """Lets a constructor read numbers that it made: `[rate.item() for rate in torch.linspace(0, 0.1, 12)]`."""

    FACTORIES = {torch.linspace, torch.arange}
    READERS = {torch.Tensor.unbind, torch.Tensor.__getitem__, torch.Tensor.item, torch.Tensor.tolist, torch.Tensor.__float__,
               torch.Tensor.__int__, torch.Tensor.__index__}

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if func in self.FACTORIES:
            with fake_tensor.unset_fake_temporarily():
                return func(*args, **{**kwargs, "device": "cpu"})
        if func in self.READERS and type(args[0]) is torch.Tensor:
            with fake_tensor.unset_fake_temporarily():
                return func(*args, **kwargs)
        return func(*args, **kwargs)


def fake_model(make_model, make_inputs):
    """Returns the module and its inputs as fake tensors on the GPU."""
    try:
        return fake_model_within(contextlib.nullcontext(), make_model, make_inputs)
    except fake_tensor.DataDependentOutputException:  # its constructor reads values of tensors
        return fake_model_within(KnownNumbers(), make_model, make_inputs)


def fake_model_within(context, make_model, make_inputs):
    with FakeTensorMode(allow_non_fake_inputs=True) as mode:
        own = torch.nn.Module._apply
        torch.nn.Module._apply = virtual_gpu.apply_to_module  # torch's own cannot move fake tensors
        try:
            with torch.device("cuda"), context:
                model = make_model()
        finally:
            torch.nn.Module._apply = own
        inputs = tree_map(lambda x: to_gpu(mode, x), make_inputs())
    for module in model.modules():
        for table in (module._parameters, module._buffers):
            for name, tensor in table.items():
                if tensor is not None and not tensor.is_cuda:
                    table[name] = on_gpu_like(mode, tensor)
    return mode, model, inputs


def to_gpu(mode, value):
    if not isinstance(value, torch.Tensor):
        return value
    fake = value if isinstance(value, fake_tensor.FakeTensor) else mode.from_tensor(value)
    return fake if fake.is_cuda else fake.to("cuda")


def on_gpu_like(mode, tensor):
    moved = to_gpu(mode, tensor.detach())
    if isinstance(tensor, torch.nn.Parameter):
        moved = torch.nn.Parameter(moved, requires_grad=tensor.requires_grad)
    return moved
