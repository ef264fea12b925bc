"""Bounds knows between which numbers the elements of integer tensors lie that a task draws. `torch.randint(0, 50, (64,))` lies
between 0 and 49 in every draw, so `targets != -100` holds for all elements, and Python may read how many there are.

Bounds follow views, copies, joins, minima and maxima, and products with known values. A trial draws as the task does, or
moves elements about, and both keep the bounds.
"""

import operator

import torch
from torch.utils._pytree import tree_leaves

from .operators import COMPARISONS, JOINING, KEEPING, SECOND_INDICES


def extremes(real):
    return int(real.min()), int(real.max())


def drawn(func, args):
    """Returns the bounds of what a drawing operator returns, or None."""
    name, overload = func._schema.name, func._overloadname
    numbers = [arg for arg in args if isinstance(arg, int)]
    if name == "aten::randint" and numbers:
        return (numbers[0], numbers[1] - 1) if overload.startswith("low") else (0, numbers[0] - 1)
    return (0, numbers[0] - 1) if name == "aten::randperm" and numbers and numbers[0] > 0 else None


def outcome(compare, bounds, other):
    """Returns what a comparison of numbers within two bounds gives, or None if it may give either."""
    (low, high), (least, most) = bounds, other
    if compare in (operator.eq, operator.ne):
        apart = high < least or most < low
        return (compare is operator.ne) if apart else None
    results = {compare(a, b) for a in (low, high) for b in (least, most)}
    return results.pop() if len(results) == 1 else None


def of_result(func, args, bounds_of):
    """Returns the bounds of an operator's integer results, or None. `bounds_of` returns those of a tensor or a number."""
    name = func._schema.name
    if name in JOINING:
        every = [bounds_of(tensor) for tensor in args[0]]
        return None if None in every else (min(low for low, _ in every), max(high for _, high in every))
    if name in KEEPING:
        return bounds_of(args[0])
    if name == "aten::mul" and len(args) == 2 and None not in (both := [bounds_of(arg) for arg in args]):
        products = [a * b for a in both[0] for b in both[1]]
        return min(products), max(products)
    return drawn(func, args)


def of_comparison(func, args, bounds_of):
    """Returns True or False if a comparison gives this for all elements, and None otherwise."""
    compare = COMPARISONS.get(func._schema.name)
    if compare is None or len(args) != 2 or None in (both := [bounds_of(arg) for arg in args]):
        return None
    return outcome(compare, *both)


def values_of(func, out):
    """Returns the results without indices of elements, which are second where an operator has two results."""
    return out[0] if func._schema.name in SECOND_INDICES and isinstance(out, (tuple, list)) else out


def integer_leaves(out):
    return [leaf for leaf in tree_leaves(out) if isinstance(leaf, torch.Tensor) and not leaf.dtype.is_floating_point
            and leaf.dtype != torch.bool and not leaf.dtype.is_complex]
