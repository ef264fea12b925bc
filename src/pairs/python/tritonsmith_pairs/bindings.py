"""Says in Python where a graph's inputs come from: "L['self']._modules['fc']._parameters['weight']" is self.fc.weight."""

import re

import torch

from .errors import NoPair

STEP = re.compile(r"\._(modules|parameters|buffers)\['([^']+)'\]|\['([^']+)'\]|\[(\d+)\]|\.([A-Za-z_]\w*)")


def expression_of(source, model):
    """Returns the expression within forward, from the name that dynamo gives the source."""
    begin = re.match(r"L\['([^']+)'\]", source)
    if begin is None:
        constant = re.fullmatch(r"G\['([A-Za-z_]\w*)'\]", source)
        if constant:
            return constant.group(1)
        raise NoPair("unbound_input", f"an input of its graph comes from {source}")
    if "__closure__" in source:  # `self.act = lambda x: layer(x)` calls a layer that also has a name
        return named_expression(source, model)
    text = name = begin.group(1)
    value = model if name == "self" else None
    for step in steps_of(source):
        table, member, key, index, attribute = step
        text += member_access(value, member) if table else f"[{key!r}]" if key else f"[{index}]" if index else f".{attribute}"
        value = followed(value, step)
    return text


def steps_of(source):
    """The steps from the first name of a source to its tensor."""
    steps, at = [], source.index("]") + 1
    while at < len(source):
        step = STEP.match(source, at)
        if step is None:
            raise NoPair("unbound_input", f"an input of its graph comes from {source}")
        steps.append(step.groups())
        at = step.end()
    return steps


def followed(value, step):
    """What a step leads to from a value; None if that is not known."""
    table, member, key, index, attribute = step
    if table:
        return getattr(value, f"_{table}", {}).get(member)
    if attribute is not None:
        return getattr(value, attribute, None)
    try:
        return value[key if key is not None else int(index)]
    except (TypeError, LookupError):
        return None


def value_of(source, model):
    """The tensor of the model that a source names; None if it is not the model's."""
    value = model if source.startswith("L['self']") else None
    for step in steps_of(source) if value is not None else ():
        value = followed(value, step)
    return value


def named_expression(source, model):
    """The expression of a weight that the model also holds under a name, for a source that leads through a function."""
    found = value_of(source, model)
    for kind in ("parameters", "buffers"):
        for path, tensor in getattr(model, f"named_{kind}")():
            if tensor is found:
                *parents, last = path.split(".")
                return expression_of("L['self']" + "".join(f"._modules['{p}']" for p in parents) + f"._{kind}['{last}']", model)
    raise NoPair("unbound_input", f"an input of its graph comes from {source}")


def is_plain(source, model):
    """Whether a tensor of the model is neither parameter nor buffer. Such a tensor does not move to a GPU with the model."""
    value = value_of(source, model)
    return isinstance(value, torch.Tensor) and not any(value is held for held in (*model.parameters(), *model.buffers()))


def member_access(parent, member):
    if isinstance(parent, (torch.nn.Sequential, torch.nn.ModuleList, torch.nn.ParameterList)) and member.isdigit():
        return f"[{member}]"
    if isinstance(parent, (torch.nn.ModuleDict, torch.nn.ParameterDict)):
        return f"[{member!r}]"
    if member.isidentifier():
        return f".{member}"
    raise NoPair("unbound_input", f"a member {member!r} of a module has no name in Python")


def variable_name(expression):
    """A name for the tensor in a kernel: self.fc.weight is fc_weight, xs[0] is xs_0."""
    name = re.sub(r"\W+", "_", expression.removeprefix("self.")).strip("_")
    return name if name.isidentifier() else f"input_{name}"
