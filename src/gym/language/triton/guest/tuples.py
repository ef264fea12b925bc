"""Handles tuples as arguments of a kernel: `k[grid]((x, y), (x.stride(0), 1))`, also nested and with named members.

Triton describes a tuple's type as a tuple of types. Members that are compiled in (None, a one, a `tl.constexpr`) have the
type "constexpr". The IR takes the other members one after the other in the tuple's position, and so does a plan.
"""

from . import descriptors


def rebuilt(old, members):
    """Returns a tuple of these members. It has the type of `old` if that is a named tuple."""
    return type(old)(*members) if hasattr(old, "_fields") else tuple(members)


def leaf_types(type_):
    """Returns the types of the IR's arguments for one argument of the kernel."""
    if isinstance(type_, tuple):
        return [leaf for member in type_ for leaf in leaf_types(member)]
    if type_ == "constexpr":
        return []
    return descriptors.part_types(type_) or [type_]


def leaves(name, type_, value):
    """Returns the values of the IR's arguments for one argument of the kernel."""
    if not isinstance(type_, tuple):
        return [] if type_ == "constexpr" else descriptors.parts(value)
    if not isinstance(value, tuple) or len(value) != len(type_):
        raise TypeError(f"argument {name}: the kernel was compiled for a tuple of {len(type_)}")
    return [leaf for member, part in zip(type_, value) for leaf in leaves(name, member, part)]
