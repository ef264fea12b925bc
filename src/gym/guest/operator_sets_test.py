"""Compares the guest's sets of operators with what they are meant to hold, and with torch's schemas. ctest runs it."""

import os
import sys
import unittest

sys.path.insert(0, os.environ["TRITONSMITH_GUEST"])

from tritonsmith_guest import operator_traits as traits, operators  # noqa: E402

import torch  # noqa: E402

SETS = {
    "TABLES": "arange linspace logspace eye tril_indices triu_indices",
    "FILLED": "ones full zeros scalar_tensor",
    "ALLOTTING": "empty empty_like empty_permuted empty_strided new_empty new_empty_strided",
    "KEEPING":
        "view _unsafe_view reshape slice select alias expand clone _to_copy unsqueeze squeeze t transpose permute split unbind "
        "contiguous flatten max min amax amin sort index_select gather masked_select repeat as_strided detach",
    "JOINING": "cat stack",
    "COMPARISONS": "ne eq lt le gt ge",
}
PASSIVE = (
    "alias as_strided cat clone contiguous copy_ detach expand fill_ full_like lift_fresh narrow new_full new_ones new_zeros "
    "ones_like permute repeat reshape select slice split split_with_sizes squeeze stack t transpose unbind unsqueeze view "
    "zero_ zeros_like _to_copy _unsafe_view constant_pad_nd diagonal unfold view_as_real")
COMPUTING = "add mm relu sum sort tril where index_select gather flip roll uniform_ native_dropout"


def overloads(name):
    packet = getattr(torch.ops.aten, name.removeprefix("aten::"))
    return [getattr(packet, overload) for overload in packet.overloads()]


class Operators(unittest.TestCase):

    def test_sets_hold_what_they_are_meant_to(self):
        for name, expected in SETS.items():
            self.assertEqual(set(getattr(operators, name)), {f"aten::{each}" for each in expected.split()}, name)

    def test_views_and_allocations_are_passive_and_computations_are_not(self):
        for each in f"{PASSIVE} {SETS['TABLES']} {SETS['FILLED']} {SETS['ALLOTTING']}".split():
            self.assertIn(f"aten::{each}", operators.PASSIVE)
        for each in COMPUTING.split():
            self.assertNotIn(f"aten::{each}", operators.PASSIVE)

    def test_no_result_that_holds_positions_counts_as_elements(self):
        for name in operators.KEEPING:
            returns = [tuple(value.name for value in overload._schema.returns) for overload in overloads(name)]
            self.assertEqual(name in operators.SECOND_INDICES, ("values", "indices") in returns, name)

    def test_torch_has_every_operator_of_the_module(self):
        for name, names in vars(traits).items():
            for each in names if name.isupper() else ():
                self.assertTrue(torch._C._jit_get_schemas_for_operator(f"aten::{each}"), f"{each} of {name}")


if __name__ == "__main__":
    unittest.main(verbosity=1)
