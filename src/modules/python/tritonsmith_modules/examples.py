"""Reads a file of example tensors as call arguments that make tensors of the same shapes and dtypes (tensor_text.py)."""

import ast
import os
import pickle
import re

from .arguments import Arguments
from .problem import Problem
from .tensor_text import text_of

ENDINGS = (".pt", ".pth", ".safetensors")


def is_example_file(text):
    return text.strip().endswith(ENDINGS) and "(" not in text


def why_unreadable(error):
    """Returns the reason in plain words. torch.load's own text advises, in bold letters, to trust the file."""
    text = " ".join(re.sub(r"\x1b\[[0-9;]*m", "", str(error)).split())
    if isinstance(error, pickle.UnpicklingError):
        foreign = re.search(r"GLOBAL (\S+)", text)
        return f"it holds {foreign[1]}, and only tensors, numbers, lists, tuples and dicts are read" if foreign else \
            "it is not what torch.save writes of tensors"
    return text[:200]


def read_examples(path, shown, option, known_names):
    """Returns the arguments. `known_names` are the parameters' names, to which the names in the file are compared."""
    if not os.path.isfile(path):
        raise Problem(f"{option} {shown}: No such file")
    try:
        loaded = load(path)
    except Exception as error:  # what torch.load raises depends on the bytes
        raise Problem(f"{option} {shown}: cannot be read as tensors ({why_unreadable(error)})") from None
    positional, keywords = arguments_of(loaded, known_names)
    where = f"{option} {shown}"
    return Arguments(option, [node_of(value, f"{where}: argument {i + 1}") for i, value in enumerate(positional)],
                     {name: node_of(value, f"{where}: `{name}`") for name, value in keywords.items()})


def load(path):
    if path.endswith(".safetensors"):
        from safetensors.torch import load_file
        return load_file(path)
    import torch
    return torch.load(path, map_location="cpu", weights_only=True)


def arguments_of(loaded, known_names):
    """Returns positional arguments and keywords of a tensor, a list, a dict or a pair of both."""
    if isinstance(loaded, (list, tuple)):
        if len(loaded) == 2 and isinstance(loaded[0], (list, tuple)) and isinstance(loaded[1], dict):
            return list(loaded[0]), dict(loaded[1])
        return list(loaded), {}
    if isinstance(loaded, dict):
        if all(isinstance(name, str) and (name in known_names or not known_names) and name.isidentifier() for name in loaded):
            return [], dict(loaded)
        return list(loaded.values()), {}
    return [loaded], {}


def node_of(value, where):
    return ast.parse(text_of(value, where), mode="eval").body
