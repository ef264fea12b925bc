"""LaterCalls calls forward again, on other inputs and then on the first ones, and checks that it repeats the first call."""

from .repetition import Repetition


class Call:
    """One call of forward: its inputs, its steps, and what it returned as a value of the plan."""

    def __init__(self, inputs, steps, outputs):
        self.inputs, self.steps, self.outputs = inputs, steps, outputs


class LaterCalls:
    """The caller makes it when everything but forward has been recorded."""

    def __init__(self, recorder, kernels, inputs):
        self.recorder, self.kernels = recorder, kernels
        self.repetition = Repetition(recorder, kernels, inputs)

    def check(self, call_again, inputs, make_inputs, outputs):
        """Raises an error if a later call does otherwise than the first. The call on the first inputs finds answers that are
        kept by the address of an input.

        make_inputs() makes inputs for a call, and call_again(inputs) returns its outputs.
        """
        recorder = self.recorder
        first = Call(inputs, recorder.steps[self.repetition.first_step:], outputs)
        fresh = make_inputs()
        repetition = Repetition(recorder, self.kernels, fresh, self.repetition)
        self.repetition.end = len(recorder.tensors.specs)
        second = self.compared(self.repetition, first, fresh, call_again)
        repetition.end = len(recorder.tensors.specs)
        self.compared(repetition, second, inputs, call_again)

    def compared(self, repetition, call, inputs, call_again):
        """Returns the next call, which must repeat `call`."""
        repetition.begin_again(call.inputs, inputs)
        again = repetition.answer_of(lambda: call_again(inputs))
        following = Call(inputs, self.recorder.steps, again)
        found = repetition.difference(call, following)
        if found is not None:
            raise found
        return following
