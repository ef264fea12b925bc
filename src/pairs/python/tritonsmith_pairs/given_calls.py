"""Turns the forward of a given solution, and the function `call` that Inductor wrote for it, into the body of one forward."""

import ast

from . import bindings, operators
from .calls import Forward, statements
from .errors import NoPair
from .given_kernels import GivenKernel, words_of_name
from .helpers import Substitute, dotted
from .kernels import ATEN_WORDS
from .nodes import walk
from .tidy import fresh

GUARDS = {"torch.cuda._DeviceGuard", "torch.cuda.DeviceGuard", "torch.cuda.device"}


def is_path(node):
    """self.fc.weight, input_0, xs[0]: what can be read again and again."""
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        if isinstance(node, ast.Subscript) and not isinstance(node.slice, ast.Constant):
            return False
        node = node.value
    return isinstance(node, ast.Name)


class GivenForward(Forward):
    """`forward` and `call` are the given functions of these names."""

    def __init__(self, text, forward, taken, variables):
        self.begin(text, taken, strict=False, variables=variables)
        self.forward = forward
        self.call = self.only_call()
        self.known = {}     # a variable of the given forward -> the expression that it stands for
        self.convolved = {}  # a convolution's result -> its line, and the forms of its operands
        self.results = {}   # the same of what `call` returned: its outputs
        self.check_guards()
        self.name_operators()

    def name_operators(self):
        """An operator that Inductor leaves to torch has a name of its own where no comment tells one."""
        for node in walk(self.call):
            name = dotted(node.func) if isinstance(node, ast.Call) else ""
            if name.startswith(("extern_kernels.", "torch.ops.aten.", "aten.")) and not self.nodes.get(node.lineno):
                word = name.split("aten.")[-1].removeprefix("extern_kernels.").split(".")[0]
                word = ATEN_WORDS.get(word, word.strip("_"))
                self.nodes[node.lineno] = ["product" if word == "matmul" else word]

    def only_call(self):
        functions = [node for node in walk(self.module) if isinstance(node, ast.FunctionDef) and node.name == "call"]
        found = [node for node in functions if node in self.module.body] or functions
        if len(found) != 1:
            raise NoPair("unknown_code", f"it has {len(found)} functions `call`")
        return found[0]

    def check_guards(self):
        for node in walk(self.call):
            if isinstance(node, ast.With) and any(dotted(getattr(i.context_expr, "func", None)) not in GUARDS for i in node.items):
                raise NoPair("unknown_statement", ast.unparse(node)[:200])

    def generated_kernels(self):
        """Kernels in strings, and those that stand as functions in the file, each with the functions that it calls."""
        found = {name: (text, words or words_of_name(name)) for name, (text, words) in super().generated_kernels().items()}
        functions = {node.name: node for node in self.module.body if isinstance(node, ast.FunctionDef)
                     and any(dotted(d).endswith("jit") for d in node.decorator_list)}
        launched = {node.value.id for node in walk(self.module) if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name)}
        launched |= {node.value.id for node in walk(self.module) if isinstance(node, ast.Attribute) and node.attr == "run"
                     and isinstance(node.value, ast.Name)}
        for name in launched & set(functions):
            words = words_of_name(name)
            found[name] = ("\n".join(ast.unparse(node) for node in with_called(name, functions)), words)
        return found

    def write(self):
        """Returns the lines of the forward to be."""
        arguments = self.forward.args
        assigned = [node.id for node in walk(self.forward) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]
        if len(set(assigned)) < len(assigned) or {a.arg for a in arguments.args} & set(assigned):
            raise NoPair("unknown_statement", "its forward assigns a variable twice")
        self.taken |= set(assigned)
        for statement in self.forward.body:
            if isinstance(statement, ast.Return) and statement.value is not None:
                return [*self.lines, f"return {ast.unparse(self.given_value(statement.value))}"]
            if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name) and len(statement.targets) == 1:
                self.given_assignment(statement.targets[0].id, statement.value)
            elif not (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)):
                raise NoPair("unknown_statement", ast.unparse(statement)[:200])
        raise NoPair("unknown_statement", "its forward returns nothing")

    def given_assignment(self, target, value):
        name = dotted(value.func) if isinstance(value, ast.Call) else ""
        if name in ("call", "runner.call"):
            if self.results or len(value.args) != 1 or value.keywords:
                raise NoPair("unknown_statement", ast.unparse(value)[:200])
            self.results[target] = self.called(self.given_value(value.args[0]))
        elif is_path(value) or isinstance(value, (ast.List, ast.Tuple)):
            self.known[target] = self.given_value(value)
        else:
            self.lines.append(f"{target} = {ast.unparse(self.given_value(value))}")

    def given_value(self, node):
        """The expression with what its names stand for."""
        changed = Outputs(self.results).visit(node)
        return ast.fix_missing_locations(Substitute(self.known).visit(changed))

    def called(self, arguments):
        """Writes the lines of `call` for these arguments and returns its outputs."""
        if not isinstance(arguments, (ast.List, ast.Tuple)):
            raise NoPair("unknown_statement", "call takes no list")
        names = next((element_names(s.targets[0]) for s in statements(self.call) if isinstance(s, ast.Assign)
                      and isinstance(s.value, ast.Name) and s.value.id == "args"), [])
        if len(names) != len(arguments.elts):
            raise NoPair("unbound_input", f"its call takes {len(names)} tensors and gets {len(arguments.elts)}")
        for name, node in zip(names, arguments.elts):
            expression = ast.unparse(node)
            self.names[name] = bindings.variable_name(expression) if is_path(node) else "given"
            if not is_path(node):
                variable = fresh(self.names[name], self.taken)
                self.lines.append(f"{variable} = {expression}")
                expression = variable
            self.expressions[name] = expression
        self.choose_device([self.expressions[name] for name in names])
        return self.translate()

    def effect(self, call):
        name = dotted(call.func)
        if name == "assert_size_stride" and len(call.args) >= 3 and isinstance(call.args[0], ast.Name):
            form = tuple(tuple(ast.literal_eval(a)) for a in call.args[1:3])
            self.forms.setdefault(call.args[0].id, form)
            return self.lay_out(call.args[0].id, form)
        if name == "get_raw_stream":
            return
        if isinstance(call.func, ast.Subscript) and isinstance(call.func.value, ast.Name) and call.func.value.id in self.kernels:
            return self.launch(call.func.value.id, call)
        super().effect(call)

    def assign(self, target, value):
        if target in self.expressions or target in self.waiting:
            raise NoPair("unknown_statement", f"{target} is assigned twice")
        if isinstance(value, ast.Name) and value.id in self.waiting:  # reuse of memory that nothing has written
            self.waiting[target], self.forms[target] = self.waiting.pop(value.id), self.forms[value.id]
            return
        super().assign(target, value)
        if isinstance(value, ast.Call) and dotted(value.func) == "extern_kernels.convolution":
            operands = [self.forms.get(each.id, ((), ())) if isinstance(each, ast.Name) else ((), ()) for each in value.args[:2]]
            self.convolved[target] = (len(self.lines) - 1, operands)

    def lay_out(self, name, form):
        """The result of a convolution gets the layout that the code was written for, if torch promises another one: that of an
        operand that is not contiguous. Which layout a convolution gives depends on the library that computes it."""
        line, operands = self.convolved.pop(name, (None, ()))
        layout, formats = operators.memory_format(*form), [operators.memory_format(*each) for each in operands]
        promised = next((each for each in formats if each != "contiguous_format"), "contiguous_format")
        if line is None or layout in (None, promised):
            return
        argument = "" if layout == "contiguous_format" else f"memory_format=torch.{layout}"
        self.lines[line] += f".contiguous({argument})"

    def new_kernel(self, name, text):
        return GivenKernel(name, text)

    def launch_options(self, call, kernel, sizes):
        grid = call.func.slice if isinstance(call.func, ast.Subscript) else next((k.value for k in call.keywords if k.arg == "grid"), None)
        return kernel.options_of(call.keywords, grid, sizes)


class Outputs(ast.NodeTransformer):
    """output[0] is the first output of `call`, and output alone is the tuple of all."""

    def __init__(self, results):
        self.results = results

    def visit_Subscript(self, node):
        outputs = self.results.get(node.value.id) if isinstance(node.value, ast.Name) else None
        if outputs is None:
            return self.generic_visit(node)
        position = ast.literal_eval(node.slice)
        if type(position) is not int or not -len(outputs) <= position < len(outputs):
            raise NoPair("unknown_output", f"its forward returns {ast.unparse(node)[:80]}")
        return ast.parse(outputs[position], mode="eval").body

    def visit_Name(self, node):
        if node.id not in self.results:
            return node
        return ast.Tuple([ast.parse(each, mode="eval").body for each in self.results[node.id]], ast.Load())


def element_names(target):
    elements = target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target]
    return [element.id for element in elements if isinstance(element, ast.Name)]


def with_called(name, functions):
    """The functions that this one calls, and the function itself at the end."""
    needed, queue = [], [name]
    while queue:
        current = queue.pop()
        if current in needed:
            continue
        needed.append(current)
        queue += [node.id for node in walk(functions[current]) if isinstance(node, ast.Name) and node.id in functions]
    return [functions[each] for each in reversed(needed)]
