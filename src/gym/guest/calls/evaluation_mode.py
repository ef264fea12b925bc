"""Says whether candidates of a task are captured in evaluation mode: whether forward draws random numbers in training mode only.

The judge compares such a task in evaluation mode (docs/judging.md), so a candidate whose Python asks for `self.training` must be
told the same. A task whose batch norms train keeps its mode, because a kernel for them must compute the batch's statistics.
"""

import torch
from torch.nn.modules.batchnorm import _BatchNorm

from .errors import forget_stop
from .tensors import LIMIT


def draws(step):
    """Whether torch says that the step's operator draws from a generator."""
    name, _, overload = step.get("aten", "").removeprefix("aten::").partition(".")
    packet = getattr(torch.ops.aten, name, None) if name else None
    operator = getattr(packet, overload or "default", None)
    return operator is not None and torch.Tag.nondeterministic_seeded in operator.tags


def in_forward(steps):
    return [step for step in steps if step["phase"] == "forward"]


def has_no_draws(recorder, model, steps, call_again):
    """Whether forward draws in these steps of training mode, and not when call_again() calls it in evaluation mode."""
    modules = [(module, module.training) for module in model.modules()]
    if not any(map(draws, in_forward(steps))) or any(training and isinstance(module, _BatchNorm) for module, training in modules):
        return False
    recorded, recorder.steps = recorder.steps, []
    recorder.tensors.limit += LIMIT
    try:
        model.eval()
        call_again()
        return not any(map(draws, in_forward(recorder.steps)))
    except BaseException:  # no plan holds this call
        return False
    finally:
        recorder.steps = recorded
        forget_stop()
        for module, training in modules:
            module.training = training
