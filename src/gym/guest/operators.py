"""The sets of ATen operators that the guest tells apart, by their names without an overload.

They follow from the judge's own table of operators. The build writes what the table says as the module operator_traits
(src/gym/plan/operators/program/).
"""

import operator

from . import operator_traits as traits


def named(names):
    return frozenset(f"aten::{name}" for name in names)


# They make a table of positions from numbers alone.
TABLES = named(traits.TABLES)
# They make a tensor of one number: a mask, or memory that is kept to add to (a sum).
FILLED = named(traits.FILLED)
# They make a tensor from numbers alone. `empty` does not: its values are unknown.
FACTORIES = TABLES | FILLED
# They allot memory and compute nothing.
ALLOTTING = named(traits.UNWRITTEN)
# They compute nothing: they allot, view, copy or fill.
PASSIVE = named(traits.ALLOCATES | traits.ARRANGES) | TABLES
# Their results are elements of their first argument. The second result of SECOND_INDICES is not: it says where they are.
KEEPING = named(traits.KEEPS_ELEMENTS)
SECOND_INDICES = named(traits.INDICES_SECOND)
JOINING = named(traits.JOINS)
COMPARISONS = {f"aten::{name}": getattr(operator, name) for name in traits.COMPARES}
