"""Workspaces says when a later call of forward may use other unfilled memory than the call before it.

A module may keep several buffers from `torch.empty` and use one after the other, or take a new one now and then. A plan holds one
call, so it knows one of them. The plan still says what every call does, for a call finds the same in each of them: either
nothing, or what an earlier call left there for the same purpose. That is so if

- nothing but forward has used the buffers,
- the call before has not used the other buffer, so the call cannot read what that one left for another purpose,
- no buffer ever changes its purpose: what a call writes is never what a later call only reads. Buffers that were not seen in
  use might, so the calls must go on until each of them was.
"""

from .graphs import tensors_in
from .operators import ALLOTTING

FORM = ("dtype", "shape", "stride", "offset", "storage_bytes")


def allots(step):
    return step.get("aten", "").split(".")[0] in ALLOTTING


class Workspaces:

    def __init__(self, table, steps):
        """`steps` are those before the first call of forward."""
        self.table = table
        self.unfilled = set()  # storages that are unfilled, or that calls of forward alone have used
        self.purposes = {}     # storage -> the storage that the first call with this purpose used
        self.sizes = set()     # the sizes of buffers of which a call used another one than the call before
        self.pairs, self.used_before, self.used_now = {}, set(), set()
        self.note_made(steps)
        self.unfilled -= self.used_in(steps)

    def note_made(self, steps):
        self.unfilled.update(self.storage(index) for step in steps if allots(step) for index in step["outputs"])

    def storage(self, index):
        return self.table.geometries[index][0]

    def used_in(self, steps):
        return {self.storage(index) for step in steps if not allots(step) for index in tensors_in(step)
                if 0 <= index < len(self.table.geometries)}

    def begin(self, one, other):
        """Begins to compare the steps of a call with those of the next one."""
        self.note_made([*one, *other])
        self.pairs, self.used_before, self.used_now = {}, self.used_in(one), self.used_in(other)
        for storage in self.used_before:
            self.purposes.setdefault(storage, storage)

    def may_stand_for(self, second, first):
        """Whether the next call may use the tensor `second` where the call before used `first`."""
        if first < 0 or second < 0:
            return False
        specs, new, old = self.table.specs, self.storage(second), self.storage(first)
        if new in self.pairs or old in self.pairs.values():
            fits = self.pairs.get(new) == old
        else:
            fits = ({new, old} <= self.unfilled and new not in self.used_before and old not in self.used_now
                    and self.purposes.get(new, self.purposes.get(old)) == self.purposes.get(old))
        if not fits or any(specs[first][key] != specs[second][key] for key in FORM):
            return False
        self.pairs[new] = old
        self.sizes.add(specs[first]["storage_bytes"])
        return True

    def unseen(self):
        """Whether a buffer was never used that may be used later."""
        return any(spec["storage"] in self.unfilled and spec["storage"] not in self.purposes and spec["storage_bytes"] in self.sizes
                   for spec in self.table.specs)

    def end(self, numbers=None):
        """Ends the comparison. `numbers` maps tensors of the next call to those of the call before, if it repeats that call.
        Otherwise it uses its memory for purposes of its own."""
        if numbers is None:
            self.pairs = {}
        for second, first in (numbers or {}).items():
            if first >= 0:
                self.pairs.setdefault(self.storage(second), self.storage(first))
        for storage in self.used_now - self.purposes.keys():
            old = self.pairs.get(storage, storage)
            self.purposes[storage] = self.purposes.get(old, old)
