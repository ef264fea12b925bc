"""Decisions finds out what a module would do if its Python decided otherwise.

A module may do otherwise at a number that comes seldom, as in `if self.seed % 3001 == 17`. No number of calls need reach it. So the
file's functions get code that tells how each comparison and each condition ends, and from which values. A decision counts if its
values change from call to call, do not repeat, and have decided alike in all calls. Then it is inverted, one decision in one
call, and that call must still repeat the one before it, or the first call. So must the call after it. An inverted decision may lead to
others that no call reached before, so those are inverted, too, together with the first.

Nothing follows if Python fails in such a call, because the decision may be one that never comes.
"""

import ast
import collections
import contextlib
import time
import types
import warnings

from .errors import CaptureStop, forget_stop
from .guards import Watch
from .set_forward import put
from .value_tokens import ATOMS, ValueTokens, plain

CALLS = 24           # are watched
CALLS_BEHIND = 6     # are watched behind an inverted decision
OCCURRENCES = 16     # of one decision in one call: the first ones and the last ones
DEPTH = 3            # so many decisions are inverted together
INVERSIONS = 200     # at most
SECONDS = 1.5        # of the processor
EVALUATIONS = 50_000  # of decisions in one call: an inverted decision may leave a loop without an end
NOTE, DECIDE = "the judge notes", "the judge decides"


class EndlessCall(Exception):
    pass


class Marked(ast.NodeTransformer):
    """Puts calls into a file's syntax tree: NOTE(number, value) around what decides, and DECIDE(number, value) around a decision.
    Both return the value. They are constants in the code, so no name leads to them."""

    def __init__(self):
        self.lines = []     # of each decision
        self.number = None  # of the decision whose expression is visited

    def call(self, what, number, value):
        return ast.copy_location(ast.Call(ast.Constant(what), [ast.Constant(number), value], []), value)

    def decision(self, node):
        """Marks an expression of which Python asks whether it is true."""
        if isinstance(node, ast.BoolOp):
            node.values = [self.decision(value) for value in node.values]
            return node
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            node.operand = self.decision(node.operand)
            return node
        if isinstance(node, ast.Compare):
            return self.visit_Compare(node)
        return self.decided(node, lambda number: self.visit(node))

    def decided(self, node, visit):
        number, before = len(self.lines), self.number
        self.lines.append(node.lineno)
        self.number = number
        node = visit(number)
        self.number = before
        return self.call(DECIDE, number, node)

    def visit_Compare(self, node):
        def visit(number):
            node.left = self.call(NOTE, number, self.visit(node.left))
            node.comparators = [self.call(NOTE, number, self.visit(each)) for each in node.comparators]
            return node
        return self.decided(node, visit)

    def noted(self, node):
        """Marks what a decision makes use of."""
        node = self.visit(node)
        return node if self.number is None or isinstance(node, (ast.Starred, ast.Slice, ast.Tuple)) else self.call(NOTE, self.number, node)

    def visit_Call(self, node):
        if isinstance(node.func, ast.Attribute):
            node.func.value = self.noted(node.func.value)
        else:
            node.func = self.visit(node.func)
        node.args = [self.noted(each) for each in node.args]
        node.keywords = [self.visit(each) for each in node.keywords]
        return node

    def visit_Subscript(self, node):
        if isinstance(node.ctx, ast.Load):
            node.value, node.slice = self.noted(node.value), self.noted(node.slice)
            return node
        return self.generic_visit(node)

    def visit_scope(self, node):
        """What a function or a class holds is no part of the decision that makes it."""
        before, self.number = self.number, None
        node = self.generic_visit(node)
        self.number = before
        return node

    visit_FunctionDef = visit_AsyncFunctionDef = visit_ClassDef = visit_Lambda = visit_scope

    def visit_UnaryOp(self, node):
        if isinstance(node.op, ast.Not):
            return self.decision(node)
        return self.generic_visit(node)

    def visit_with_test(self, node):
        node.test = self.decision(node.test)
        for name, inner in ast.iter_fields(node):
            if name != "test":
                setattr(node, name, self.visited(inner))
        return node

    visit_If = visit_While = visit_IfExp = visit_Assert = visit_with_test

    def visit_comprehension(self, node):
        node.target, node.iter = self.visit(node.target), self.visit(node.iter)
        node.ifs = [self.decision(each) for each in node.ifs]
        return node

    def visited(self, inner):
        if isinstance(inner, list):
            return [self.visit(each) for each in inner]
        return self.visit(inner) if isinstance(inner, ast.AST) else inner


class Watcher:
    """What the marked code tells in one call."""

    def __init__(self, tokens, inverted=(), may_be_endless=False):
        self.tokens = tokens
        self.inverted, self.left = set(inverted), EVALUATIONS if may_be_endless else float("inf")
        self.values = collections.defaultdict(list)  # number of a decision -> what was noted since it was last taken
        self.taken = collections.defaultdict(list)   # number of a decision -> (how it ended, what was noted), in order

    def note(self, number, value):
        self.values[number].append(self.tokens.token(value))
        return value

    def decide(self, number, value):
        self.left -= 1
        if self.left < 0:
            raise EndlessCall("an inverted decision left a loop without an end")
        value = plain(value)
        if type(value) not in ATOMS:
            return value
        noted = tuple(self.values.pop(number, ())) or (self.tokens.token(value),)
        position = len(self.taken[number])
        self.taken[number].append((bool(value), noted))
        return not value if (number, position) in self.inverted else value


def functions_of(names):
    """Returns the functions and methods that a file's names hold. A snapshot may have ended before it found them."""
    values = list(names.values())
    for each in names.values():
        if isinstance(each, type):
            values += type.__getattribute__(each, "__dict__").values()
    for each in values:
        if type(each) in (staticmethod, classmethod):
            each = each.__func__
        for inner in (each.fget, each.fset) if type(each) is property else (each,):
            if type(inner) is types.FunctionType and inner.__globals__ is names:
                yield inner


def inner_codes(code):
    return [each for each in code.co_consts if isinstance(each, types.CodeType)]


def extent(code):
    """Returns where the instructions of a code begin and end in its file, as far as Python tells."""
    places = [place for place in getattr(code, "co_positions", tuple)() if None not in place]
    return (min(((line, column) for line, _, column, _ in places), default=None),
            max(((line, column) for _, line, _, column in places), default=None))


def marked_by_plain(plain, marked):
    """Returns the marked code of each code in a file. The marked file may hold more, because Python leaves out code that no call can
    reach, and a mark hides from Python that it cannot be reached."""
    pairs = {plain: marked}
    groups = collections.defaultdict(lambda: ([], []))
    for side, of_side in enumerate((plain, marked)):
        for each in inner_codes(of_side):
            groups[each.co_name, each.co_firstlineno][side].append(each)
    for ours, theirs in groups.values():
        if len(ours) != len(theirs):
            extents = {extent(each): each for each in theirs}
            theirs = [extents.get(extent(each)) for each in ours]
        for one, other in zip(ours, theirs):
            if other is not None:
                pairs.update(marked_by_plain(one, other))
    return pairs


def marked_code(tree, path, note, decide):
    """Returns the code of a file's syntax tree, which it changes, and the line of each decision. The code calls note(number,
    value) and decide(number, value)."""
    marked = Marked()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Python warns that a text is called
        code = compile(ast.fix_missing_locations(marked.visit(tree)), path, "exec", dont_inherit=True)
    return with_constants(code, {NOTE: note, DECIDE: decide}), marked.lines


def with_constants(code, constants):
    """Returns the code, and the code of its inner functions, with other constants."""
    return code.replace(co_consts=tuple(
        with_constants(each, constants) if isinstance(each, types.CodeType)
        else constants.get(each, each) if type(each) is str else each for each in code.co_consts))


class Decisions:
    """One use. `call_again` is that of FurtherCalls."""

    def __init__(self, state, call_again, source, path):
        self.state, self.call_again = state, call_again
        tree = ast.parse(source, path)
        plain = compile(tree, path, "exec", dont_inherit=True)
        marked, self.lines = marked_code(tree, path, lambda number, value: self.watcher.note(number, value),
                                         lambda number, value: self.watcher.decide(number, value))
        self.codes = marked_by_plain(plain, marked)
        self.tokens = ValueTokens(())
        self.watcher = Watcher(self.tokens)
        self.end, self.inversions = time.process_time() + SECONDS, 0

    def run(self):
        """Returns how a call differs from the one before, as an error, or None."""
        changed, saved = self.change_functions()
        try:
            return self.invert_each((), CALLS, saved) if changed else None
        finally:
            saved.restore()
            for function, code in changed:
                function.__code__ = code

    def change_functions(self):
        """Gives the file's functions the marked code. Returns them with their own code, and the module's state."""
        snapshot, changed = self.state.snapshot(), []
        self.tokens = ValueTokens(self.state.alive)
        functions = {id(each): each for each in (*snapshot.functions, *functions_of(self.state.names))}
        for function in functions.values():
            code = self.codes.get(function.__code__)
            if code is not None and code.co_freevars == function.__code__.co_freevars:
                changed.append((function, function.__code__))
                function.__code__ = code
        return changed, Saved(snapshot)

    def invert_each(self, inverted, calls, saved, known=frozenset()):
        """Inverts each decision that is reached if those of `inverted` are, and that is not `known`."""
        seen = []
        if inverted:
            saved.restore()
        for _ in range(calls):
            found, watcher = self.call(inverted, has_inverted=bool(inverted))
            if found:
                return self.explained(found, inverted)
            if watcher is None:
                return None
            seen.append(watcher)
            if time.process_time() > self.end and len(seen) >= CALLS_BEHIND:
                break
        reached = known | {(number, position) for watcher in seen for number, taken in watcher.taken.items()
                           for position in range(len(taken))}
        for decision in sorted(self.undecided(seen) - known):
            if self.inversions >= INVERSIONS or time.process_time() > self.end:
                return None
            self.inversions += 1
            path = (*inverted, decision)
            saved.restore()
            for again in (path, ()):  # the call after it must also repeat the others
                found, watcher = self.call(again, has_inverted=True)
                if found:
                    return self.explained(found, path)
                if watcher is None:
                    break
            if watcher is not None and len(path) < DEPTH:
                if found := self.invert_each(path, CALLS_BEHIND, saved, reached):
                    return found
        return None

    def undecided(self, seen):
        """Returns the decisions that ended alike in all calls, each time from other values."""
        ends, values = collections.defaultdict(set), collections.defaultdict(list)
        for watcher in seen:
            for number, taken in watcher.taken.items():
                for position, (end, noted) in enumerate(taken):
                    if position < OCCURRENCES // 2 or position >= len(taken) - OCCURRENCES // 2:
                        ends[number, position].add(end)
                        values[number, position].append(noted)
        return {decision for decision, found in ends.items()
                if len(found) == 1 and len(set(values[decision])) > max(1, len(values[decision]) // 2)}

    def call(self, inverted, has_inverted):
        """Returns how the call differs from the one before, or None, and what it told. After an inverted decision a call may fail, and
        then tells nothing. Without one it may not, since the marked code does what the plain code does."""
        self.tokens.begin_call()
        self.watcher = watcher = Watcher(self.tokens, inverted, may_be_endless=has_inverted)
        try:
            return self.call_again(may_repeat_first=bool(inverted)), watcher
        except CaptureStop as stopped:
            if not has_inverted or isinstance(stopped.__context__, CaptureStop):
                raise
            forget_stop()
            return None, None

    def explained(self, found, inverted):
        if inverted:
            lines = " and ".join(str(self.lines[number]) for number, _ in inverted)
            found.message += (f"; so it is if line {lines} decides otherwise than in the calls before, from values that change "
                              "from call to call")
        return found


class Saved:
    """What a module's Python keeps, to be restored. Iterators go on from where they are."""

    def __init__(self, snapshot):
        self.copies = [(value, value.copy()) for value in snapshot.containers]
        self.members = list(snapshot.members)

    def restore(self):
        for value, copy in self.copies:
            kind = type(value)
            if kind is bytearray:
                with contextlib.suppress(BufferError):  # a view of it may forbid another size
                    value[:] = copy
                continue
            kind.clear(value)
            if isinstance(value, collections.OrderedDict):
                collections.OrderedDict.update(value, copy)
            elif isinstance(value, dict):
                dict.update(value, copy)
            elif isinstance(value, set):
                set.update(value, copy)
            else:
                kind.extend(value, copy)
        for container, key, value in self.members:
            if not isinstance(container, type) or vars(container).get(key) is not value:
                put(container, key, value)


def marked(kind, *arguments):
    """Returns kind(*arguments), which marks a file's text, or None if the marked text cannot be compiled."""
    before, Watch.inside = Watch.inside, True  # the audit hook looks at what a candidate compiles
    try:
        return kind(*arguments)
    except (SyntaxError, ValueError, RecursionError):
        return None
    finally:
        Watch.inside = before


def decisions_of(state, call_again, source, path):
    """Returns the Decisions of a file, or None if its text cannot be marked."""
    return marked(Decisions, state, call_again, source, path)
