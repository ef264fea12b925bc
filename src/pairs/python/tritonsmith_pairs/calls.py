"""Turns the function `call` that Inductor wrote into the body of a forward."""

import ast
import re

from . import bindings, convolutions, operators, products, sharing
from .errors import NoPair
from .helpers import dotted
from .kernels import Kernel, Launch, kernel_name, operators_of, own_words, words_of
from .nodes import walk
from .tidy import fresh

IGNORED = ("args.clear", "assert_size_stride", "assert_alignment", "torch.cuda.set_device")
OWN_FUNCTIONS = {"matmul", *convolutions.NAMES}
NODES = re.compile(r"# Topologically Sorted Source Nodes: \[(.*?)\], Original ATen: \[(.*?)\]")


def statements(function):
    for statement in function.body:
        if isinstance(statement, ast.With):
            yield from statements(statement)
        else:
            yield statement


def commented(text, variables):
    """Returns for each line the operators that the nearest comment above names. `variables` are those of the forward."""
    found, last = {}, []
    for number, line in enumerate(text.splitlines(), 1):
        match = NODES.search(line)
        if match:
            nodes, aten = ([node.strip() for node in group.split(",") if node.strip()] for group in match.groups())
            last = operators_of(nodes, aten, variables) if nodes else aten
        found[number] = last
    return found


class Forward:
    """Collects the lines of the forward and the kernels that they launch."""

    def __init__(self, graph, model, arguments, strict, variables=frozenset()):
        self.buffers = graph.buffers
        self.begin(graph.text, arguments, strict, variables)
        self.bind(graph, model)

    def begin(self, text, arguments, strict, variables):
        self.strict = strict
        self.own_functions = {}  # name -> source, of the functions that stand for what Inductor leaves to torch
        self.nodes = commented(text, variables)
        self.module = ast.parse(text)
        self.kernels = self.generated_kernels()
        self.finished, self.kernel_names = [], {"triton", "tl", "torch", "F", "nn", "libdevice"}
        if strict:
            self.kernel_names |= {f"{name}_kernel" for name in OWN_FUNCTIONS}
        self.taken = {"self", "torch", "triton", "tl", "F", "nn", *OWN_FUNCTIONS, *arguments}
        self.lines = []
        self.expressions = {}   # Inductor's name -> expression
        self.forms = {}         # Inductor's name -> (shape, stride)
        self.waiting = {}       # Inductor's name -> the allocation that its first use will write
        self.names = {}         # Inductor's name -> what its tensor is called in kernels
        self.device = None
        self.uses_functional = False

    def generated_kernels(self):
        kernels = {}
        for statement in self.module.body:
            if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Call) \
                    and dotted(statement.value.func) == "async_compile.triton":
                name = statement.targets[0].id
                kernels[name] = (statement.value.args[1].value, words_of(self.nodes[statement.lineno]))
        return kernels

    def bind(self, graph, model):
        call = next(node for node in walk(self.module) if isinstance(node, ast.FunctionDef) and node.name == "call")
        self.call = call
        given = []
        for statement in statements(call):
            if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Name) and statement.value.id == "args":
                target = statement.targets[0]
                given = [e.id for e in target.elts] if isinstance(target, ast.Tuple) else [target.id]
        if len(given) != len(graph.inputs):
            raise NoPair("unbound_input", f"its code takes {len(given)} tensors, its graph has {len(graph.inputs)} inputs")
        for name, source, example in zip(given, graph.inputs, graph.examples):
            self.expressions[name] = bindings.expression_of(source, model)
            self.names[name] = bindings.variable_name(self.expressions[name])
            if not hasattr(example, "stride"):
                raise NoPair("unbound_input", "an input of its graph is no tensor")
            self.forms[name] = (tuple(example.shape), tuple(example.stride()))
        inputs = self.choose_device([self.expressions[name] for name in given])
        for name, source in zip(given, graph.inputs):
            if inputs and bindings.is_plain(source, model):
                moved = f"{self.expressions[name]}.to({self.device})"
                self.expressions[name] = fresh(self.names[name], self.taken)
                self.lines.append(f"{self.expressions[name]} = {moved}")

    def choose_device(self, tensors):
        """New tensors lie beside the first input, or beside the first weight. Returns the inputs."""
        inputs = [t for t in tensors if not t.startswith("self.")]
        self.device = f"{(inputs or tensors)[0]}.device" if tensors else "'cuda'"
        return inputs

    def translate(self):
        """Writes all lines and returns the expressions of the graph's outputs."""
        for statement in statements(self.call):
            if isinstance(statement, ast.Return):
                outputs = [self.value(element) for element in statement.value.elts]
                self.finished = sharing.share(self.finished, [line for line in self.lines if isinstance(line, Launch)])
                self.lines = [str(line) for line in self.lines]
                return outputs
            self.statement(statement)
        raise NoPair("unknown_statement", "its code returns nothing")

    def statement(self, statement):
        if isinstance(statement, ast.Delete):
            return
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
            return self.effect(statement.value)
        if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
            if isinstance(statement.value, ast.Name) and statement.value.id == "args":
                return
            if isinstance(statement.targets[0], ast.Name):
                return self.assign(statement.targets[0].id, statement.value)
        raise NoPair("unknown_statement", ast.unparse(statement)[:200])

    def effect(self, call):
        name = dotted(call.func)
        if name in IGNORED:
            return
        if name.endswith(".run") and name.removesuffix(".run") in self.kernels:
            return self.launch(name.removesuffix(".run"), call)
        if name.startswith("extern_kernels."):
            return self.extern(name.removeprefix("extern_kernels."), call)
        if name.startswith(("torch.ops.aten.", "aten.")) and not self.strict:
            self.lines.append(self.aten(call))
            return
        raise NoPair("unknown_statement", ast.unparse(call)[:200])

    def assign(self, target, value):
        name = dotted(value.func) if isinstance(value, ast.Call) else ""
        if name == "get_raw_stream":
            return
        if isinstance(value, ast.Name):  # buf1 = buf0  # reuse
            for table in (self.expressions, self.forms, self.waiting, self.names):
                if value.id in table:
                    table[target] = table[value.id]
            if target in self.waiting:
                raise NoPair("unknown_statement", "memory that is used under two names")
            return
        if name == "empty_strided_cuda":
            shape, stride = (tuple(ast.literal_eval(a)) for a in value.args[:2])
            self.forms[target] = (shape, stride)
            self.waiting[target] = ast.unparse(value.args[2])
            return
        if name == "reinterpret_tensor":
            self.expressions[target] = self.reinterpreted(value)
            self.forms[target] = tuple(tuple(ast.literal_eval(a)) for a in value.args[1:3])
            self.names[target] = self.names.get(value.args[0].id, "value") if isinstance(value.args[0], ast.Name) else "value"
            return
        words = words_of(self.nodes[value.lineno])
        if self.strict and name == "extern_kernels.convolution":
            return self.own_convolution(target, value, words)
        if self.strict and isinstance(value, ast.Call):
            raise NoPair("left_to_torch", f"{words[-1] if words else name} is left to torch")
        if name == "extern_kernels.convolution":
            arguments = [self.value(a) for a in value.args]
            keywords = {k.arg: self.value(k.value) for k in value.keywords}
            self.uses_functional = True
            self.define(target, operators.convolution(arguments, keywords), words)
        elif name.startswith(("torch.ops.aten.", "aten.")):
            self.define(target, self.aten(value), words)
        elif isinstance(value, ast.Subscript) and isinstance(value.value, ast.Name):
            self.define(target, f"{self.value(value.value)}[{ast.unparse(value.slice)}]", words)
        else:
            raise NoPair("unknown_statement", ast.unparse(value)[:200])

    def own_convolution(self, target, call, words):
        layout = self.buffers[target].get_layout()
        self.forms[target] = tuple(tuple(int(size) for size in sizes) for sizes in (layout.size, layout.stride))
        keywords = {k.arg: self.value(k.value) for k in call.keywords}
        name, expression = convolutions.call([self.value(a) for a in call.args], keywords, self.forms[target])
        self.own_functions[name] = convolutions.source(name)
        self.define(target, expression, words)

    def define(self, target, expression, words):
        self.name_buffer(target, words)
        self.lines.append(f"{self.expressions[target]} = {expression}")

    def name_buffer(self, target, words):
        wanted = words[-1] if words and words[-1].isidentifier() else "hidden"
        if self.strict and wanted in OWN_FUNCTIONS:
            wanted = "product" if wanted == "matmul" else "convolved"
        self.expressions[target] = self.names[target] = fresh(wanted, self.taken)

    def allocate(self, name, words):
        dtype = self.waiting.pop(name)
        shape, stride = self.forms[name]
        self.name_buffer(name, words)
        if operators.is_contiguous(shape, stride):
            made = f"torch.empty({shape}, dtype={dtype}, device={self.device})"
        else:
            made = f"torch.empty_strided({shape}, {stride}, dtype={dtype}, device={self.device})"
        self.lines.append(f"{self.expressions[name]} = {made}")

    def value(self, node, words=()):
        """The expression of an argument."""
        if isinstance(node, ast.Name):
            if node.id in self.waiting:
                self.allocate(node.id, list(words))
            if node.id in self.expressions:
                return self.expressions[node.id]
            raise NoPair("unknown_value", f"its code uses {node.id}")
        if isinstance(node, ast.Call) and dotted(node.func) == "reinterpret_tensor":
            return self.reinterpreted(node, words)
        if isinstance(node, (ast.Tuple, ast.List)):
            inside = ", ".join(self.value(element, words) for element in node.elts)
            return f"[{inside}]" if isinstance(node, ast.List) else f"({inside}{',' if len(node.elts) == 1 else ''})"
        if any(isinstance(inner, ast.Name) and inner.id in {**self.expressions, **self.waiting} for inner in walk(node)):
            raise NoPair("unknown_value", ast.unparse(node)[:200])
        return ast.unparse(node)

    def reinterpreted(self, call, words=()):
        base = call.args[0]
        shape, stride, offset = (ast.literal_eval(a) for a in call.args[1:4])
        expression = self.value(base, words)
        form = self.forms.get(base.id) if isinstance(base, ast.Name) else None
        return operators.view(expression, form, shape, stride, offset)

    def pointer(self, node, words):
        """An argument of a kernel: only where its memory begins matters."""
        if isinstance(node, ast.Call) and dotted(node.func) == "reinterpret_tensor" and ast.literal_eval(node.args[3]) == 0:
            return self.pointer(node.args[0], words)
        return self.value(node, words)

    def launch(self, name, call):
        text, words = self.kernels[name]
        words = own_words(words)
        kernel = next((k for k in self.finished if k.generated_name == name), None)
        made = kernel or self.new_kernel(name, text)
        given = [p for p in made.parameters if p not in made.constexprs]
        if len(call.args) != len(given):
            raise NoPair("unknown_statement", f"a launch with {len(call.args)} arguments for {len(given)} parameters")
        sizes, rendered, tensors = {}, {}, {}
        for parameter, node in zip(given, call.args):
            if isinstance(node, ast.Constant) and isinstance(node.value, int):
                sizes[parameter], rendered[parameter] = node.value, str(node.value)
            else:
                rendered[parameter] = self.pointer(node, words)
                tensors[parameter] = self.tensor_name(node)
        if kernel is None:
            kernel = made
            comment = f"Computes {', '.join(words)}." if words else ""
            kernel.finish(kernel_name(words, self.kernel_names), tensors, comment)
            self.finished.append(kernel)
        self.lines.append(kernel.launch(sizes, rendered, **self.launch_options(call, kernel, sizes)))

    def new_kernel(self, name, text):
        return Kernel(name, text)

    def launch_options(self, call, kernel, sizes):
        """Block sizes and warps that the code gives: Inductor's own leaves them to its heuristics."""
        return {}

    def tensor_name(self, node):
        while isinstance(node, ast.Call):
            node = node.args[0]
        return self.names.get(node.id, "value") if isinstance(node, ast.Name) else "value"

    def extern(self, name, call):
        keywords = {k.arg: k.value for k in call.keywords}
        out = keywords.pop("out", None)
        arguments = [self.value(a) for a in call.args]
        options = {k: self.value(v) for k, v in keywords.items()}
        if self.strict:
            expression = products.product(name, arguments, options)
            self.own_functions["matmul"] = products.SOURCE.strip()
        else:
            expression = operators.product(name, arguments, options)
        words = words_of(self.nodes[call.lineno])
        if isinstance(out, ast.Name) and out.id in self.waiting and operators.is_contiguous(*self.forms[out.id]):
            self.waiting.pop(out.id)
            self.define(out.id, expression, words)
        else:
            self.lines.append(f"{expression[:-1]}, out={self.value(out, words)})")

    def aten(self, call):
        """A call of an operator by its full name, with its arguments in our names."""
        arguments = [self.value(a) for a in call.args]
        arguments += [f"{k.arg}={self.value(k.value)}" for k in call.keywords]
        name = dotted(call.func)
        return f"{name if name.startswith('torch.') else 'torch.ops.' + name}({', '.join(arguments)})"
