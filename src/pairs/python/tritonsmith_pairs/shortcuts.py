"""Leaves out work of torch's that changes nothing in the text that Inductor writes.

Dynamo and AOTAutograd prepare a function that somebody calls, and here nobody does. Inductor proves facts about sizes by sympy,
and here sizes are numbers.
"""

import sympy
import torch._decomp.decompositions_for_rng as decompositions_for_rng
import torch._dynamo.guards as guards
from torch._guards import detect_fake_mode
from torch._inductor import compile_fx
from torch._inductor.sizevars import SizeVarAllocator, join_dimensions
from torch.utils._sympy.functions import FloorDiv, ModularIndexing

dynamos_build_guards = guards.CheckFunctionManager.build_guards
inductors_fake_tensor_prop = compile_fx.fake_tensor_prop
inductors_simplify = SizeVarAllocator.simplify
inductors_simplify_with_ranges = SizeVarAllocator._simplify_with_ranges
inductors_known_equals = SizeVarAllocator.statically_known_equals
inductors_known_multiple_of = SizeVarAllocator.statically_known_multiple_of


def build_no_guards(self, sorted_guards, *others, **named):
    """A guard tells at the next call whether what was compiled still fits."""
    return dynamos_build_guards(self, [], *others, **named)


def known_fake_mode(module, inputs, *others):
    """As Inductor's, which runs the graph again on fake tensors to learn shapes that its tracing has already noted."""
    mode = detect_fake_mode(inputs)
    if mode is None or any("val" not in node.meta for node in module.graph.nodes if node.op != "output"):
        return inductors_fake_tensor_prop(module, inputs, *others)
    return mode


def simplify(self, expression):
    """As Inductor's, which expands numbers and symbols too."""
    if isinstance(expression, sympy.Atom):
        return self.replacements.get(expression, expression)
    return inductors_simplify(self, expression)


def simplify_with_ranges(self, index, ranges):
    """As Inductor's, which first has sympy compare each variable with its range. Only divisions of an index need that."""
    plain = join_dimensions(self.simplify(index))
    return inductors_simplify_with_ranges(self, index, ranges) if plain.has(ModularIndexing, FloorDiv) else plain


def are_numbers(*values):
    return all(isinstance(value, (int, sympy.Integer)) for value in values)


def known_equals(self, left, right):
    return bool(left == right) if are_numbers(left, right) else inductors_known_equals(self, left, right)


def known_multiple_of(self, numerator, denominator):
    if are_numbers(numerator, denominator) and denominator != 0:
        return bool(numerator % denominator == 0)
    return inductors_known_multiple_of(self, numerator, denominator)


def install():
    guards.CheckFunctionManager.build_guards = build_no_guards
    guards.profile_guard_manager = lambda *args: 0.0  # it flushes the caches to time guards
    compile_fx.fake_tensor_prop = known_fake_mode
    # It makes six tensors at the beginning and at the end, for graphs that draw random numbers, which have no solution.
    decompositions_for_rng.PhiloxStateTracker.reset = classmethod(lambda tracker: None)
    SizeVarAllocator.simplify = simplify
    SizeVarAllocator._simplify_with_ranges = simplify_with_ranges
    SizeVarAllocator.statically_known_equals = known_equals
    SizeVarAllocator.statically_known_multiple_of = known_multiple_of
