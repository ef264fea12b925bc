"""Finds the global names that one top-level statement binds and refers to, by Python's rules of scope.

A function's own names, a comprehension's targets and a class's names hide global ones. `read_statement` answers for a
statement: which names it binds in its module, which ones it changes, and each expression that refers to a global name.
"""

import ast
import dataclasses

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


@dataclasses.dataclass
class Reference:
    """One expression that names a global: `names` is ["ops", "norm"] for `ops.norm`, and `nodes` holds the node of each."""
    names: list
    nodes: list
    is_base: bool = False        # a base of a class: loading needs it, but calls nothing of it
    is_later: bool = False       # in the body of a function, which runs after the module has been loaded
    is_annotation: bool = False
    is_ambiguous: bool = False   # a name that the class body around it binds, too
    in_fstring: bool = False
    hidden: frozenset = frozenset()  # names that functions around it bind

    @property
    def line(self):
        return self.nodes[0].lineno


@dataclasses.dataclass
class Statement:
    """A top-level statement of a module. `imports` are import statements within it, with the scope they are in."""
    node: ast.stmt
    binds: set = dataclasses.field(default_factory=set)
    sets: set = dataclasses.field(default_factory=set)  # names that its functions declare global
    changes: set = dataclasses.field(default_factory=set)  # names whose attributes or items it sets
    calls_on: set = dataclasses.field(default_factory=set)  # names with a method that it calls for its effect
    references: list = dataclasses.field(default_factory=list)
    imports: list = dataclasses.field(default_factory=list)
    defines: list = dataclasses.field(default_factory=list)  # nodes other than Name that bind a global name
    is_import: bool = False


def bound_names(statements, extra=()):
    """Returns the names that a scope with these statements binds, and those that it declares global or nonlocal."""
    bound, foreign, stack = set(extra), set(), list(statements)
    while stack:
        node = stack.pop()
        if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
            bound.add(node.name)
            continue
        if isinstance(node, (ast.Lambda, *COMPREHENSIONS)):
            bound.update(inner.target.id for inner in ast.walk(node) if isinstance(inner, ast.NamedExpr))
            continue
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            bound.add(node.id)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            bound.update(imported_name(alias) for alias in node.names)
        elif isinstance(node, (ast.Global, ast.Nonlocal)):
            foreign.update(node.names)
        elif isinstance(node, (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)) and node.name:
            bound.add(node.name)
        elif isinstance(node, ast.MatchMapping) and node.rest:
            bound.add(node.rest)
        stack.extend(ast.iter_child_nodes(node))
    return bound - foreign, foreign


def imported_name(alias):
    return alias.asname or alias.name.split(".")[0]


def argument_names(arguments):
    every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
    return {argument.arg for argument in every if argument}


def chain_of(node):
    """Returns the nodes of `a.b.c` from the name outwards, or nothing if it does not begin with a name."""
    nodes = [node]
    while isinstance(nodes[-1], ast.Attribute):
        nodes.append(nodes[-1].value)
    return nodes[::-1] if isinstance(nodes[-1], ast.Name) else []


def root_of(node):
    """Returns the name at the root of `a.b[0].c`, or nothing."""
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None


@dataclasses.dataclass
class Scope:
    kind: str  # "function" (also of a lambda and a comprehension) or "class"
    bound: set


class Reader(ast.NodeVisitor):
    def __init__(self, statement):
        self.statement, self.scopes = statement, []
        self.later = self.fstring = self.annotation = self.base = 0

    def read(self):
        self.visit(self.statement.node)
        return self.statement

    # Scopes
    def is_global(self, name):
        for i, scope in enumerate(reversed(self.scopes)):
            if name in scope.bound and (scope.kind == "function" or i == 0):
                return False
        return True

    def is_ambiguous(self, name):
        return (bool(self.scopes) and self.scopes[-1].kind == "class" and name in self.scopes[-1].bound
                and all(name not in scope.bound for scope in self.scopes[:-1] if scope.kind == "function"))

    def within(self, kind, bound, visit):
        self.scopes.append(Scope(kind, bound))
        visit()
        self.scopes.pop()

    def counted(self, counter, nodes):
        setattr(self, counter, getattr(self, counter) + 1)
        for node in nodes:
            self.visit(node)
        setattr(self, counter, getattr(self, counter) - 1)

    def visit_all(self, nodes):
        for node in nodes:
            self.visit(node)

    # Names
    def refer(self, nodes):
        name = nodes[0].id
        is_ambiguous = self.is_ambiguous(name) and isinstance(nodes[0].ctx, ast.Load)
        if not self.is_global(name) and not is_ambiguous:
            return
        if not isinstance(nodes[0].ctx, ast.Load) and not self.later:
            self.statement.binds.add(name)
        hidden = frozenset().union(*(scope.bound for scope in self.scopes))
        self.statement.references.append(Reference(
            [name, *(node.attr for node in nodes[1:])], nodes, is_base=bool(self.base), is_later=bool(self.later),
            is_annotation=bool(self.annotation), is_ambiguous=is_ambiguous, in_fstring=bool(self.fstring), hidden=hidden))

    def define(self, name, node):
        if self.is_global(name):
            self.statement.binds.add(name)
            self.statement.defines.append((name, node))

    def visit_Name(self, node):
        self.refer([node])

    def visit_Attribute(self, node):
        nodes = chain_of(node)
        if nodes:
            self.refer(nodes)
        else:
            self.generic_visit(node)

    def visit_Global(self, node):
        for name in node.names:  # the function may run later; it binds nothing while the module loads
            if self.is_global(name):
                self.statement.sets.add(name)
                self.statement.defines.append((name, node))

    def visit_JoinedStr(self, node):
        self.counted("fstring", node.values)

    # Statements that bind names
    def visit_Import(self, node):
        for alias in node.names:
            if self.is_global(imported_name(alias)):
                self.statement.binds.add(imported_name(alias))
        if node is not self.statement.node:
            self.statement.imports.append((node, self.scopes[-1].kind if self.scopes else "module"))

    visit_ImportFrom = visit_Import

    def visit_ExceptHandler(self, node):
        if node.name:
            self.define(node.name, node)
        self.generic_visit(node)

    def visit_MatchAs(self, node):
        if node.name:
            self.define(node.name, node)
        self.generic_visit(node)

    visit_MatchStar = visit_MatchAs

    def visit_Assign(self, node):
        self.note_changes(node.targets)
        self.generic_visit(node)

    def visit_Delete(self, node):
        self.note_changes(node.targets)
        self.generic_visit(node)

    def visit_AugAssign(self, node):
        self.note_changes([node.target])
        self.generic_visit(node)

    def visit_AnnAssign(self, node):
        self.note_changes([node.target])
        self.counted("annotation", [node.annotation])
        self.visit_all(child for child in (node.value, node.target) if child)

    def visit_Expr(self, node):
        if not self.scopes and isinstance(node.value, ast.Call) and isinstance(node.value.func, ast.Attribute):
            self.statement.calls_on.add(root_of(node.value.func))
        self.generic_visit(node)

    def note_changes(self, targets):
        if not self.scopes:
            self.statement.changes.update(root_of(target) for target in targets if not isinstance(target, ast.Name))

    # Statements and expressions with a scope of their own
    def visit_FunctionDef(self, node):
        self.define(node.name, node)
        self.visit_all(node.decorator_list)
        arguments = node.args
        self.visit_all([*arguments.defaults, *filter(None, arguments.kw_defaults)])
        every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
        annotations = [argument.annotation for argument in every if argument and argument.annotation]
        self.counted("annotation", [*annotations, *filter(None, [node.returns])])
        types = {each.name for each in getattr(node, "type_params", [])}
        bound, _ = bound_names(node.body, argument_names(arguments) | types)
        foreign = bound_names(node.body)[1]
        self.within("function", bound - foreign, lambda: self.counted("later", node.body))

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_Lambda(self, node):
        self.visit_all([*node.args.defaults, *filter(None, node.args.kw_defaults)])
        self.within("function", argument_names(node.args), lambda: self.counted("later", [node.body]))

    def visit_ClassDef(self, node):
        self.define(node.name, node)
        self.visit_all(node.decorator_list)
        self.counted("base", node.bases)
        self.visit_all(keyword.value for keyword in node.keywords)
        types = {each.name for each in getattr(node, "type_params", [])}
        self.within("class", bound_names(node.body, types)[0], lambda: self.visit_all(node.body))

    def visit_comprehension_of(self, node):
        first = node.generators[0]
        self.visit(first.iter)
        targets = set()
        for generator in node.generators:
            targets |= bound_names([generator.target])[0]

        def visit_rest():
            for generator in node.generators:
                self.visit_all([*([] if generator is first else [generator.iter]), *generator.ifs])
            self.visit_all([node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt])

        self.within("function", targets, visit_rest)

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = visit_comprehension_of


def read_statement(node):
    statement = Statement(node, is_import=isinstance(node, (ast.Import, ast.ImportFrom)))
    return Reader(statement).read()
