"""Tests that the text of a tensor makes one of the same shape, dtype and strides."""

import os
import sys
import unittest

import torch

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from tritonsmith_modules.problem import Problem  # noqa: E402
from tritonsmith_modules.tensor_text import text_of  # noqa: E402


def made(tensor):
    return eval(text_of(tensor, "`x`"), {"torch": torch})


def strides(tensor):
    return [stride for stride, size in zip(tensor.stride(), tensor.shape) if size > 1]


class TensorText(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(0)

    def test_views_keep_their_strides(self):
        base = torch.randn(4, 6, 24)
        views = {
            "whole": base, "transposed": base.transpose(1, 2), "first part": base[..., :8], "last part": base[..., 16:],
            "every second row": base[:, ::2], "every third column": base[..., ::3], "one row": base[:1, :, :8],
            "heads": base.view(4, 6, 3, 8).permute(2, 0, 1, 3)[0], "cut and transposed": base[:, :3].transpose(0, 2),
            "expanded": torch.randn(4, 1, 8).expand(4, 5, 8), "expanded row": torch.randn(1, 8).expand(4, 8),
            "channels last": torch.randn(2, 8, 16, 16).to(memory_format=torch.channels_last), "scalar": torch.randn(()),
            "empty": torch.randn(0, 4), "16 bits": base.bfloat16()[..., :8], "8 bits": torch.randn(3, 4).to(torch.float8_e4m3fn),
            "flags": torch.rand(100) > 0.2, "ids": torch.randint(0, 1000, (40, 40))[:, :20], "zeros": torch.zeros(4),
        }
        for name, view in views.items():
            with self.subTest(name):
                again = made(view)
                self.assertEqual((again.shape, again.dtype, strides(again)), (view.shape, view.dtype, strides(view)))

    def test_overlapping_and_small_parts_become_contiguous(self):
        for view in (torch.randn(8, 8).unfold(1, 4, 2), torch.randn(4, 10000)[:, :8]):
            self.assertEqual(made(view).shape, view.shape)
            self.assertTrue(made(view).is_contiguous())

    def test_equal_numbers_stay_as_they_are(self):
        for tensor in (torch.ones(8), torch.zeros(3, 4), torch.full((70,), 0.1), torch.full((2, 2), -3.0).bfloat16()):
            self.assertTrue(torch.equal(made(tensor), tensor))

    def test_masks_keep_their_pattern(self):
        for mask in (torch.full((5, 5), float("-inf")).triu(1), torch.full((2, 1, 5, 9), -3e38).triu(5)):
            self.assertTrue(torch.allclose(made(mask), mask, rtol=0.01))
        for mask in (torch.ones(5, 5, dtype=torch.bool).tril(), torch.ones(2, 1, 5, 9, dtype=torch.bool).tril(4),
                     torch.ones(6, 6, dtype=torch.bool).triu(1)):
            self.assertTrue(torch.equal(made(mask), mask))
        self.assertEqual(made(torch.rand(8, 8) < 0.5).dtype, torch.bool)
        padding = torch.zeros(4, 64)
        padding[:, 48:] = -3e38
        self.assertAlmostEqual((made(padding) < 0).float().mean().item(), 0.25, delta=0.1)
        self.assertTrue(made(padding).isfinite().all())
        with self.assertRaisesRegex(Problem, "`x` holds values that are not finite"):
            made(torch.tensor([[0.0, float("inf")], [float("nan"), 1.0]]))

    def test_values_that_cannot_be_read_have_a_shape_all_the_same(self):
        view = torch.empty(3, 4, device="meta", dtype=torch.bfloat16).t()
        again = made(view)
        self.assertEqual((again.shape, again.dtype, again.stride()), (view.shape, view.dtype, view.stride()))


if __name__ == "__main__":
    unittest.main()
