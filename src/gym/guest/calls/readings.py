"""Readings finds out what a module would do if what its Python reads had gone on as by many more calls.

A count of calls may be anywhere: in a setting of a library, in an object of C that keeps its state to itself, in the number of a handle.
Wherever it is, the file's functions must read it before they can act on it. So the functions get code that tells each name, attribute,
element and result of a call that they read. If these differ from call to call, the file keeps something. Numbers that go on by equal
steps or factors are then read as they will be much later, and others as the least and the largest number of their size. The call must
still repeat the one before it, or the first call.

To tell what is read costs several milliseconds. A file pays them if its state changes anyway, or if its functions use something that is
not usual in kernels (usual_names.py).
"""

import ast
import collections
import itertools
import math
import time
import warnings

from .decisions import Decisions, marked, marked_by_plain, with_constants
from .errors import CaptureStop, forget_stop
from .value_tokens import plain

READ = "the judge reads"
WATCHED = 8       # calls, after which a number is known to go on by equal steps and to take no turns
OCCURRENCES = 32  # of one reading in one call
SECONDS = 1.0     # of the processor
SITES = 24        # readings of other numbers, of which each is replaced by itself
FAR = 1 << 42     # calls
ATOMS = (int, float, str, bytes, bool, complex, type(None))
# They say where something lies, or what a process has: numbers of which not all can come.
PLACES = {"data_ptr", "_version", "_cdata", "cuda_stream", "untyped_storage"}
PLACES_IN_WORDS = {"id", "hash"}  # as functions


class MarkedReadings(ast.NodeTransformer):
    """Puts READ(number, value) around what functions read. It is a constant in the code, so no name leads to it."""

    def __init__(self):
        self.lines = []  # of each reading
        self.inside = False

    def marked(self, node):
        if not self.inside or not isinstance(getattr(node, "ctx", None) or ast.Load(), ast.Load):
            return node
        self.lines.append(node.lineno)
        return ast.copy_location(ast.Call(ast.Constant(READ), [ast.Constant(len(self.lines) - 1), node], []), node)

    def visit_Name(self, node): return self.marked(node)
    def visit_Subscript(self, node): return self.marked(self.generic_visit(node))

    def visit_Attribute(self, node):
        node = self.generic_visit(node)
        return node if is_place(node.attr) else self.marked(node)

    def visit_Call(self, node):
        """Leaves the name of what is called as it is: `super()` must stay what it is, and a method is no number."""
        says_place = getattr(node.func, "id", "") in PLACES_IN_WORDS or is_place(getattr(node.func, "attr", ""))
        if isinstance(node.func, ast.Attribute):
            node.func.value = self.visit(node.func.value)
        elif not isinstance(node.func, ast.Name):
            node.func = self.visit(node.func)
        node.args = [self.visit(each) for each in node.args]
        node.keywords = [self.visit(each) for each in node.keywords]
        return node if says_place else self.marked(node)

    def visit_scope(self, node):
        if not isinstance(node, ast.Lambda):
            node.decorator_list = [self.visit(each) for each in node.decorator_list]
        if not isinstance(node, ast.ClassDef):
            node.args.defaults = [self.visit(each) for each in node.args.defaults]
        before, self.inside = self.inside, not isinstance(node, ast.ClassDef)
        if isinstance(node, ast.Lambda):
            node.body = self.visit(node.body)
        else:
            node.body = [self.visit(each) for each in node.body]
        self.inside = before
        return node

    visit_FunctionDef = visit_AsyncFunctionDef = visit_ClassDef = visit_Lambda = visit_scope

    def visit_match_case(self, node):
        node.guard = node.guard and self.visit(node.guard)
        node.body = [self.visit(each) for each in node.body]
        return node

    def visit_AnnAssign(self, node):
        node.value = node.value and self.visit(node.value)
        return node


def is_place(name):
    return name in PLACES or name.startswith(("mem_get", "memory_", "max_memory_"))


class Reader:
    """What the marked code tells in one call, and what it is told instead."""

    def __init__(self, instead=lambda place, value: value):
        self.instead = instead
        self.values = collections.defaultdict(list)  # number of a reading -> what was read, in order

    def read(self, number, value):
        value = plain(value) if type(value) not in ATOMS else value
        if type(value) in ATOMS:
            known = self.values[number]
            if len(known) < OCCURRENCES:
                known.append(value)
                if type(value) in (int, float):
                    return self.instead((number, len(known) - 1), value)
        return value


class Course:
    """How a number goes on that was read in several calls."""

    def __init__(self, values):
        self.last, steps = values[-1], [two - one for one, two in itertools.pairwise(values)]
        self.step = steps[-1] if steps[-1] and all(math.isclose(each, steps[-1], rel_tol=1e-6) for each in steps) else 0
        factors = [two / one for one, two in itertools.pairwise(values)] if all(values) and not self.step else [1]
        self.factor = factors[-1] if all(math.isclose(each, factors[-1], rel_tol=1e-4) for each in factors) else 1
        self.goes_on = bool(self.step) or self.factor != 1
        self.bits = max(abs(int(value)).bit_length() for value in values)
        self.is_erratic = not self.goes_on and all(steps) and type(self.last) is int

    def after(self, calls):
        if self.step:
            return self.last + self.step * calls
        found = self.last * self.factor ** min(calls, 1 << 20)
        return int(found) if type(self.last) is int else found

    def extremes(self):
        bits = self.bits
        return 0, 1, (1 << bits) - 1, 1 << max(bits - 1, 0), (1 << bits + -bits % 8) - 1


class Readings(Decisions):
    """One use. `call_again` is that of FurtherCalls."""

    def __init__(self, state, call_again, source, path):
        self.state, self.call_again = state, call_again
        tree = ast.parse(source, path)
        plain_code, marks = compile(tree, path, "exec", dont_inherit=True), MarkedReadings()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Python warns that a text is called
            code = compile(ast.fix_missing_locations(marks.visit(tree)), path, "exec", dont_inherit=True)
        self.codes = marked_by_plain(plain_code, with_constants(code, {READ: lambda *read: self.reader.read(*read)}))
        self.lines, self.reader = marks.lines, Reader()

    def differ(self):
        """Returns how a call differs from the one before, or None, and whether what is read in two calls differs."""
        found, readers = self.watch(2)
        return found, len(readers) == 2 and readers[0].values != readers[1].values

    def watch(self, calls):
        changed, _ = self.change_functions()
        try:
            return self.watched(calls)
        finally:
            give_back(changed)

    def watched(self, calls):
        readers = []
        for _ in range(calls):
            self.reader = Reader()
            if found := self.call_again():
                return found, readers
            readers.append(self.reader)
        return None, readers

    def run(self, distances):
        """Returns how a call differs from the one before, as an error, or None. distances(sizes) says how many calls ahead to look,
        given the sizes and the steps of what changes."""
        end = time.process_time() + SECONDS
        changed, saved = self.change_functions()
        try:
            found, readers = self.watched(WATCHED)
            if found:
                return found
            courses = self.courses_of(readers)
            ahead = [(place, course) for place, course in courses.items() if course.goes_on]
            sizes = [(course.last, course.step) for _, course in ahead if course.step]
            for calls in (*distances(sizes), FAR) if ahead else ():
                if time.process_time() > end:
                    return None
                if found := self.call_with(dict(ahead), lambda course, calls=calls: course.after(calls), saved):
                    return self.told(found, ahead[0][0], f"had gone on as by {calls} calls")
            sites = dict.fromkeys(number for (number, _), course in courses.items() if course.is_erratic)
            for number in itertools.islice(sites, SITES):
                of_site = {place: course for place, course in courses.items() if place[0] == number and course.is_erratic}
                for k in range(5):
                    if time.process_time() > end:
                        return None
                    if found := self.call_with(of_site, lambda course, k=k: course.extremes()[k], saved):
                        return self.told(found, (number, 0), "were another number")
            return None
        finally:
            saved.restore()
            give_back(changed)

    def courses_of(self, readers):
        """Returns the Course of each number that was read in all calls. Its key is the reading and its occurrence in a call."""
        courses = {}
        for number, values in readers[-1].values.items():
            for position, series in enumerate(zip(*(reader.values.get(number, ()) for reader in readers))):
                if all(type(each) is type(series[0]) and type(each) in (int, float) and math.isfinite(each) for each in series) and (
                        len(set(series)) == len(series)):
                    try:
                        courses[number, position] = Course(series)
                    except OverflowError:
                        pass
        return courses

    def call_with(self, courses, instead_of, saved):
        """Calls once while what has these courses is read as other numbers. Returns how the call differs, or None. A call may fail, and
        then tells nothing, because the numbers may be some that never come."""
        def instead(place, value):
            course = courses.get(place)
            return value if course is None or type(value) is not type(course.last) else instead_of(course)
        saved.restore()
        self.reader = Reader(instead)
        try:
            return self.call_again(may_repeat_first=True)
        except OverflowError:
            return None
        except CaptureStop as stopped:
            if isinstance(stopped.__context__, CaptureStop) and stopped.__context__.error_class == "tampering":
                raise
            forget_stop()
            return None

    def told(self, found, place, how):
        found.message += f"; so it is if what line {self.lines[place[0]]} reads, which changes from call to call, {how}"
        return found


def give_back(changed):
    for function, code in changed:
        function.__code__ = code


def readings_of(state, call_again, source, path):
    """Returns the Readings of a file, or None if its text cannot be marked."""
    return marked(Readings, state, call_again, source, path)
