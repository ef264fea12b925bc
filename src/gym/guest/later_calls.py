"""LaterCalls calls forward again, on other inputs and then on the first ones, and checks what the later calls do.

A module that sets something up in its first call takes other steps in the second. The plan then holds both calls, and the
third call must repeat the second.
"""

from .repetition import Repetition


class Call:
    """One call of forward: its inputs, its steps, and what it returned as a value of the plan."""

    def __init__(self, inputs, steps, outputs):
        self.inputs, self.steps, self.outputs = inputs, steps, outputs


class SecondCall(Call):
    """A second call that differs from the first. `difference` says how."""

    def __init__(self, inputs, steps, outputs, difference, table, kernels):
        super().__init__(inputs, steps, outputs)
        self.difference = difference
        self.tensors, self.kernels = list(table.specs), list(kernels)  # those of the first two calls


class LaterCalls:
    """The caller makes it when everything but forward has been recorded."""

    def __init__(self, recorder, kernels, inputs):
        self.recorder, self.kernels = recorder, kernels
        self.repetition = Repetition(recorder, kernels, inputs)

    def check(self, call_again, inputs, make_inputs, outputs):
        """Returns nothing if the later calls repeat the first. Returns the second call if only the third repeats it. Raises
        an error otherwise. The call on the first inputs finds answers that are kept by the address of an input.

        make_inputs() makes inputs for a call, and call_again(inputs) returns its outputs.
        """
        recorder = self.recorder
        first = Call(inputs, recorder.steps[self.repetition.first_step:], outputs)
        fresh = make_inputs()
        repetition = Repetition(recorder, self.kernels, fresh, self.repetition)
        self.repetition.end = len(recorder.tensors.specs)
        second, found = self.next_call(self.repetition, first, fresh, call_again)
        other = found and SecondCall(fresh, second.steps, second.outputs, found, recorder.tensors, self.kernels)
        repetition.end = len(recorder.tensors.specs)
        _, found_later = self.next_call(repetition, second, inputs, call_again)
        if found_later is not None:
            raise found or found_later
        return other

    def next_call(self, repetition, call, inputs, call_again):
        """Returns the next call, and how it differs from `call` or None."""
        repetition.begin_again(call.inputs, inputs)
        again = repetition.answer_of(lambda: call_again(inputs))
        following = Call(inputs, self.recorder.steps, again)
        return following, repetition.difference(call, following)
