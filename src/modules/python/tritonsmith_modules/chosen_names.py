"""Chooses a name in the task for every definition and import, so that no two of them clash."""

import os

from .names import Definition, External, Own

RESERVED = ("Model", "ModelNew", "get_inputs", "get_init_inputs")


class ChosenNames:
    def __init__(self, closure, home, kept=()):
        """The module `home` chooses first, then the imports. `kept` are reserved names that a definition may keep."""
        self.taken, self.of = {}, {}
        for name in sorted(closure.owns | set(RESERVED) - set(kept)):
            self.taken[name] = Own(name)
        self.choose_definitions(closure, lambda module: module is home)
        for external in closure.externals:
            self.choose(external, external.alias, external.path.split(".")[0], ())
        self.choose_definitions(closure, lambda module: module is not home)

    def choose_definitions(self, closure, is_meant):
        for definition, hidden in closure.definitions.items():
            if not is_meant(definition.module):
                continue
            stem = os.path.basename(definition.module.path).removesuffix(".py")
            if stem == "__init__":
                stem = os.path.basename(os.path.dirname(definition.module.path))
            self.choose(definition, definition.name, stem, hidden)

    def choose(self, meaning, name, origin, hidden):
        if meaning in self.of:
            return
        for candidate in candidates(name, origin):
            owner = self.taken.get(candidate)
            if candidate in hidden or (owner is not None and identity(owner) != identity(meaning)):
                continue
            self.taken[candidate] = meaning
            self.of[meaning] = candidate
            return

    def name_of(self, meaning, default):
        if isinstance(meaning, (Definition, External)):
            return self.of.get(meaning, default)
        return default


def identity(meaning):
    """Two imports of the same thing may share a name, whatever statement they are written as."""
    return meaning.path if isinstance(meaning, External) else meaning


def candidates(name, origin):
    yield name
    origin = "".join(each if each.isalnum() else "_" for each in origin)
    yield f"{name}_of_{origin}"
    number = 2
    while True:
        yield f"{name}_of_{origin}_{number}"
        number += 1
