"""Constants knows the values of small tensors that follow from the source alone, so that Python may read them.

`torch.linspace(0, 0.1, 12)[3].item()` depends on no input, and modules compute sizes of layers in this way. For each small
fake tensor that is made from numbers alone, this class keeps the real values in a CPU tensor. If it knows the values of all
tensors of an operator, it runs the operator on these values, too. Any other write to a tensor's memory removes its values.
"""

import torch
from torch.utils._pytree import tree_leaves, tree_map

from . import bounds
from .operators import FACTORIES

LIMIT = 4096  # elements


class Constants:

    def __init__(self, table):
        self.table = table
        self.known = {}    # index -> CPU tensor with the real values
        self.followed = set()  # indices whose values were once known
        self.given = set()  # storages of inputs, which no kernel may change
        self.sources = {}   # index -> indices of the first tensors from which its values follow
        self.read = set()   # such first tensors whose values Python has read
        self.bounds = {}   # index -> the least and the largest value that the elements of a drawn tensor may have

    def know(self, index, real, is_given=False):
        if real.numel() <= LIMIT:
            self.known[index] = real
            self.sources[index] = {index}
        if is_given:
            self.given.add(self.table.geometries[index][0])

    def note_launch(self, storage):
        """Forgets what a kernel may have written to."""
        if storage not in self.given:
            self.forget_storage(storage)

    def value_of(self, tensor):
        index = self.table.by_id.get(id(tensor))
        return self.known.get(index)

    def read_value_of(self, tensor):
        """Returns the values for the candidate's Python, or None, and notes from which tensors they follow."""
        value = self.value_of(tensor)
        if value is not None:
            self.read |= self.sources.get(self.table.by_id[id(tensor)], set())
        return value

    def is_read(self, index):
        """Says whether Python has read this tensor's values, or values that they follow from or decide."""
        return bool(self.sources.get(index, set()) & self.read)

    def bounds_of(self, value):
        """Returns the least and the largest value of a tensor's elements or of a number, or None."""
        if isinstance(value, int):
            return int(value), int(value)
        if not isinstance(value, torch.Tensor):
            return None
        known = self.value_of(value)
        if known is not None and known.numel() and not known.is_floating_point() and not known.is_complex():
            with torch._C._DisableTorchDispatch():
                return bounds.extremes(known)
        return self.bounds.get(self.table.by_id.get(id(value)))

    def bound(self, index, low, high):
        self.bounds[index] = low, high
        self.given.add(self.table.geometries[index][0])

    def forget_storage(self, storage):
        for kept in (self.known, self.bounds):
            for index in [i for i in kept if self.table.geometries[i][0] == storage]:
                del kept[index]

    def follow(self, func, args, kwargs, out, written):
        """Runs an operator on the known values after it ran on fake tensors. `written` are the tensors that it wrote to."""
        tensors = [leaf for leaf in tree_leaves((args, kwargs)) if isinstance(leaf, torch.Tensor)]
        if not self.can_follow(func, tensors, out) or not self.run_on_known(func, args, kwargs, out):
            for tensor in written:
                self.forget_storage(self.table.storage_of(tensor))
            if not written:
                self.follow_bounds(func, args, out)

    def follow_bounds(self, func, args, out):
        """Notes what follows from bounds alone: the result's bounds, or a comparison that holds for all elements or for none."""
        found = bounds.of_result(func, args, self.bounds_of)
        for leaf in bounds.integer_leaves(bounds.values_of(func, out)) if found else ():
            index = self.table.adopt(leaf)
            self.bounds[index], self.sources[index] = found, self.sources_of(args)
        holds = bounds.of_comparison(func, args, self.bounds_of)
        if holds is not None:
            index = self.table.adopt(out)
            with torch._C._DisableTorchDispatch():
                self.known[index] = torch.full((), holds).expand(out.shape)
            self.sources[index] = self.sources_of(args)

    def sources_of(self, values):
        """Returns the first tensors from which the known values of these arguments follow."""
        return {source for leaf in tree_leaves(values) if isinstance(leaf, torch.Tensor)
                for source in self.sources.get(self.table.by_id.get(id(leaf)), ())}

    def can_follow(self, func, tensors, out):
        if torch.Tag.nondeterministic_seeded in func.tags:
            return False
        if not tensors and func._schema.name not in FACTORIES:
            return False
        if not tensors or self.known:
            return (all(self.value_of(t) is not None for t in tensors)
                    and all(leaf.numel() <= LIMIT for leaf in tree_leaves(out) if isinstance(leaf, torch.Tensor)))
        return False

    def result_of_known(self, func, args, kwargs):
        """Returns what an operator gives for the real values, or None."""
        def real_value(leaf):
            if isinstance(leaf, torch.Tensor):
                return self.value_of(leaf)
            return torch.device("cpu") if isinstance(leaf, torch.device) else leaf
        try:
            with torch._C._DisableTorchDispatch():
                return func(*tree_map(real_value, args), **tree_map(real_value, kwargs))
        except (RuntimeError, NotImplementedError):
            return None

    def known_result(self, func, args, kwargs):
        """Returns what an operator gives for known values, such as repeat_interleave of given lengths, or None if a value is
        not known."""
        tensors = [leaf for leaf in tree_leaves((args, kwargs)) if isinstance(leaf, torch.Tensor)]
        if any(self.value_of(tensor) is None for tensor in tensors):
            return None
        self.read |= self.sources_of((args, kwargs))
        real = self.result_of_known(func, args, kwargs)
        return real if all(leaf.numel() <= LIMIT for leaf in tree_leaves(real)) else None

    def run_on_known(self, func, args, kwargs, out):
        real = self.result_of_known(func, args, kwargs)
        if real is None:
            return False
        sources = self.sources_of((args, kwargs))
        for fake_leaf, real_leaf in zip(tree_leaves(out), tree_leaves(real)):
            if isinstance(fake_leaf, torch.Tensor) and isinstance(real_leaf, torch.Tensor):
                index = self.table.adopt(fake_leaf)
                self.known[index] = real_leaf
                self.sources[index] = self.sources.get(index, set()) | sources or {index}
                self.followed.add(index)
        return True
