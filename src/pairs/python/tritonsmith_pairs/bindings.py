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
    name = begin.group(1)
    value = model if name == "self" else None
    text, at = name, begin.end()
    while at < len(source):
        step = STEP.match(source, at)
        if step is None:
            raise NoPair("unbound_input", f"an input of its graph comes from {source}")
        table, member, key, index, attribute = step.groups()
        if table:
            text += member_access(value, member)
            value = getattr(value, f"_{table}", {}).get(member)
        elif key is not None:
            text += f"[{key!r}]"
        elif index is not None:
            text += f"[{index}]"
        else:
            text += f".{attribute}"
            value = getattr(value, attribute, None)
        at = step.end()
    return text


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
