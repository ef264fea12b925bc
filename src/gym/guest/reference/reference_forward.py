"""The part of the Python reference that computes a task's outputs if no plan holds the task's forward.

The referee draws weights and inputs. This process builds the module, copies the weights into it by name, and runs it.
gym/referee/python_reference_source.cc sends the requests, which also hold "source" and "device":

{"ask": "prepare"}                    {"mode": "train" | "eval"}: the mode in which forward draws no random numbers
{"ask": "forward", "mode", "init_seed", "forward_seed", "oracle": bool,
 "tensors": {index: {"dtype", "shape", "stride", "offset", "storage"}}, "parameters": [[name, index]], "inputs",
 "blocks": [bytes of each storage]}   {"outputs": value, "tensors": [{"dtype", "shape", "stride"}], "exact": [...],
                                       "changed": [[index, tensor, exact or -1]], "aliases_input", "blocks"}
Blocks of bytes follow a message: the storages after a request, the tensors in order after an answer. An answer can also be
{"error": {"class", "message"}}.
"""

import random
import sys
import traceback

import torch
from torch.utils._pytree import tree_leaves

from . import frames
from .python_reference import TASK_FILE, constructed, load, made_on
from .values import DTYPES, decode, dtype_name, encode

NORMALISATIONS = torch.nn.modules.batchnorm._NormBase  # batch and instance norms of all dimensions


class Refusal(Exception):
    """Says that the task cannot be judged with the Python reference, with an error class."""

    def __init__(self, error_class, message):
        super().__init__(message)
        self.error_class = error_class


def serve(connection, request):
    blocks = frames.read_blocks(connection, request.get("blocks", []))
    answer, sent = answer_to(request, blocks)
    frames.write(connection, answer)
    for block in sent:
        frames.write_block(connection, block)
    if torch.cuda.is_initialized():
        torch.cuda.empty_cache()  # the referee needs the memory next


def answer_to(request, blocks):
    """Returns the answer and its blocks. It never raises."""
    try:
        torch.backends.cudnn.allow_tf32 = False  # expected values are full float32
        return (prepare(request), []) if request["ask"] == "prepare" else forward(request, blocks)
    except BaseException as error:
        error_class = error.error_class if isinstance(error, Refusal) else "task_failed"
        text = str(error).strip().split("\n")[0]
        message = text if isinstance(error, Refusal) else f"{location_of(error)}{type(error).__name__}: {text}"
        return {"error": {"class": error_class, "message": message[:1000]}}, []
    finally:
        torch.backends.cudnn.allow_tf32 = True  # PyTorch's default, which the timed runs here use
        torch.set_default_dtype(torch.float32)


def location_of(error):
    """Returns "line 6: ", the innermost line of the task's file that the exception came through."""
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == TASK_FILE]
    return f"line {lines[-1]}: " if lines else ""


def seed(value):
    torch.manual_seed(value)  # all devices
    random.seed(value)
    if numpy := sys.modules.get("numpy"):
        numpy.random.seed(value % 2**32)


def draws_so_far(device):
    """Returns the states of all generators. The result changes whenever a random number is drawn."""
    numpy = sys.modules.get("numpy")
    state = [torch.get_rng_state().tolist(), random.getstate(), str(numpy.random.get_state()) if numpy else ""]
    if torch.device(device).type == "cuda":
        state.append(torch.cuda.get_rng_state(device).tolist())
    return state


def build(request, init_seed):
    """Builds the module on the device as its plan's first phase does: one seed holds from the file's first line on."""
    device = request["device"]

    def make():
        seed(init_seed)
        module = load(request["source"])
        return module, constructed(module)

    with torch.no_grad():
        try:
            with torch.device(device):
                module, model = make()
            return module, model.to(device), True
        except RuntimeError:  # the task's code cannot make its tensors on the device
            module, model = make()
            return module, model.to(device), torch.device(device).type == "cpu"


def set_mode(model, mode):
    """Sets the mode. In evaluation mode dropout and the like draw nothing. Normalisations draw nothing in any mode, so
    they keep the mode in which they were built."""
    if mode == "train":
        return
    built = [(module, module.training) for module in model.modules() if isinstance(module, NORMALISATIONS)]
    model.eval()
    for module, training in built:
        module.training = training


def prepare(request):
    device = request["device"]
    for mode in ("train", "eval"):
        module, model, _ = build(request, 1)
        with torch.no_grad():
            set_mode(model, mode)
            inputs = made_on(device, lambda: list(module.get_inputs()))
            before = draws_so_far(device)
            model(*inputs)
            if draws_so_far(device) == before:
                return {"mode": mode}
    raise Refusal("nondeterministic_reference", "the reference draws random numbers even in evaluation mode")


def forward(request, blocks):
    given = Given(request, blocks)
    plain = run(request, given, exact=False)
    exact, why = None, ""
    if request["oracle"]:
        try:
            exact = run(request, given, exact=True)
        except Exception as error:  # an operator may lack float64; then only the plain tolerance decides
            why = f"{type(error).__name__}: {error}".split("\n")[0][:400]
    return describe(plain, exact, why)


class Given:
    """Holds the tensors that the referee drew. Every run gets fresh copies."""

    def __init__(self, request, blocks):
        self.request, self.blocks = request, blocks

    def tensors(self, exact):
        """Returns copies of the tensors by their index in the plan. Tensors that shared memory share it here, too."""
        device, made, storages = self.request["device"], {}, {}
        for index, spec in self.request["tensors"].items():
            dtype, storage = DTYPES[spec["dtype"]], spec["storage"]
            wide = torch.float64 if exact and dtype.is_floating_point else dtype
            key = storage, wide, dtype
            if key not in storages:
                block = self.blocks[storage]
                flat = torch.frombuffer(block, dtype=torch.uint8) if block else torch.empty(0, dtype=torch.uint8)
                whole = flat[:len(block) - len(block) % dtype.itemsize].view(dtype)
                storages[key] = whole.to(device, wide, copy=True)
            made[int(index)] = storages[key].as_strided(spec["shape"], spec["stride"], spec["offset"])
        return made


class Ran:
    def __init__(self, outputs, state, before, inputs):
        self.outputs, self.state, self.before = outputs, state, before
        addresses = {tensor.untyped_storage().data_ptr() for tensor in inputs if tensor.numel()}
        self.leaves = [leaf for leaf in tree_leaves(outputs) if isinstance(leaf, torch.Tensor)]
        self.aliases_input = any(leaf.numel() and leaf.untyped_storage().data_ptr() in addresses for leaf in self.leaves)


def run(request, given, exact):
    tensors = given.tensors(exact)
    _, model, on_device = build(request, request["init_seed"])
    if exact:
        model.double()
        torch.set_default_dtype(torch.float64)
    try:
        with torch.no_grad():
            bind(model, request["parameters"], tensors, on_device and not exact)
            set_mode(model, request["mode"])
            inputs = [tensors[value["tensor"]] if "tensor" in value else decode(value["value"], tensors.__getitem__)
                      for value in request["inputs"]]
            of_inputs = [leaf for leaf in tree_leaves(inputs) if isinstance(leaf, torch.Tensor)]
            before = {index: tensor.clone() for index, tensor in tensors.items()}
            seed(request["forward_seed"])
            outputs = model(*inputs)
            names = state_of(model)
            state = {**tensors, **{index: names[name] for name, index in request["parameters"] if name in names}}
            return Ran(outputs, state, before, of_inputs)
    finally:
        torch.set_default_dtype(torch.float32)


def state_of(model):
    return {**dict(model.named_parameters(remove_duplicate=False)), **dict(model.named_buffers(remove_duplicate=False))}


def bind(model, parameters, tensors, reproduces):
    """Copies the weights into the module by name. Other tensors that the module holds can only be right if the constructor
    draws the same values here as in the replay."""
    own = state_of(model)
    if set(own) != {name for name, _ in parameters}:
        odd = sorted(set(own) ^ {name for name, _ in parameters})
        raise Refusal("weights_unbound", f"the module has other parameters here than when it was captured: {odd[:4]}")
    alike = True
    for name, index in parameters:
        theirs = tensors[index]
        if own[name].shape != theirs.shape or own[name].dtype != theirs.dtype:
            raise Refusal("weights_unbound", f"{name} has another shape or type here than when it was captured")
        constant = own[name].numel() == 0 or bool((own[name] == own[name].flatten()[0]).all())
        alike = alike and (constant or torch.equal(own[name], theirs))  # perturbations may change constant weights
        own[name].copy_(theirs)
    if reproduces and not alike and (loose := loose_tensor(model)):
        raise Refusal("weights_unbound", f"the constructor draws other values here than when it is replayed, and {loose} "
                                         "is neither a parameter nor a buffer")


def loose_tensor(model):
    """Returns the name of a floating-point tensor that is neither a parameter nor a buffer, or an empty string."""
    known = {id(tensor) for tensor in state_of(model).values()}
    for path, module in model.named_modules():
        for name, value in vars(module).items():
            if name in ("_parameters", "_buffers", "_modules"):
                continue
            for leaf in tree_leaves(value):
                if isinstance(leaf, torch.Tensor) and id(leaf) not in known and leaf.is_floating_point():
                    return f"{path}.{name}".lstrip(".")
    return ""


def describe(plain, exact, why):
    tensors, blocks, indices = [], [], {}

    def add(tensor):
        dense = tensor.detach().resolve_conj().resolve_neg().cpu().contiguous()
        tensors.append({"dtype": dtype_name(dense.dtype), "shape": list(dense.shape), "stride": list(tensor.stride())})
        blocks.append(dense.reshape(-1).view(torch.uint8).numpy() if dense.numel() else b"")
        return len(tensors) - 1

    def index_of(tensor):
        if id(tensor) not in indices:
            indices[id(tensor)] = add(tensor)
        return indices[id(tensor)]

    outputs = plain.outputs.to_tuple() if callable(getattr(plain.outputs, "to_tuple", None)) else plain.outputs
    value = encode(outputs, index_of)
    exact_of = {}
    if exact and [leaf.shape for leaf in exact.leaves] == [leaf.shape for leaf in plain.leaves]:
        for ours, theirs in zip(plain.leaves, exact.leaves):
            exact_of[index_of(ours)] = add(theirs)
    elif exact:
        why = "in float64 the outputs have other shapes"
    changed = []
    for index, now in plain.state.items():
        if now.shape != plain.before[index].shape:
            raise Refusal("task_failed", "forward changes the shape of an input or a buffer")
        if not same_bits(now, plain.before[index]):
            exact_state = exact.state[index] if exact and not why else None
            changed.append([index, add(now), -1 if exact_state is None else add(exact_state)])
    return {"outputs": value, "tensors": tensors, "exact": [[ours, theirs] for ours, theirs in exact_of.items()],
            "changed": changed, "aliases_input": plain.aliases_input, "no_oracle": why,
            "blocks": [block.nbytes if hasattr(block, "nbytes") else len(block) for block in blocks]}, blocks


def same_bits(a, b):
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    return torch.equal(a.contiguous().reshape(-1).view(torch.uint8), b.contiguous().reshape(-1).view(torch.uint8))
