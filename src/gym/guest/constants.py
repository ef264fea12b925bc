"""Constants knows the values of small tensors that follow from the source alone, so that Python may read them.

`torch.linspace(0, 0.1, 12)[3].item()` depends on no input, and modules compute sizes of layers in this way. For each small
fake tensor that is made from numbers alone, this class keeps a twin: a CPU tensor with the real values. An operator whose
tensors all have twins runs on the twins too. Any other write to a tensor's memory removes its twin.
"""

import torch
from torch.utils._pytree import tree_leaves, tree_map

LIMIT = 4096  # elements
# These operators make a tensor from numbers alone. `empty` does not: its values are unknown.
FACTORIES = {"aten::arange", "aten::linspace", "aten::logspace", "aten::zeros", "aten::ones", "aten::full", "aten::eye",
             "aten::scalar_tensor", "aten::tril_indices", "aten::triu_indices"}


class Constants:

    def __init__(self, table):
        self.table = table
        self.twins = {}    # index -> tensor with data
        self.followed = set()  # indices whose values were once known
        self.given = set()  # storages of inputs, which no kernel may change
        self.sources = {}   # index -> indices of the first tensors from which its values follow
        self.read = set()   # such first tensors whose values Python has read

    def know(self, index, real, is_given=False):
        if real.numel() <= LIMIT:
            self.twins[index] = real
            self.sources[index] = {index}
        if is_given:
            self.given.add(self.table.geometries[index][0])

    def note_launch(self, storage):
        """Forgets what a kernel may have written to."""
        if storage not in self.given:
            self.forget_storage(storage)

    def value_of(self, tensor):
        index = self.table.by_id.get(id(tensor))
        return self.twins.get(index)

    def read_value_of(self, tensor):
        """Returns the values for the candidate's Python, or None, and notes from which tensors they follow."""
        value = self.value_of(tensor)
        if value is not None:
            self.read |= self.sources.get(self.table.by_id[id(tensor)], set())
        return value

    def is_read(self, index):
        """Says whether Python has read this tensor's values, or values that they follow from or decide."""
        return bool(self.sources.get(index, set()) & self.read)

    def forget_storage(self, storage):
        if self.twins:
            for index in [i for i in self.twins if self.table.geometries[i][0] == storage]:
                del self.twins[index]

    def follow(self, func, args, kwargs, out, written):
        """Runs an operator on the twins after it ran on fake tensors. `written` are the tensors that it wrote to."""
        tensors = [leaf for leaf in tree_leaves((args, kwargs)) if isinstance(leaf, torch.Tensor)]
        if not self.can_follow(func, tensors, out) or not self.run_on_twins(func, args, kwargs, out):
            for tensor in written:
                self.forget_storage(self.table.storage_of(tensor))

    def can_follow(self, func, tensors, out):
        if torch.Tag.nondeterministic_seeded in func.tags:
            return False
        if not tensors and func._schema.name not in FACTORIES:
            return False
        if not tensors or self.twins:
            return (all(self.value_of(t) is not None for t in tensors)
                    and all(leaf.numel() <= LIMIT for leaf in tree_leaves(out) if isinstance(leaf, torch.Tensor)))
        return False

    def run_on_twins(self, func, args, kwargs, out):
        def twin(leaf):
            if isinstance(leaf, torch.Tensor):
                return self.value_of(leaf)
            return torch.device("cpu") if isinstance(leaf, torch.device) else leaf
        try:
            with torch._C._DisableTorchDispatch():
                real = func(*tree_map(twin, args), **tree_map(twin, kwargs))
        except (RuntimeError, NotImplementedError):
            return False
        sources = {source for leaf in tree_leaves((args, kwargs)) if isinstance(leaf, torch.Tensor)
                   for source in self.sources.get(self.table.by_id[id(leaf)], ())}
        for fake_leaf, real_leaf in zip(tree_leaves(out), tree_leaves(real)):
            if isinstance(fake_leaf, torch.Tensor) and isinstance(real_leaf, torch.Tensor):
                index = self.table.adopt(fake_leaf)
                self.twins[index] = real_leaf
                self.sources[index] = self.sources.get(index, set()) | sources or {index}
                self.followed.add(index)
        return True
