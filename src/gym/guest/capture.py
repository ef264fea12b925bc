"""capture(request) turns a module's source text into a launch plan (docs/plan.md), without a GPU and without data.

request = {"role": "task" | "candidate", "source": text, "path": "candidate.py", "target": "sm_90", "device": {...}}
"device" holds the properties of the GPU that will run the plan, under torch's names. It may be absent.
A candidate's request also holds members of its task's plan: "init_args", "inputs", "tensors", which says what their
indices mean, "known", "first_call_only", "in_eval_mode" and "ignores_mode".
The answer is {"plan": {...}} or {"error": {"class", "message", "line", "excerpt"}, "stage": the stage that was reached}.

For debugging:  python -m tritonsmith_guest.capture FILE --role task|candidate [--task FILE]
"""

import base64
import contextlib
import inspect
import json
import math

import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils._pytree import tree_leaves, tree_map

from . import device_properties, evaluation_mode, guards, memory, process_answers, streams, whole_operators
from .errors import CaptureStop, begin, describe, describe_exception, first_stop, forget_stop
from .kept_state import KeptState
from .languages import LANGUAGES
from .later_calls import Call, LaterCalls
from .other_uses import InitialState, OtherUses
from .recorder import Recorder
from .source_module import load_module, register_source
from .values import DTYPES, decode, encode


INTEGERS = (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64)


class Session:
    """One capture. It runs the phases in order. Each phase may raise whatever the captured code raises."""

    def __init__(self, request):
        self.request = request
        self.path = request.get("path") or f"{request['role']}.py"
        self.where = "import"
        device_properties.become(request.get("target", "sm_90"), request.get("device"))
        self.fake_mode = FakeTensorMode(allow_non_fake_inputs=True)
        self.recorder = Recorder(self.path, self.fake_mode, seeds=request["role"] == "candidate")
        self.kernels = []  # the plan's "kernels"
        self.known = {index: constant_of(facts[0], request["tensors"][index])
                      for index, *facts in request.get("known", []) if len(facts) == 1}
        self.bounds = {index: facts for index, *facts in request.get("known", []) if len(facts) == 2}
        self.given = {}  # index in the request's tensors -> fake tensor
        self.planned = None  # a task's plan without the steps of its forward

    def run(self):
        recorder = self.recorder
        whole_operators.set_recorder(recorder)
        streams.begin()
        process_answers.begin_capture()
        for language in LANGUAGES:
            language.begin_capture(recorder, self.kernels)
        memory.set_tensors(recorder.tensors)
        try:
            watched = contextlib.nullcontext() if self.request["role"] == "task" else guards.hidden(self.path)
            with torch.no_grad(), self.fake_mode, recorder, watched:
                plan = self.phases()
        finally:
            whole_operators.set_recorder(None)
            for language in LANGUAGES:
                language.end_capture()
            memory.set_tensors(None)
        if stopped := first_stop():
            raise stopped
        return plan

    def phases(self):
        is_task = self.request["role"] == "task"
        if is_task:
            module = load_module(self.request["source"], self.path, "task_module")
        else:
            module = load_module(self.request["source"], self.path, "candidate_module", guards.builtins_of_candidates())
        model_class = self.model_class(module, is_task)
        initial_state = InitialState(self.recorder, None if is_task else module)
        init_args = self.init_args(module, is_task)
        self.where = "__init__"
        encoded_args = [encode(value, self.recorder.index_of) for value in init_args]
        model = self.model = self.construct(model_class, init_args)
        if self.request.get("in_eval_mode", False):
            model.eval()
        parameters = self.move_module(model)
        given_before = dict(self.given)
        inputs = self.inputs(module, is_task)
        encoded_inputs = self.encoded(inputs)
        known = known_values(inputs, self.recorder) if is_task else []
        plan = {"format": 1, "role": self.request["role"], "target": self.request.get("target", "sm_90"),
                "tensors": self.recorder.tensors.specs, "init_args": encoded_args, "inputs": encoded_inputs,
                "parameters": parameters, "kernels": self.kernels, "steps": self.recorder.steps}
        if known:
            plan["known"] = known
        if is_task:
            plan["input_names"] = input_names(model.forward, len(inputs))
        if is_task and not first_stop():
            self.planned = {**plan, "tensors": list(plan["tensors"]), "kernels": [], "steps": streams.apart(plan["steps"])[0]}
        self.where = self.recorder.phase = "forward"
        state = KeptState(model, module)
        before = state.snapshot() if is_task else None
        later = LaterCalls(self.recorder, self.kernels, inputs, None if is_task else state, self.request["source"],
                           numbers_differ=self.request.get("first_call_only", False))
        out = self.call(model, inputs)
        self.where = "outputs"
        outputs = encode_outputs(out, self.recorder)
        self.refuse_emptied(out)
        for parameter in parameters:
            if self.recorder.constants.is_read(parameter["tensor"]):
                parameter["read"] = True
        answer = {**plan, **{name: list(plan[name]) for name in ("tensors", "kernels", "steps")},
                  "outputs": outputs, "mutated_inputs": self.mutated(inputs),
                  "read_inputs": read_inputs(inputs, self.recorder)}
        if first_stop():
            return self.with_orders(answer)
        self.where = "forward"

        def make_inputs():
            self.given = dict(given_before)
            made = self.inputs(module, is_task)
            self.where = self.recorder.phase = "forward"
            return made

        def call_again(fresh):
            return self.called_again(model, fresh, module, later.count - 1)

        if not is_task:
            making = self.recorder.steps[initial_state.steps:later.repetition.first_step]
            second = later.check(call_again, inputs, make_inputs, outputs)
            uses = OtherUses(self, module, model_class, initial_state, making, given_before, parameters, later, second is not None)
            ignores_mode = self.request.get("ignores_mode", False) or self.request.get("in_eval_mode", False)
            is_alike = uses.check(state, make_inputs, self.request["source"], ignores_mode)
            if second is not None:
                answer = self.with_second_call(answer, later.repetition.first_step, second)
            if ignores_mode and not is_alike:
                found = evaluation_mode.second_call(model, later, answer, make_inputs, call_again)
                if found is not None:
                    answer["steps"] += found[0]
                    answer = self.with_second_call(answer, later.repetition.first_step, found[1])
            for gradients in (True,) if ignores_mode else (True, False):
                later.repetition.check_other_mode(model, make_inputs, later.latest.steps, gradients)
            return self.with_orders(answer)
        changes = self.changes_state(parameters) or before.tokens != state.snapshot().tokens
        if changes and self.differs_later(later, call_again, inputs, make_inputs, outputs):
            answer["first_call_only"] = True
        elif not changes and evaluation_mode.is_ignored(model, self.request["source"], later, Call(inputs, answer["steps"][later.repetition.first_step:], outputs),
                                                        make_inputs, call_again):
            answer["ignores_mode"] = True
        if evaluation_mode.has_no_draws(self.recorder, model, answer["steps"], lambda: call(model, make_inputs())):
            answer["in_eval_mode"] = True
        return self.with_orders(answer)

    def called_again(self, model, inputs, module, number):
        """Calls forward as the call of this number, from 0, and returns its outputs as the plan does."""
        with process_answers.in_call(number, {} if self.request["role"] == "task" else module.__dict__):
            again = self.call(model, inputs)
        self.refuse_emptied(again)
        return encode_outputs(again, self.recorder)

    def call(self, model, inputs):
        """Calls forward as a program may, of which the process's answers tell the call's number."""
        if self.request["role"] == "task":
            return call(model, inputs)
        leaves = [leaf for leaf in tree_leaves(inputs) if isinstance(leaf, torch.Tensor)]
        process_answers.set_versions(leaves, [process_answers.version_of_inputs()] * len(leaves))
        return process_answers.from_below(lambda: call(model, inputs))

    @staticmethod
    def with_orders(plan):
        steps, orders = streams.apart(plan["steps"])
        return {**plan, "steps": steps, **({"orders": orders} if orders else {})}

    @staticmethod
    def differs_later(later, *calls):
        try:
            return later.check(*calls) is not None
        except CaptureStop:
            forget_stop()
            return True

    def with_second_call(self, plan, first_step, second):
        """Returns a plan whose forward is the second call. The steps of the first are a phase of their own."""
        before, first = plan["steps"][:first_step], plan["steps"][first_step:]
        return {**plan, "tensors": second.tensors, "kernels": second.kernels,
                "steps": [*before, *({**step, "phase": "first_call"} for step in first), *second.steps],
                "first_call": {"inputs": plan["inputs"], "outputs": plan["outputs"], "difference": second.difference.message[:1000]},
                "inputs": self.encoded(second.inputs), "outputs": second.outputs,
                "mutated_inputs": self.mutated(second.inputs),
                "read_inputs": sorted({*plan["read_inputs"], *read_inputs(second.inputs, self.recorder)})}

    def encoded(self, inputs):
        return [{"tensor": self.recorder.index_of(value)} if isinstance(value, torch.Tensor)
                else {"value": encode(value, self.recorder.index_of)} for value in inputs]

    def changes_state(self, parameters):
        table = self.recorder.tensors
        return any(table.geometries[parameter["tensor"]][0] in self.recorder.written for parameter in parameters)

    def model_class(self, module, is_task):
        name = "Model" if is_task else "ModelNew"
        found = getattr(module, name, None)
        if not isinstance(found, type):
            raise CaptureStop("no_model", f"the file defines no class {name}", 0)
        return found

    def init_args(self, module, is_task):
        if not is_task:
            return [decode(value, lambda i: self.given_tensor(i, "cpu")) for value in self.request["init_args"]]
        self.where = "get_init_inputs"
        if not hasattr(module, "get_init_inputs"):
            return []
        return as_list(module.get_init_inputs(), "get_init_inputs")

    def construct(self, model_class, init_args):
        pair = len(init_args) == 2 and isinstance(init_args[0], (list, tuple)) and isinstance(init_args[1], dict)
        if pair and all(isinstance(key, str) for key in init_args[1]):
            return model_class(*init_args[0], **init_args[1])
        return model_class(*init_args)

    def inputs(self, module, is_task):
        if not is_task:
            return [self.given_tensor(value["tensor"], "cuda") if "tensor" in value
                    else decode(value["value"], lambda i: self.given_tensor(i, "cuda"))
                    for value in self.request["inputs"]]
        self.where = self.recorder.phase = "inputs"
        if not hasattr(module, "get_inputs"):
            raise CaptureStop("no_inputs", "the task defines no get_inputs()", 0)
        inputs = as_list(module.get_inputs(), "get_inputs")
        inputs = tree_map(self.recorder.as_fake, inputs)
        for leaf in tree_leaves(inputs):
            if isinstance(leaf, torch.Tensor):
                self.move(leaf)
        return inputs

    def given_tensor(self, index, device):
        if index not in self.given:
            spec = self.request["tensors"][index]
            dtype = DTYPES[spec["dtype"]]
            with self.recorder.pause():
                base = torch.empty(spec["storage_bytes"], dtype=torch.uint8, device=device)
                self.given[index] = torch.empty(0, dtype=dtype, device=device).set_(
                    base.untyped_storage(), spec["offset"], spec["shape"], spec["stride"])
            adopted = self.recorder.tensors.adopt(self.given[index])
            if index in self.known:
                self.recorder.constants.know(adopted, self.known[index], is_given=True)
            if index in self.bounds:
                self.recorder.constants.bound(adopted, *self.bounds[index])
        return self.given[index]

    def move_module(self, model):
        """Moves all parameters and buffers to the GPU, as `model.cuda()` does, and returns the plan's "parameters"."""
        if not isinstance(model, torch.nn.Module):
            raise CaptureStop("no_model", f"{type(model).__name__} is no torch.nn.Module", 0)
        parameters = []
        for kind, found in (("parameter", model.named_parameters(remove_duplicate=False)),
                            ("buffer", model.named_buffers(remove_duplicate=False))):
            for name, tensor in found:
                parameter = {"name": name, "tensor": self.move(tensor), "kind": kind}
                if kind == "parameter" and not tensor.requires_grad:
                    parameter["frozen"] = True
                parameters.append(parameter)
        return parameters

    def move(self, tensor):
        tensor = self.recorder.as_fake(tensor)
        with self.recorder.pause():
            return self.recorder.tensors.move_to_gpu(tensor)

    def refuse_emptied(self, out):
        """Refuses an output whose storage the code resized. No operator shows this, so a replay would not repeat it."""
        for leaf in tree_leaves(out):
            if isinstance(leaf, torch.Tensor):
                spec = self.recorder.tensors.specs[self.recorder.index_of(leaf)]
                if leaf.untyped_storage().nbytes() != spec["storage_bytes"]:
                    raise CaptureStop("not_captured", "the memory of an output was resized")

    def mutated(self, inputs):
        table, written = self.recorder.tensors, self.recorder.written
        return [i for i, value in enumerate(inputs) if any(
            isinstance(leaf, torch.Tensor) and table.storage_of(leaf) in written for leaf in tree_leaves(value))]


def call(model, inputs):
    """Calls forward. A plan knows parameters and buffers by their memory. So if forward replaces one by another tensor,
    this copies the new values into the old memory."""
    tables = [table for module in model.modules() for table in (module._parameters, module._buffers)]
    before = [dict(table) for table in tables]
    out = model(*inputs)
    olds = {id(old) for tensors in before for old in tensors.values()}
    moved = []
    with torch.no_grad():
        for table, tensors in zip(tables, before):
            for name, old in tensors.items():
                new = table.get(name)
                if old is not None and new is not None and new is not old and form(new) == form(old):
                    moved.append((table, name, old, new.clone() if id(new) in olds else new))
        for table, name, old, new in moved:
            old.copy_(new)
            table[name] = old
    return out


def input_names(forward, count):
    """Returns the names of forward's parameters for so many arguments, for messages. A name that is no plain identifier
    is empty, and so is one that the signature does not tell."""
    try:
        parameters = list(inspect.signature(forward).parameters.values())
    except (TypeError, ValueError):
        return []
    names = [parameter.name for parameter in parameters
             if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)][:count]
    rest = next((parameter.name for parameter in parameters if parameter.kind == parameter.VAR_POSITIONAL), None)
    if rest is not None:
        names += [f"{rest}[{k}]" for k in range(count - len(names))]
    return [name if name.isascii() and len(name) < 200 else "" for name in names]


def known_values(inputs, recorder):
    """Returns what a candidate's Python may know of the inputs' values. Small tensors of integers that follow from no draw,
    such as lengths, offsets and counts, have their values. Drawn integers have bounds."""
    known = {}
    for leaf in tree_leaves(inputs):
        if isinstance(leaf, torch.Tensor) and leaf.dtype in INTEGERS:
            value = recorder.constants.value_of(leaf)
            if value is not None:
                with torch._C._DisableTorchDispatch():
                    known[recorder.index_of(leaf)] = [base64.b64encode(value.contiguous().numpy().tobytes()).decode()]
            elif (bounds := recorder.constants.bounds_of(leaf)) is not None:
                known[recorder.index_of(leaf)] = list(bounds)
    return [[index, *facts] for index, facts in known.items()]


def read_inputs(inputs, recorder):
    """Returns the positions, among the distinct input tensors, of those whose values Python has read."""
    indices = dict.fromkeys(recorder.index_of(leaf) for leaf in tree_leaves(inputs) if isinstance(leaf, torch.Tensor))
    return [position for position, index in enumerate(indices) if recorder.constants.is_read(index)]


def constant_of(data, spec):
    """Returns the tensor with these values, which has data."""
    flat = torch.frombuffer(bytearray(base64.b64decode(data)) or bytearray(8), dtype=DTYPES[spec["dtype"]])
    return flat[:math.prod(spec["shape"])].reshape(spec["shape"])


def form(tensor):
    return tensor.shape, tensor.dtype, tensor.device


def as_list(value, function):
    if not isinstance(value, (list, tuple)):
        raise CaptureStop("bad_task", f"{function}() must return a list, not {type(value).__name__}", 0)
    return list(value)


def encode_outputs(out, recorder):
    if hasattr(out, "to_tuple") and callable(out.to_tuple):
        out = out.to_tuple()
    return encode(out, recorder.index_of)


def capture(request):
    """Returns the answer. It never raises."""
    path = "candidate.py"
    session = None
    try:
        path = request.get("path") or f"{request['role']}.py"
        begin(path)
        register_source(request["source"], path)
        try:
            compile(request["source"], path, "exec")
        except (SyntaxError, ValueError) as error:
            message = f"{type(error).__name__}: {getattr(error, 'msg', error)}"
            return {"error": describe("syntax_error", message, path, getattr(error, "lineno", 0) or 0),
                    "stage": "extracted"}
        session = Session(request)
        return {"plan": session.run()}
    except BaseException as error:  # captured code may raise anything; the answer reports it
        where = session.where if session else "request"
        described = describe_exception(first_stop() or error, path, where)
        if request.get("role") == "task":
            described["message"] += hint_at_hidden_files(error)
        if session and session.planned:
            return {"plan": {**session.planned, "unplanned": reason(described)}}
        return {"error": described, "stage": "inspected"}


def hint_at_hidden_files(error):
    """Adds a hint to a message about a missing file: the file may exist, but the sandbox shows only Python's own files."""
    if not isinstance(error, (FileNotFoundError, PermissionError)) or not getattr(error, "filename", None):
        return ""
    return ("; the sandbox hides every file but Python's own: show it a folder with --data DIR, whose files every user may "
            "read, and name the file by its absolute path")


def reason(error):
    """Says why a task's forward is not in its plan. The Python reference runs such a forward."""
    return f"line {error['line']}: {error['class']}: {error['message'][:1000]}"


def candidate_request(task_plan, source, path):
    return {"role": "candidate", "source": source, "path": path, "target": task_plan["target"],
            "init_args": task_plan["init_args"], "inputs": task_plan["inputs"], "tensors": task_plan["tensors"],
            "known": task_plan.get("known", []), "first_call_only": task_plan.get("first_call_only", False),
            "in_eval_mode": task_plan.get("in_eval_mode", False), "ignores_mode": task_plan.get("ignores_mode", False)}


def main():
    import argparse
    from .warm import warm
    parser = argparse.ArgumentParser(description="Print the launch plan of a file, or the error of its capture.")
    parser.add_argument("file")
    parser.add_argument("--role", choices=("task", "candidate"), required=True)
    parser.add_argument("--task", help="the task that a candidate is for; by default the candidate's own file")
    arguments = parser.parse_args()
    warm(thorough=False)
    task_path = arguments.task or arguments.file
    answer = capture({"role": "task", "source": open(task_path).read(), "path": task_path, "target": "sm_90"})
    if arguments.role == "candidate" and "plan" in answer:
        answer = capture(candidate_request(answer["plan"], open(arguments.file).read(), arguments.file))
    print(json.dumps(answer.get("plan", answer)))
    raise SystemExit(0 if "plan" in answer else 1)


if __name__ == "__main__":
    main()
