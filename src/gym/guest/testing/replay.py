"""Replays a plan of ATen operators on real CPU tensors, as the referee does, but in a few lines. Tests check captures
with it."""

import base64

import torch

from tritonsmith_guest.values import DTYPES, decode


def operator(name):
    space, rest = name.split("::")
    packet, _, overload = rest.partition(".")
    return getattr(getattr(getattr(torch.ops, space), packet), overload or "default")


class Replay:

    def __init__(self, plan):
        self.plan = plan
        self.tensors = {}

    def run(self):
        """Returns what forward returned. Random operators draw from torch's own generator."""
        with torch.no_grad():
            for step in self.plan["steps"]:
                self.step(step)
        return decode(self.plan["outputs"], self.tensors.__getitem__)

    def step(self, step):
        if "constant" in step:
            spec = self.plan["tensors"][step["outputs"][0]]
            data = bytearray(base64.b64decode(step["constant"]))
            flat = torch.frombuffer(data, dtype=DTYPES[spec["dtype"]]) if data else torch.empty(0, dtype=DTYPES[spec["dtype"]])
            self.tensors[step["outputs"][0]] = flat.reshape(spec["shape"]).clone()
            return
        args = [self.value(value) for value in step["args"]]
        kwargs = {name: self.value(value) for name, value in step["kwargs"].items()}
        out = operator(step["aten"])(*args, **kwargs)
        leaves = torch.utils._pytree.tree_leaves(out, is_leaf=lambda x: x is None) if out is not None else []
        leaves = [leaf for leaf in leaves if leaf is None or isinstance(leaf, torch.Tensor)]
        assert len(leaves) == len(step["outputs"]), step["aten"]
        for index, leaf in zip(step["outputs"], leaves):
            if index >= 0 and leaf is not None:
                self.tensors[index] = leaf
                self.check(index, leaf)

    def value(self, value):
        if value == {"device": "cuda"}:
            return torch.device("cpu")
        if "list" in value:
            return [self.value(item) for item in value["list"]]
        return decode(value, self.tensors.__getitem__)

    def check(self, index, tensor):
        spec = self.plan["tensors"][index]
        assert list(tensor.shape) == spec["shape"] and tensor.dtype == DTYPES[spec["dtype"]], (index, spec, tensor.shape)
