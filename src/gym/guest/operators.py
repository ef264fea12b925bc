"""The sets of ATen operators that the guest tells apart, by their names without an overload.

The judge's own table of operators is src/gym/plan/operators/. It says what an operator means for a verdict; the sets here
serve the capture alone.
"""

import operator


def named(names):
    return {f"aten::{name}" for name in names.split()}


# They make a table of positions from numbers alone.
TABLES = named("arange linspace logspace eye tril_indices triu_indices")
# They make a tensor of one number: a mask, or memory that is kept to add to (a sum).
FILLED = named("ones full zeros scalar_tensor")
# They make a tensor from numbers alone. `empty` does not: its values are unknown.
FACTORIES = TABLES | FILLED
# They allot memory and compute nothing.
ALLOTTING = named("empty empty_like empty_strided new_empty new_empty_strided")
# They compute nothing: they allot, view, copy or fill.
PASSIVE = FACTORIES | ALLOTTING | named(
    "alias as_strided cat clone contiguous copy_ detach expand fill_ full_like lift_fresh narrow new_full new_ones new_zeros "
    "ones_like permute repeat reshape select slice split split_with_sizes squeeze stack t transpose unbind unsqueeze view "
    "zero_ zeros_like _to_copy _unsafe_view empty_permuted constant_pad_nd")
# Their results are elements of their first argument.
KEEPING = named(
    "view _unsafe_view reshape slice select alias expand clone _to_copy unsqueeze squeeze t transpose permute split unbind "
    "contiguous flatten max min amax amin sort index_select gather masked_select repeat as_strided detach")
JOINING = named("cat stack")
COMPARISONS = {f"aten::{name}": getattr(operator, name) for name in ("ne", "eq", "lt", "le", "gt", "ge")}
