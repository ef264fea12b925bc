"""Orders the statements of a task so that each one finds what it needs while the file is loaded.

A base class comes before the class. What a decorator, an assignment or a call needs comes before it with all that this
needs in turn, because loading may run it. Otherwise a module's statements keep their order, and follow those of the
modules that it uses.
"""

from .names import Definition


def order(closure):
    statements = list(closure.included.values())
    position = {id(statement): i for module in closure.modules for i, statement in enumerate(module.statements)}
    by_module = {}
    for module, statement in statements:
        if not statement.is_import:
            by_module.setdefault(module, []).append(statement)
    ordering = Ordering(closure, position)
    for module in modules_in_order(closure, by_module):
        for statement in sorted(by_module[module], key=lambda each: position[id(each)]):
            ordering.emit(module, statement)
    return ordering.ordered


def needs(closure, statement, later):
    """Yields what a statement needs, and whether loading may run it: only what it needs to load, or also later."""
    for reference in statement.references:
        meaning, _ = closure.meanings.get(id(reference.nodes[0]), (None, 0))
        if isinstance(meaning, Definition) and meaning in closure.definitions and (later or not reference.is_later):
            yield meaning, not reference.is_base and not reference.is_annotation
    for meaning, is_later in closure.imported.get(id(statement), []):
        if later or not is_later:
            yield meaning, False


def modules_in_order(closure, by_module):
    """Returns the modules, each after those that it uses. In a cycle the module that was reached first comes last."""
    done, ordered = set(), []

    def visit(module):
        if module in done:
            return
        done.add(module)
        for statement in by_module[module]:
            for meaning, _ in needs(closure, statement, later=True):
                if meaning.module in by_module:
                    visit(meaning.module)
        ordered.append(module)

    for module in closure.modules:
        if module in by_module:
            visit(module)
    return ordered


class Ordering:
    def __init__(self, closure, position):
        self.closure, self.position, self.ordered = closure, position, []
        self.done, self.deep = set(), set()

    def emit(self, module, statement):
        if id(statement) in self.done:
            return
        self.done.add(id(statement))
        for meaning, is_run in needs(self.closure, statement, later=False):
            for other in self.binders(meaning):
                self.emit(meaning.module, other)
            if is_run:
                self.emit_all_below(meaning)
        self.ordered.append((module, statement))

    def emit_all_below(self, definition):
        if definition in self.deep:
            return
        self.deep.add(definition)
        for statement in self.binders(definition):
            self.emit(definition.module, statement)
            for meaning, _ in needs(self.closure, statement, later=True):
                self.emit_all_below(meaning)

    def binders(self, definition):
        found = [statement for statement in definition.module.binders[definition.name]
                 if id(statement) in self.closure.included and not statement.is_import]
        return sorted(found, key=lambda statement: self.position[id(statement)])
