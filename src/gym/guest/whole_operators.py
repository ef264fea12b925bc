"""Records some operators above the point where torch chooses an implementation for the device.

Below that point, attention asks the device which fused kernel it supports, RNNs call cuDNN, and batch norm becomes
`cudnn_batch_norm`, which no CPU has. If the whole operator is recorded, the replay chooses for the device that it runs on.
For each of these operators, a function here makes results of the right form.
"""

import functools

import torch
from torch._subclasses.fake_tensor import FakeTensor
from torch.utils._pytree import tree_leaves, tree_map

_recorder = None  # of the capture in progress


def set_recorder(recorder):
    global _recorder
    _recorder = recorder


def recorder():
    """Returns the recorder of the capture in progress, or None."""
    return _recorder


def same_form(input, *args, **kwargs):
    return torch.empty_like(input)


def contiguous_form(input, *args, **kwargs):
    return input.new_empty(input.shape)


def attention_form(query, key, value, *args, **kwargs):
    """Returns a tensor of attention's form. A GPU's fused kernels write [batch, time, heads, width] and return a view of
    it. The other implementations write the result directly."""
    shape = (*query.shape[:-1], value.shape[-1])
    if len(shape) == 4 and query.dtype in (torch.float32, torch.float16, torch.bfloat16):
        return query.new_empty((shape[0], shape[2], shape[1], shape[3])).transpose(1, 2)
    return query.new_empty(shape)


def sequence_form(input, hidden, batch_first, directions):
    """Returns [time, batch, features], or a view of it as [batch, time, features]."""
    outer = (input.shape[1], input.shape[0]) if batch_first else tuple(input.shape[:2])
    out = input.new_empty((*outer, hidden.shape[-1] * directions))
    return out.transpose(0, 1) if batch_first else out


def rnn_form(input, hidden, params, has_biases, num_layers, dropout, train, bidirectional, batch_first):
    return sequence_form(input, hidden, batch_first, 2 if bidirectional else 1), torch.empty_like(hidden)


def lstm_form(input, hidden, params, has_biases, num_layers, dropout, train, bidirectional, batch_first):
    sequence = sequence_form(input, hidden[0], batch_first, 2 if bidirectional else 1)
    return sequence, torch.empty_like(hidden[0]), torch.empty_like(hidden[1])


def ctc_form(log_probs, targets, input_lengths, target_lengths, blank=0, reduction=1, zero_infinity=False):
    return log_probs.new_empty(() if reduction else (len(input_lengths),))


FORMS = {
    "scaled_dot_product_attention": attention_form, "batch_norm": same_form, "instance_norm": contiguous_form,
    "rnn_tanh": rnn_form, "rnn_relu": rnn_form, "gru": rnn_form, "lstm": lstm_form, "ctc_loss": ctc_form,
    "lstm_cell": lambda input, hidden, *weights: (torch.empty_like(hidden[0]), torch.empty_like(hidden[1])),
    "gru_cell": lambda input, hidden, *weights: torch.empty_like(hidden),
}
# The positions of the arguments that training writes to: the running mean and variance.
STATISTICS = {"batch_norm": (3, 4), "instance_norm": (3, 4)}


FULL_PRECISION = ("batch_norm", "instance_norm", "ctc_loss")  # autocast does not convert their arguments


def to_autocast_type(leaf):
    if isinstance(leaf, torch.Tensor) and leaf.dtype == torch.float32:
        return leaf.to(torch.get_autocast_dtype("cuda"))
    return leaf


def take_whole(name, original):
    @functools.wraps(original, assigned=("__name__", "__doc__"))
    def whole(*args, **kwargs):
        recorder = _recorder
        tensors = [leaf for leaf in tree_leaves((args, kwargs)) if isinstance(leaf, torch.Tensor)]
        if recorder is None or recorder.paused or not tensors:
            return original(*args, **kwargs)
        overload = torch._C._jit_resolve_packet(f"aten::{name}", *args, **kwargs)
        if overload == "data":  # packed sequences
            return original(*args, **kwargs)
        if any(tensor.device != tensors[0].device for tensor in tensors):
            raise RuntimeError(f"{name}: expected all tensors to be on the same device")
        if torch.is_autocast_enabled("cuda") and name not in FULL_PRECISION:
            args, kwargs = tree_map(to_autocast_type, (args, kwargs))
        with recorder.pause():
            out = FORMS[name](*args, **kwargs)
        suffix = "" if overload in ("", "default") else f".{overload}"
        recorder.note_written([args[i] for i in STATISTICS.get(name, ()) if args[i] is not None and args[5]])
        recorder.record_whole(f"aten::{name}{suffix}", args, kwargs, out)
        return out
    return whole


def copied(tensor, memo):
    """Copies a fake tensor for copy.deepcopy of a module, as a stack of layers copies its first layer. torch's own way
    copies the memory, which a fake tensor does not have."""
    if id(tensor) not in memo:
        with torch.no_grad():
            copy = tensor.clone(memory_format=torch.preserve_format)
        if isinstance(tensor, torch.nn.Parameter):
            copy = torch.nn.Parameter(copy, tensor.requires_grad)
        memo[id(tensor)] = copy
    return memo[id(tensor)]


def install():
    """Replaces torch's operators by these recording ones, in the whole process."""
    FakeTensor.__deepcopy__ = copied
    functional, rnn = torch.nn.functional, torch.nn.modules.rnn
    for name in FORMS:
        if name == "scaled_dot_product_attention":
            whole = take_whole(name, functional.scaled_dot_product_attention)
            functional.scaled_dot_product_attention = torch._C._nn.scaled_dot_product_attention = whole
            continue
        whole = take_whole(name, getattr(torch, name))
        setattr(torch, name, whole)
        setattr(torch._VF, name, whole)
        if f"{name.upper()}" in rnn._rnn_impls:
            rnn._rnn_impls[name.upper()] = whole
