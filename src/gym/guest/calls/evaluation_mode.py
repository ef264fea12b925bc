"""Says what a task's forward does with its module's mode, and what a candidate does in evaluation mode.

If forward draws random numbers in training mode only, candidates of the task are captured in evaluation mode. The judge compares such a
task in evaluation mode (docs/judging.md), so a candidate whose Python asks for `self.training` must be told the same. A task whose batch
norms train keeps its mode, because a kernel for them must compute the batch's statistics.

If forward does the same in both modes, a candidate's result is the same, too. So the plan also holds a candidate's call in evaluation
mode if it takes other steps than one in training mode.
"""

import types

import torch
from torch.nn.modules.batchnorm import _BatchNorm

from .errors import CaptureStop, forget_stop
from .graphs import tensors_in
from .later_calls import SNAPSHOTS, SecondCall
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


def codes_in(code):
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from codes_in(constant)


def may_ask(kind, known={}):
    """Whether the functions of a module's class name its mode."""
    if kind not in known:
        functions = [value for base in kind.__mro__ if base not in (torch.nn.Module, object) for value in vars(base).values()
                     if isinstance(value, types.FunctionType)]
        known[kind] = any("training" in code.co_names for function in functions for code in codes_in(function.__code__))
    return known[kind]


def is_ignored(model, source, later, first, make_inputs, call_again):
    """Whether a task's forward takes the same steps in both modes. `first` is its first call, in the mode of `model`."""
    modules = [(module, module.training) for module in model.modules()]
    if "training" not in source and not any(may_ask(type(module)) for module, _ in modules):
        return True
    recorded = later.recorder.steps
    later.recorder.tensors.limit += LIMIT
    try:
        model.eval()
        return later.next_call(first, make_inputs(), call_again)[1] is None
    except BaseException:  # no plan holds this call
        return False
    finally:
        later.recorder.steps = recorded
        forget_stop()
        for module, training in modules:
            module.training = training


def second_call(model, later, plan, make_inputs, call_again):
    """Calls a candidate in evaluation mode. Returns the steps that the change of its mode takes and that call, if it differs from the
    last one in training mode. `plan` is the candidate's plan. Python may fail, as a user would see, and then nothing follows."""
    recorder = later.recorder
    recorder.steps = []
    recorder.tensors.limit += LIMIT
    last, later.following.when = later.latest, "in evaluation mode,"
    later.count = max(later.count, SNAPSHOTS)
    try:
        model.eval()
        switching, fresh = recorder.steps, make_inputs()
        with torch.no_grad():
            call, found = later.next_call(last, fresh, call_again)
    except BaseException as error:
        stopped = error.__context__ if isinstance(error.__context__, CaptureStop) else error
        if isinstance(stopped, CaptureStop) and stopped.error_class == "tampering":
            raise stopped from None
        forget_stop()
        return None
    later.repetition.check_kernels(last.steps, call.steps, "in evaluation mode and with gradients disabled")
    if found is None:
        return None
    made = {each["tensor"] for each in plan["parameters"]} | later.repetition.inputs | {recorder.index_of(each) for each in call.tensors()}
    for step in (*plan["steps"], *switching, *call.steps):
        made.update(step.get("outputs", ()))
    if "first_call" in plan or len(recorder.tensors.specs) > LIMIT or not made.issuperset(tensors_in([*switching, *call.steps])):
        raise CaptureStop("mode_dependent", found.message, found.line)
    return switching, SecondCall(call.inputs, call.steps, call.outputs, found, recorder.tensors, later.kernels)
