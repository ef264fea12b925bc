"""OtherUses plays what a user does with a module and the judge does not: it makes other instances of it, loads weights, moves it,
copies it and changes its mode.

A plan holds calls of one instance. So another instance is made and called, and must repeat the first call of the judged one: its
constructor must do so, too, with weights of its own. It is not made if the file keeps nothing by which it could differ. If the file's
Python keeps something that changes with each instance, further instances follow. A file may override methods of torch.nn.Module, or
hook into them. Then there is an instance for each use that may run these methods, and it is called after the use.
"""

import copy
import random
import sys
from collections import OrderedDict

import torch

from . import process_answers
from .errors import CaptureStop, first_stop, forget_stop
from .further_calls import FurtherCalls
from .graphs import tensors_in
from .kept_state import KeptState
from .later_calls import Call, launches_of
from .repetition import Repetition
from .tensors import LIMIT
from .usual_names import are_usual
from .workspaces import Workspaces

MODULES_OWN = {name for name, value in vars(torch.nn.Module).items() if callable(value)} - {"__init__", "__call__", "forward"}
COPYING = {"__reduce__", "__reduce_ex__", "__getstate__", "__setstate__", "__deepcopy__", "__copy__", "__getnewargs__", "__getnewargs_ex__"}
COPIES = {"aten::clone", "aten::_to_copy", "aten::alias", "aten::detach", "aten::lift_fresh_copy"}
FORM = ("dtype", "shape", "stride", "offset", "storage_bytes")
INSTANCES = 32  # at most, before what changes with each of them is set forward
OWN_TABLES = ("_parameters", "_buffers", "_modules")
CASTS = {torch.float32: "float", torch.float16: "half", torch.bfloat16: "bfloat16", torch.float64: "double"}


def turned_over(model):
    mode = model.training
    model.eval()
    model.train()
    model.train(mode)


def cast_to_what_it_is(model):
    kinds = {each.dtype for each in (*model.parameters(), *model.buffers()) if each.is_floating_point()} or {torch.float32}
    if len(kinds) == 1 and kinds <= CASTS.keys():
        getattr(model, CASTS[kinds.pop()])()


def listed(model):
    for name in ("parameters", "named_parameters", "buffers", "named_buffers", "modules", "named_modules", "children", "named_children"):
        list(getattr(model, name)())


# What users do, and the methods by which a file may notice it. A method that is not named here may be part of each of these uses.
USES = {
    "state_dict()": (lambda model: model.state_dict(), {"state_dict"}),
    "load_state_dict()": (lambda model: model.load_state_dict(model.state_dict()), {"load_state_dict", "state_dict"}),
    "cuda()": (lambda model: model.cuda(), {"cuda"}),
    "to('cuda')": (lambda model: model.to("cuda"), {"to"}),
    "train() and eval()": (turned_over, {"train", "eval"}),
    "requires_grad_(False)": (lambda model: model.requires_grad_(False), {"requires_grad_"}),
    "zero_grad()": (lambda model: model.zero_grad(), {"zero_grad"}),
    "apply()": (lambda model: model.apply(lambda inner: None), {"apply"}),
    "a list of its parts": (listed, {"parameters", "named_parameters", "buffers", "named_buffers", "modules", "named_modules", "children",
                                     "named_children"}),
    "repr()": (lambda model: repr(model), {"__repr__", "extra_repr", "_get_name"}),
    "a cast to its own type": (cast_to_what_it_is, {"float", "half", "bfloat16", "double", "type"}),
    "copy.deepcopy()": (copy.deepcopy, COPYING),
    "copy.copy()": (copy.copy, COPYING),
}
NAMED = set().union(*(names for _, names in USES.values()))


class InitialState:
    """The state of the recorder and of the file before the judged instance is made. Other instances begin in the same state."""

    def __init__(self, recorder, module):
        self.state = module and KeptState(None, module, of_kernels_too=False)
        self.snapshot = self.state and self.state.snapshot()
        self.steps, self.tensors = len(recorder.steps), len(recorder.tensors.specs)
        self.fakes, self.constant_bytes = dict(recorder.fakes), recorder.constant_bytes
        self.random = random.getstate()
        self.before = list(recorder.steps)

    def may_have_changed(self, latest):
        """Whether the file may keep something by which another instance differs. It does not if what the file's names hold is as it was
        and its functions use nothing else that could keep it. `latest` is the last snapshot of what the module keeps, too."""
        if latest.ended or latest.opaque or not are_usual(latest.functions, self.state.names):
            return True
        now = self.state.snapshot()
        return self.snapshot.may_differ(now) or now.ended

    def again(self, recorder):
        recorder.tensors.limit += LIMIT
        recorder.fakes, recorder.constant_bytes = dict(self.fakes), self.constant_bytes
        random.setstate(self.random)


class InstanceRepetition(Repetition):
    """Compares the making and a call of another instance with those of the judged one, whose steps are `ones`.

    What the use between them made may stand for a tensor of the judged instance: a copy of its counterpart, or what the same operators
    made of the same."""

    def __init__(self, recorder, kernels, initial_state, inputs, when, ones, weights, known_values):
        """`weights` are the parameters and buffers of the judged instance. `known_values` are those before its first call."""
        super().__init__(recorder, kernels, (), when=when)
        self.known, self.end = initial_state.tensors, len(recorder.tensors.specs)
        self.inputs = set(inputs)
        self.known_values = known_values
        self.workspaces = Workspaces(recorder.tensors, initial_state.before)
        self.weights = {recorder.tensors.geometries[index][0] for index in weights}
        self.ones, self.by_use = ones, {}  # by_use: a tensor that the use made -> what made it

    def may_be_kept(self, step):
        """Another instance may share what the constructor made without weights, whatever that is. All calls of the judged instance
        share it, too."""
        given = tensors_in(step)
        if step["phase"] == "init" and all(self.is_own(index) or index in step.get("outputs", ()) for index in given):
            self.kept.update(given, step.get("outputs", ()))
            return True
        return super().may_be_kept(step)

    def is_own(self, index):
        return super().is_own(index) and self.recorder.tensors.geometries[index][0] not in self.weights

    def note_use(self, steps):
        """Takes note of the steps of the use. Returns how they differ from the judged instance's, or None: each launch, and each operator
        that writes, must be one of its own. To load a weight's own value into it changes nothing."""
        for step in steps:
            if writes(step):
                if not (step.get("aten") == "aten::copy_" and step["args"][0] == step["args"][1]) and not any(self.repeats(one, step) for one in self.ones):
                    return self.stop(f"before the call there is {self.described(step)}", step["line"])
            else:
                self.by_use.update(made_by([step]))
        return None

    def repeats(self, one, step):
        before = dict(self.numbers)
        if one.keys() == step.keys() and self.same_step({**one, "phase": ""}, {**step, "phase": ""}):
            return True
        self.numbers = before
        return False

    def is_same(self, second, first):
        if second in self.by_use and second not in self.numbers and self.is_made_alike(second, first):
            self.numbers[second] = first
        return super().is_same(second, first)

    def is_made_alike(self, second, first):
        if not self.have_one_form(second, first):
            return False
        step, position = self.by_use[second]
        if (source := copied_by(step)) is not None and self.is_same(source, first):
            return True
        one, place = made_by(self.ones).get(first, ({}, None))
        if (source := copied_by(one)) is not None and self.have_one_form(first, source) and self.is_made_alike(second, source):
            return True
        return place == position and one.get("aten", one.get("constant")) == step.get("aten", step.get("constant")) and self.matches(
            [one.get("args"), one.get("kwargs")], [step.get("args"), step.get("kwargs")])

    def have_one_form(self, second, first):
        specs = self.recorder.tensors.specs
        return all(specs[first][key] == specs[second][key] for key in FORM)


def copied_by(step):
    """Returns the tensor of which a step makes a copy, or None."""
    return step["args"][0].get("t") if step.get("aten", "").split(".")[0] in COPIES else None


def made_by(steps):
    """Returns for each tensor that the steps make the step and the position among its results."""
    return {index: (step, position) for step in steps for position, index in enumerate(step.get("outputs", ()))}


def written_by(step):
    """Returns the tensors that a step writes to, or None if the step does not tell."""
    name, _, overload = step.get("aten", "").removeprefix("aten::").partition(".")
    packet = getattr(torch.ops.aten, name, None) if name else None
    operator = getattr(packet, overload or "default", None)
    if "constant" in step or operator is None or "batch_norm" in name:
        return [] if "constant" in step else None
    given = dict(zip((each.name for each in operator._schema.arguments), step["args"])) | step["kwargs"]
    return tensors_in([given.get(each.name) for each in operator._schema.arguments if each.alias_info and each.alias_info.is_write])


def writes(step):
    return written_by(step) != []


def without_unused(steps, used, weights, known, storage_of):
    """Returns the steps without those that only make what nothing uses, as a table does of which another instance has made one for all.
    `used` are the tensors that are used after the steps, and `known` how many tensors there were before them. What depends on weights
    is left as it is."""
    own = {storage_of(index) for index in weights}
    needed, kept = own | {storage_of(index) for index in (*used, *range(known))}, []
    for step in steps:
        if not own.isdisjoint(map(storage_of, tensors_in(step))):
            own.update(map(storage_of, step.get("outputs", ())))
    needed |= own
    for step in reversed(steps):
        written = written_by(step)
        if written is None or not needed.isdisjoint(map(storage_of, [*written, *step["outputs"]])):
            needed.update(map(storage_of, tensors_in(step)))
            kept.append(step)
    return kept[::-1]


class OtherUses:
    """One use. `session` is the Session, `making` the steps of the judged instance's constructor, and `later` its LaterCalls, after
    the calls."""

    def __init__(self, session, module, model_class, initial_state, making, given, parameters, later, sets_up):
        """`sets_up` says that later calls of the judged instance differ from its first one."""
        self.sets_up = sets_up
        self.session, self.module, self.model_class, self.later = session, module, model_class, later
        self.recorder, self.initial_state, self.making, self.given = session.recorder, initial_state, making, given
        self.parameters = {each["name"]: each["tensor"] for each in parameters}
        first = later.first
        self.ones = [*making, *first.steps]
        self.one = self.made_and_called(making, Call(first.inputs, first.steps, first.outputs), parameters, initial_state.tensors)

    def storage_of(self, index):
        return self.recorder.tensors.geometries[index][0] if index >= 0 else None

    def made_and_called(self, making, call, parameters, known):
        """Returns the making of an instance and a call of it as one call. `known` says how many tensors there were before."""
        weights = [each["tensor"] for each in parameters]
        making = without_unused(making, tensors_in([call.steps, call.outputs]), weights, known, self.storage_of)
        return Call(call.inputs, [*making, *call.steps], call.outputs)

    def check(self, state, make_inputs, source, in_evaluation_too):
        """Raises an error if another instance does otherwise. Returns whether one was called in evaluation mode, and repeated the
        first call, which is tried if `in_evaluation_too`. make_inputs() makes inputs for a call."""
        self.make_inputs = make_inputs
        alike = False
        if self.initial_state.may_have_changed(self.later.states[-1]):
            before = state.snapshot()
            alike = in_evaluation_too and self.difference(lambda model: model.eval(), "in evaluation mode,") is None
            if not alike:
                self.require(lambda model: model, "called on another instance of ModelNew,")
            now = state.snapshot()
            if before.tokens != now.tokens:
                self.make_further_ones(state, now, source)
        for name, use in uses_of(self.session.model, self.module):
            self.require(use, f"called on another instance after {name},")
        return alike

    def make_further_ones(self, state, now, source):
        def one_more(may_repeat_first=False):
            return self.difference(lambda model: model, "called on one more instance of ModelNew,")
        if found := one_more():
            raise found
        states = [now, state.snapshot()]
        if states[0].tokens != states[1].tokens:
            if found := FurtherCalls(state, states, one_more, source, self.recorder.path, INSTANCES).run(len(self.one.steps)):
                raise found

    def require(self, use, when):
        if found := self.difference(use, when):
            raise found

    def difference(self, use, when):
        """Makes an instance, uses it and calls it. Returns how that differs from the judged instance, or None. Python may fail, as a
        user would see, and then nothing follows. Nor does anything follow a use of which no plan can tell what it does."""
        recorder, session = self.recorder, self.session
        kept = recorder.steps, recorder.fakes, recorder.constant_bytes, recorder.phase, random.getstate(), session.where, session.given
        numpy = sys.modules.get("numpy")
        drawn = numpy and numpy.random.get_state()
        repetition = InstanceRepetition(recorder, self.later.kernels, self.initial_state, self.later.repetition.inputs, when, self.ones,
                                        self.parameters.values(), self.later.repetition.known_values)
        self.ends_in_use, found = False, None
        try:
            found = self.compared(use, repetition)
        except BaseException:
            pass
        finally:
            recorder.steps, recorder.fakes, recorder.constant_bytes, recorder.phase = kept[:4]
            random.setstate(kept[4])
            session.where, session.given = kept[5:]
            if numpy:
                numpy.random.set_state(drawn)
        if (stopped := first_stop()) and not found:
            if stopped.error_class == "tampering":
                raise stopped
            found = None if self.ends_in_use else repetition.stop(f"it ends in {stopped.message}", stopped.line)
        forget_stop()
        return found

    def compared(self, use, repetition):
        """Returns how the making and a call of another instance differ from the judged one's, or None."""
        recorder, session = self.recorder, self.session
        self.initial_state.again(recorder)
        repetition.know_what_was_only_passed_on()
        recorder.steps, recorder.phase, session.given = [], "init", {}
        self.later.count += 1
        with process_answers.in_call(self.later.count - 1, {}):
            arguments = session.init_args(self.module, False)
            for index, tensor in session.given.items():
                repetition.numbers[recorder.index_of(tensor)] = recorder.index_of(self.given[index])
            model = session.construct(self.model_class, arguments)
            if session.request.get("in_eval_mode", False):
                model.eval()
            parameters = session.move_module(model)
            making, recorder.steps = recorder.steps, []
            self.ends_in_use = not first_stop()
            used = use(model)
            self.ends_in_use &= bool(first_stop())
            is_copy = isinstance(used, torch.nn.Module) and used is not model
            model = used if is_copy else model
        if {each["name"] for each in parameters} != self.parameters.keys():
            return repetition.stop("its parameters or buffers are others", 0)
        repetition.numbers.update({each["tensor"]: self.parameters[each["name"]] for each in parameters})
        if found := repetition.note_use(recorder.steps):
            return found
        if is_copy:
            session.move_module(model)
        fresh = self.make_inputs()
        for one, other in zip(self.one.tensors(), Call(fresh, [], None).tensors()):
            repetition.numbers[recorder.index_of(other)] = recorder.index_of(one)
        recorder.steps = []
        repetition.know_what_was_only_passed_on()
        outputs = session.called_again(model, fresh, self.module, self.later.count - 1)
        found = repetition.difference(self.one, self.made_and_called(making, Call(fresh, recorder.steps, outputs), parameters, repetition.end))
        return None if found and self.sets_up and self.repeats_later_calls(model) else found

    def repeats_later_calls(self, model):
        """Whether the second call of an instance launches what the judged one launches in later calls. What the judged one set up in its
        first call may be there for all instances."""
        self.later.count += 1
        self.recorder.steps = []
        inputs = self.make_inputs()
        outputs = self.session.called_again(model, inputs, self.module, self.later.count - 1)
        return launches_of(Call(inputs, self.recorder.steps, outputs)) == launches_of(self.later.latest)


def is_own(kind):
    return str(type.__getattribute__(kind, "__module__")) == "candidate_module"


def inner_modules(model):
    """Returns a module and all modules in it, without asking any of them."""
    found, stack = {}, [model]
    while stack:
        module = stack.pop()
        if id(module) not in found and isinstance(module, torch.nn.Module):
            found[id(module)] = module
            stack += dict.values(object.__getattribute__(module, "__dict__").get("_modules") or {})
    return found.values()


def overridden(model, module):
    """Returns the names of the methods of torch.nn.Module that the file's classes and instances have of their own, and of hooks."""
    names = set()
    for each in inner_modules(model):
        attributes = object.__getattribute__(each, "__dict__")
        for kind in type(each).__mro__:
            if kind is torch.nn.Module:
                break
            if is_own(kind):
                names |= vars(kind).keys() & (MODULES_OWN | COPYING)
        names |= attributes.keys() & MODULES_OWN
        names |= {name for name, value in attributes.items()
                  if name.endswith("_hooks") and not name.startswith(("_forward", "_backward")) and value}
        names |= {name for name in OWN_TABLES if type(attributes.get(name)) not in (dict, OrderedDict)}
    for value in list(vars(module).values()):
        if isinstance(value, type) and is_own(value):
            names |= vars(value).keys() & COPYING
    return names


def uses_of(model, module):
    """Returns the name of each use that the file may notice, and the use."""
    names = overridden(model, module)
    return [(name, use) for name, (use, noticed) in USES.items() if names & noticed or names - NAMED]
