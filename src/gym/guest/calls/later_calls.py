"""LaterCalls calls forward again, on other inputs and then on the first ones, and checks what the later calls do.

A module that sets something up in its first call takes other steps in the second. The plan then holds both calls, and the
third call must repeat the second. Another module sets something up for each address of its inputs, as one that keeps a CUDA
graph by `data_ptr()`. Its second call, on inputs elsewhere, repeats the first, and its third call, on the first inputs again, only
replays. Then the plan holds the first call and the third.

A module whose Python keeps something that changes from call to call, such as a count, is called further times (further_calls.py).
A module that asks for versions of tensors is called twice more, as if an optimizer had written to its weights.
"""

import torch
from torch.utils._pytree import tree_leaves

from . import process_answers
from .errors import CaptureStop, forget_stop
from .further_calls import FurtherCalls, calls_of
from .graphs import tensors_in
from .repetition import Repetition

SNAPSHOTS = 5  # from this call on, nobody needs a snapshot
WRITES = 41  # that an optimizer makes to each weight between two calls


class Call:
    """One call of forward: its inputs, its steps, and what it returned as a value of the plan."""

    def __init__(self, inputs, steps, outputs):
        self.inputs, self.steps, self.outputs = inputs, steps, outputs

    def tensors(self):
        """Returns the tensors among its inputs."""
        return [leaf for leaf in tree_leaves(self.inputs) if isinstance(leaf, torch.Tensor)]


class SecondCall(Call):
    """A second call that differs from the first. `difference` says how."""

    def __init__(self, inputs, steps, outputs, difference, table, kernels):
        super().__init__(inputs, steps, outputs)
        self.difference = difference
        self.tensors, self.kernels = list(table.specs), list(kernels)  # those of the first two calls


def renumbered(value, numbers):
    """Returns a value or steps of a plan with other indices of tensors."""
    if isinstance(value, dict):
        return {key: numbers.get(inner, inner) if key == "t" and isinstance(inner, int)
                else [numbers.get(index, index) for index in inner] if key == "outputs" else renumbered(inner, numbers)
                for key, inner in value.items()}
    return [renumbered(inner, numbers) for inner in value] if isinstance(value, list) else value


def launches_of(call):
    """Returns the kernels, grids and numbers of a call's launches."""
    return [[(choice["kernel"], choice["grid"], [value for value in choice["arguments"] if "t" not in value]) for choice in step["launch"]]
            for step in call.steps if "launch" in step]


class LaterCalls:
    """The caller makes it when everything but forward has been recorded."""

    def __init__(self, recorder, kernels, inputs, state=None, source="", numbers_differ=False):
        """`state` is the candidate's KeptState, and `source` the text of its file. A task has none. `numbers_differ` says that later
        calls may pass other numbers."""
        self.recorder, self.kernels, self.state, self.source, self.numbers_differ = recorder, kernels, state, source, numbers_differ
        # `following` compares the last call with the next.
        self.repetition = self.following = Repetition(recorder, kernels, inputs, numbers_differ=numbers_differ)
        self.count, self.states, self.first = 1, [], None
        self.latest = None  # the call that the next one is compared with

    def check(self, call_again, inputs, make_inputs, outputs):
        """Returns nothing if the later calls repeat the first. Returns the second call if only the third repeats it. Raises
        an error otherwise. The call on the first inputs finds answers that are kept by the address of an input.

        make_inputs() makes inputs for a call, and call_again(inputs) returns its outputs.
        """
        recorder = self.recorder
        first = self.first = Call(inputs, recorder.steps[self.repetition.first_step:], outputs)
        fresh = make_inputs()
        second, found = self.next_call(first, fresh, call_again)
        answer = found and SecondCall(fresh, second.steps, second.outputs, found, recorder.tensors, self.kernels)
        third, found_later = self.next_call(second, inputs, call_again)
        last = third
        if found_later is not None:
            last = self.repeated(third, inputs, call_again) if found is None else None
            if last is None:
                raise found or found_later
            answer = self.on_other_inputs(third, fresh, found_later)
        self.go_on(last, inputs, call_again)
        return answer

    def go_on(self, last, inputs, call_again):
        """Calls further times while Python keeps something that changes. Raises an error if a call differs from the last."""
        def call_once(may_repeat_first=False):
            nonlocal last
            before, following = last, self.following
            last, found = self.next_call(last, inputs, call_again)
            if found and may_repeat_first and self.repeats_first(last):
                last, self.following = before, following
                self.latest = last
                return None
            return found
        if not self.state:
            return
        if found := FurtherCalls(self.state, self.states[-2:], call_once, self.source, self.recorder.path).run(len(last.steps)):
            raise found
        self.see_all_workspaces(call_once, len(last.steps))
        if process_answers.asks_versions():
            self.see_written_weights(last, inputs, call_again)

    def repeats_first(self, call):
        """Whether the call takes the steps of the first one, as a module does that sets something up if its count is 1."""
        for one, other in zip(tree_leaves(self.first.inputs), tree_leaves(call.inputs)):
            if isinstance(one, torch.Tensor):
                self.repetition.numbers[self.recorder.index_of(other)] = self.recorder.index_of(one)
        return self.repetition.difference(self.first, call) is None

    def see_all_workspaces(self, call_once, steps):
        """Calls until each buffer that may be used was used. What is kept of a buffer does not tell it from another one."""
        workspaces, calls = self.repetition.workspaces, calls_of(steps)
        while workspaces.unseen():
            if calls == 0:
                raise CaptureStop("state_carried", f"forward takes turns with its buffers, and {self.count} calls did not use all of them: "
                                  "keep fewer", 0)
            calls -= 1
            if found := call_once():
                raise found

    def see_written_weights(self, last, inputs, call_again):
        """Calls twice after the weights got other versions. A module may make anew what it keeps of them, but its launches are those
        of the last call. A module may also refuse such weights."""
        weights = (*self.state.model.parameters(), *self.state.model.buffers())
        process_answers.set_versions(weights, [weight._version + WRITES for weight in weights])
        call = last
        for _ in range(2):
            try:
                call, found = self.next_call(call, inputs, call_again)
            except CaptureStop as stopped:
                if isinstance(stopped.__context__, CaptureStop):
                    raise
                forget_stop()
                return
            following = iter(launches_of(call))
            if found and not all(launch in following for launch in launches_of(last)):
                found.message += "; so it is after its weights were written to"
                raise found

    def repeated(self, third, inputs, call_again):
        """Returns a fourth call if the third one launches and the fourth, on the same inputs, takes exactly its steps."""
        if not any("launch" in step for step in third.steps):
            return None
        self.following = Repetition(self.recorder, self.kernels, inputs, self.repetition, is_exact=True)
        fourth, found = self.next_call(third, inputs, call_again)
        return fourth if found is None else None

    def on_other_inputs(self, call, fresh, found):
        """Returns a call as if it were on other inputs. In the plan they stand for new values at the first inputs' addresses,
        so what the call keeps of the first values is wrong there."""
        recorder, table = self.recorder, self.recorder.tensors
        recorder.steps, numbers, bases = [], {}, {}
        for one, other in zip(tree_leaves(call.inputs), tree_leaves(fresh)):
            if isinstance(one, torch.Tensor):
                numbers[recorder.index_of(one)] = recorder.index_of(other)
                bases[table.storage_of(one)] = other
        for index in {*tensors_in(call.steps), *tensors_in(call.outputs)} - numbers.keys():
            base = bases.get(table.geometries[index][0])
            if base is not None:  # a view of an input
                spec = table.specs[index]
                view = base.view(getattr(torch, spec["dtype"])) if base.dtype != table.geometries[index][1] else base
                numbers[index] = recorder.index_of(view.as_strided(spec["shape"], spec["stride"], spec["offset"]))
        steps = [*recorder.steps, *renumbered(call.steps, numbers)]
        return SecondCall(fresh, steps, renumbered(call.outputs, numbers), found, table, self.kernels)

    def next_call(self, call, inputs, call_again):
        """Returns the next call, and how it differs from `call` or None."""
        repetition, self.count = self.following, self.count + 1
        when = "called a second time," if self.count < 3 else f"in call {self.count + 1}"
        self.following = Repetition(self.recorder, self.kernels, inputs, self.repetition, when, self.numbers_differ)
        repetition.end = len(self.recorder.tensors.specs)
        repetition.begin_again(call.inputs, inputs)
        try:
            again = repetition.answer_of(lambda: call_again(inputs))
        except BaseException:
            self.following = repetition  # the call after it is compared with `call`
            raise
        if self.state and self.count < SNAPSHOTS:
            self.states.append(self.state.snapshot())
        self.latest = following = Call(inputs, self.recorder.steps, again)
        return following, repetition.difference(call, following)
