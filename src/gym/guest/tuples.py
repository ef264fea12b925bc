"""Tuples as a kernel's arguments: `k[grid]((x, y), (x.stride(0), 1))`, nested and with names, too.

Triton gives a tuple's type as a tuple of types, with "constexpr" for what is compiled in (None, a one, a `tl.constexpr`), and
its IR takes the other members one after the other where the tuple stands. A plan lists them in the same way.
"""

from . import descriptors


def rebuilt(old, members):
    """A tuple of these members; of the old one's type where that has names for them."""
    return type(old)(*members) if hasattr(old, "_fields") else tuple(members)


def leaf_types(type_):
    """The types of the IR's arguments for one of the kernel's."""
    if isinstance(type_, tuple):
        return [leaf for member in type_ for leaf in leaf_types(member)]
    if type_ == "constexpr":
        return []
    return descriptors.part_types(type_) or [type_]


def leaves(name, type_, value):
    """Their values, alike."""
    if not isinstance(type_, tuple):
        return [] if type_ == "constexpr" else descriptors.parts(value)
    if not isinstance(value, tuple) or len(value) != len(type_):
        raise TypeError(f"argument {name}: the kernel was compiled for a tuple of {len(type_)}")
    return [leaf for member, part in zip(type_, value) for leaf in leaves(name, member, part)]
