"""Repetition calls forward again and checks that it does the same.

A plan holds one call, so the gym would never judge what a module does from its second call on. The second call runs in the
same process on new inputs of the same form. It must record the first call's steps, except for the indices of the tensors
that it makes. It may keep two things from the first call: memory that was never filled (a workspace), and tensors that
were computed from weights and numbers alone.
Further calls run in evaluation mode, with gradients enabled and without. They may do something else, but they must launch a
kernel too, and PyTorch may not compute there what a kernel computes otherwise.
"""

import math
import random
from types import SimpleNamespace

import torch
from torch.utils._pytree import tree_leaves

from . import streams
from .errors import CaptureStop, first_stop, forget_stop, line_of, text_of
from .graphs import tensors_in
from .operators import ALLOTTING, FILLED, PASSIVE, TABLES
from .tensors import LIMIT
from .workspaces import Workspaces, allots

NUMBERS = {"i", "f", "b", "complex"}


def without_position(order):
    return {key: value for key, value in order.items() if key not in ("before", "phase")}


class Repetition:
    """Compares one call with the next. The caller makes it right before the first of the two.

    `before` is the repetition of the call before. What the process knows without having run forward comes from the first
    call's repetition. `numbers_differ` says that a later call may pass other numbers, as a task does that counts its calls.
    `is_exact` says that no buffer may stand for another one."""

    def __init__(self, recorder, kernels, inputs, before=None, when="called a second time,", numbers_differ=False,
                 is_exact=False):
        self.recorder, self.kernels, self.when, self.numbers_differ = recorder, kernels, when, numbers_differ
        self.first_step, self.known = len(recorder.steps), len(recorder.tensors.specs)
        first = before or SimpleNamespace(fakes=dict(recorder.fakes), constant_bytes=recorder.constant_bytes, inputs=set(),
                                          known_values=dict(recorder.constants.known), random=random.getstate())
        self.fakes, self.constant_bytes, self.known_values, self.random = (
            first.fakes, first.constant_bytes, first.known_values, first.random)
        self.inputs = first.inputs | {recorder.index_of(leaf) for leaf in tree_leaves(inputs)
                                      if isinstance(leaf, torch.Tensor)}
        self.numbers = {}  # index of the second call's tensor -> index of the first call's
        self.end = 0       # the end of the first call's indices
        self.kept = set()  # the first call's tensors that the second call uses again
        self.storages_taken_up = set()
        self.is_exact = is_exact
        self.workspaces = before.workspaces if before else Workspaces(recorder.tensors, recorder.steps)

    def answer_of(self, call_again):
        """Returns what the next call returned. A call that fails ends the capture."""
        try:
            again = call_again()
            if stopped := first_stop():
                raise stopped
            return again
        except BaseException as error:
            stopped = first_stop() or error
            what = stopped.message if isinstance(stopped, CaptureStop) else f"{type(error).__name__}: {text_of(error)}"
            line = getattr(stopped, "line", None) or line_of(error, self.recorder.path)
            raise self.stop(f"it ends in {what}", line) from None

    def difference(self, one, other):
        """Returns how two calls differ, as an error, or nothing if the second repeats the first."""
        try:
            steps, orders = streams.apart(one.steps)
            again, other_orders = streams.apart(other.steps)
            self.workspaces.begin(steps, again)
            self.compare(steps, again)
            if [without_position(order) for order in orders] != [without_position(order) for order in other_orders]:
                raise self.stop("it waits for other streams", 0)
            if not self.matches(one.outputs, other.outputs):
                raise self.stop("it returns another tensor", 0)
        except CaptureStop as found:
            forget_stop()
            self.workspaces.end()
            return found
        self.workspaces.end(self.numbers)
        return None

    def check_other_mode(self, model, make_inputs, recorded, gradients):
        """Runs a call in evaluation mode and compares its kernels and grids with those of the recorded steps. Errors are ignored, because
        no plan holds this call."""
        for parameter in model.parameters():
            parameter.requires_grad_(False)
        model.eval()
        recorder = self.recorder
        recorder.steps = []
        recorder.tensors.limit += LIMIT
        try:
            with torch.set_grad_enabled(gradients):
                model(*make_inputs())
        except BaseException:
            return
        finally:
            forget_stop()
        self.check_kernels(recorded, recorder.steps, f"in evaluation mode and with gradients {'enabled' if gradients else 'disabled'}")

    def check_kernels(self, recorded, steps, mode):
        """Raises an error if the steps of a call in evaluation mode lack what a kernel does in the recorded ones."""
        if self.launches_of(recorded) and not self.launches_of(steps):
            raise CaptureStop("mode_dependent", f"{mode}, forward launches no kernel", 0)
        if instead := self.computed_instead(recorded, steps):
            raise CaptureStop("mode_dependent", f"{mode}, {instead} computes what a kernel computes otherwise", 0)

    def launches_of(self, steps):
        choices = [step["launch"][0] for step in steps if "launch" in step]
        return {(self.kernels[choice["kernel"]]["name"], tuple(choice["grid"])) for choice in choices}

    def computed_instead(self, recorded, other):
        """Returns an operator that computes a whole result in the other mode alone, if that mode lacks a kernel. Statistics
        and other small tensors do not count: in evaluation mode a norm has no kernel for them."""
        if self.launches_of(recorded) <= self.launches_of(other):
            return None
        written = [index for step in recorded if "launch" in step for index in tensors_in(step)]
        largest = max((self.elements(index) for index in written), default=0)
        known = {step.get("aten") for step in recorded}
        for step in other:
            name = step.get("aten")
            if name and name not in known and name.split(".")[0] not in PASSIVE:
                if any(2 * self.elements(index) >= largest for index in step["outputs"] if index >= 0):
                    return name
        return None

    def elements(self, index):
        return math.prod(self.recorder.tensors.specs[index]["shape"])

    def begin_again(self, given, fresh):
        recorder = self.recorder
        for one, other in zip(tree_leaves(given), tree_leaves(fresh)):
            if isinstance(one, torch.Tensor):
                self.numbers[recorder.index_of(other)] = recorder.index_of(one)
        recorder.tensors.limit += LIMIT
        recorder.steps, recorder.fakes, recorder.constant_bytes = [], dict(self.fakes), self.constant_bytes
        self.know_what_was_only_passed_on()
        random.setstate(self.random)

    def know_what_was_only_passed_on(self):
        """Restores constants that only kernels received. The capture cannot tell whether a kernel writes to its arguments,
        but most kernels only read constants."""
        table, constants = self.recorder.tensors, self.recorder.constants
        for index, values in self.known_values.items():
            if index not in constants.known and table.geometries[index][0] not in self.recorder.written:
                constants.known[index] = values

    def stop(self, what, line):
        forget_stop()
        return CaptureStop("state_carried", f"{self.when} forward does otherwise: {what}", line)

    def compare(self, steps, again):
        taken_up = {index for step in again for index in tensors_in(step) if self.known <= index < self.end}
        self.storages_taken_up = {self.recorder.tensors.geometries[index][0] for index in taken_up}
        following = iter([*again, None])
        other = next(following)
        for one in steps:
            is_new = taken_up.isdisjoint(one.get("outputs", []))
            while not self.is_exact and other is not None and allots(other) and not (is_new and self.same_step(one, other)):
                other = next(following)
            if is_new and other is not None and self.same_step(one, other):
                other = next(following)
            elif not self.may_be_kept(one):
                what, expected = "nothing" if other is None else self.described(other), self.described(one)
                if what == expected:
                    what += " with another tensor or number"
                raise self.stop(f"{what} instead of {expected}", (other or one)["line"])
        while not self.is_exact and other is not None and allots(other):
            other = next(following)
        if other is not None:
            raise self.stop(f"{self.described(other)} besides", other["line"])

    def may_be_kept(self, step):
        """Whether a later call may keep what this step makes: unfilled memory, a table, or a tensor computed from weights
        and from tensors that may be kept."""
        made, given = step.get("outputs", []), tensors_in([step.get("args"), step.get("kwargs")])
        name = step.get("aten", "").split(".")[0]
        is_table = name in TABLES or (name in FILLED and all(
            self.recorder.tensors.geometries[index][0] not in self.storages_taken_up for index in made))
        follows = "aten" in step and (given or is_table) and all(self.is_own(index) for index in given)
        if name in ALLOTTING or (follows and all(index >= self.known for index in made)):
            self.kept.update(made)
            return True
        return False

    def is_own(self, index):
        return index in self.kept or (index < self.known and index not in self.inputs)

    def described(self, step):
        if "launch" in step:
            choice = step["launch"][0]
            return f"a launch of {self.kernels[choice['kernel']]['name']} (grid {choice['grid']})"
        return step.get("aten", "a constant") + f" (line {step['line']})"

    def same_step(self, one, other):
        outputs, made = one.get("outputs", []), other.get("outputs", [])
        rest = [{key: value for key, value in step.items() if key not in ("outputs", "line")} for step in (one, other)]
        if self.numbers_differ:
            rest = [self.without_numbers(step) for step in rest]
        if len(outputs) != len(made) or not self.matches(*rest):
            return False
        specs = self.recorder.tensors.specs
        for first, second in zip(outputs, made):
            if second >= self.known and second not in self.numbers and first >= self.known:
                self.numbers[second] = first
            if not self.is_same(second, first):
                return False
            if first >= 0 and any(specs[first][key] != specs[second][key] for key in ("dtype", "shape", "stride")):
                return False
        return True

    def without_numbers(self, value):
        """Returns a step or a part of one without its numbers. A language may compile a kernel anew for some numbers, as Triton
        does, so the kernel's name stands for it."""
        if isinstance(value, dict) and not NUMBERS.isdisjoint(value):
            return {}
        if isinstance(value, dict):
            return {key: self.kernels[inner]["name"] if key == "kernel" else inner if key == "grid" else self.without_numbers(inner)
                    for key, inner in value.items()}
        if isinstance(value, list):
            return [part for part in map(self.without_numbers, value) if part != {}]
        return value

    def number(self, index):
        """Returns the first call's index for a tensor of the second call, or None for a tensor of the first call."""
        return self.numbers.get(index, index if self.is_own(index) else None)

    def is_same(self, second, first):
        return self.number(second) == first or (not self.is_exact and self.workspaces.may_stand_for(second, first))

    def matches(self, one, other):
        if isinstance(one, dict) and isinstance(other, dict):
            if isinstance(one.get("t"), int) and isinstance(other.get("t"), int):
                return self.is_same(other["t"], one["t"])
            return one.keys() == other.keys() and all(
                self.same_kernel(one[key], other[key]) if key == "kernel" else self.matches(one[key], other[key])
                for key in one)
        if isinstance(one, list) and isinstance(other, list):
            return len(one) == len(other) and all(map(self.matches, one, other))
        return type(one) is type(other) and one == other

    def same_kernel(self, one, other):
        if isinstance(one, int) and isinstance(other, int):
            return self.kernels[one] == self.kernels[other]
        return self.matches(one, other)
