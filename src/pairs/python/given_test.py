"""Tests how solutions that a data set holds are rewritten as plain Triton. ctest runs it."""

import ast
import os
import pathlib
import sys
import unittest

sys.path[:0] = [os.environ["TRITONSMITH_PAIRS"]]

from tritonsmith_pairs import given, given_pair  # noqa: E402
from tritonsmith_pairs.errors import NoPair  # noqa: E402
from tritonsmith_pairs.given_kernels import words_of_name  # noqa: E402

FILES = pathlib.Path(os.path.dirname(os.path.abspath(__file__)), "given_files")
HONEST = pathlib.Path(os.path.dirname(os.path.abspath(__file__))).parents[2] / "tests/honest/files"
CLEANED = (FILES / "linear_relu_softmax__cleaned_2_5.py").read_text()
RAW = (FILES / "mean_conv__raw_2_5.py").read_text()
FOREIGN = r"_inductor|async_compile|triton_helpers|triton_heuristics|extern_kernels|empty_strided_cuda|reinterpret_tensor|" \
    r"assert_size_stride|get_raw_stream|DeviceGuard|primals_|tl_math|args\.clear|\.run\("


def reason(text):
    return given_pair.capture({"source": text})["plan"].get("reason")


class Given(unittest.TestCase):
    def check(self, text):
        """Returns the rewritten text, which has nothing of Inductor's left and one class."""
        written = given.plain(text)
        self.assertNotRegex(written, FOREIGN)
        classes = [node.name for node in ast.parse(written).body if isinstance(node, ast.ClassDef)]
        self.assertEqual(classes, ["ModelNew"])
        self.assertEqual(written, given.plain(text), "the same text gives the same")
        return written

    def test_a_cleaned_solution_of_2_5_keeps_its_block_sizes(self):
        written = self.check(CLEANED)
        self.assertIn("product = torch.mm(input_0.view(64, 4), self.fc.weight.t())", written)
        self.assertIn("relu_kernel[(triton.cdiv(256, 128),)](product.view(4, 4, 4, 4), self.fc.bias, 256, BLOCK_X=128)", written)
        self.assertIn("softmax, 16, 16, BLOCK_X=8, num_warps=2)", written)
        self.assertIn("def larger(a, b):", written)
        self.assertIn("tl.reduce(", written)
        self.assertIn("tl.exp(", written)
        self.assertNotIn("ModelNew = ", written)

    def test_raw_code_of_2_5_gets_block_sizes(self):
        written = self.check(RAW)
        self.assertIn("bias_kernel[(triton.cdiv(36, 64), triton.cdiv(24, 16))](input_0, bias, 24, 36, BLOCK_Y=16, BLOCK_X=64)", written)
        self.assertIn("torch.empty_strided((2, 12, 6, 6), (432, 1, 72, 12)", written)
        self.assertRegex(written, r"F\.conv2d\(bias, self\.conv\.weight\)\n")
        self.assertIn("for column_offset in range(0, n_columns, BLOCK_R):", written)
        self.assertIn("self.conv.bias, 2, 288, BLOCK_X=2, BLOCK_R=512)", written)

    def test_raw_code_of_later_versions(self):
        for name in ("conv2d__inductor_2_11", "group_norm__inductor_2_6", "layer_norm__inductor_2_11", "transpose_scale__inductor_2_11"):
            with self.subTest(name):
                self.check((HONEST / f"{name}.py").read_text())

    def test_a_convolution_gets_the_layout_that_the_code_was_written_for(self):
        written = given.plain(RAW.replace("(288, 1, 48, 8))", "(288, 36, 6, 1))"))
        self.assertIn("F.conv2d(bias, self.conv.weight).contiguous()", written)

    def test_several_outputs_and_other_classes(self):
        text = CLEANED.replace("return output[0]", "return output[0], output[2]").replace("class HeadNew", "SIZE = 4\n\n\nclass HeadNew") \
            .replace("nn.Linear(size, size)", "nn.Linear(size, SIZE)")
        written = self.check(text)
        self.assertIn("return (softmax, product.view(4, 4, 4, 4))", written)
        self.assertIn("\nSIZE = 4\n", written)

    def test_classes_may_have_a_method_call(self):
        self.check(CLEANED.replace("    def forward(", "    def call(self, x):\n        return x\n\n    def forward("))

    def test_a_launch_whose_grid_says_something_else_stays(self):
        self.assertEqual(reason(CLEANED.replace("[grid(256)]", "[grid(128)]")), "unknown_grid")
        self.assertEqual(reason(CLEANED.replace("self.fc.bias, 256", "self.fc.bias, 128").replace("primals_2, 256", "primals_2, 128")
                                .replace("[grid(256)]", "[grid(128)]")), "unknown_grid")
        self.assertEqual(reason(RAW.replace("grid=grid(24, 36)", "grid=grid(36, 24)")), "unknown_grid")
        self.assertEqual(reason(RAW.replace("grid=grid(2)", "grid=split_scan_grid(2)")), "unknown_grid")

    def test_code_with_something_unknown_stays(self):
        for old, new, expected in (
                ("get_raw_stream(0)\n", "print(buf1)\n", "unknown_statement"),
                ("with torch.cuda._DeviceGuard(0)", "with torch.no_grad()", "unknown_statement"),
                ("triton_helpers.max2(tmp3, 1)", "triton_helpers.frexp(tmp3)", "unknown_helper"),
                ("extern_kernels.mm(", "extern_kernels._strange(", "unknown_operator"),
                ("XBLOCK=128", "XBLOCK=100", "unknown_launch"),
                ("num_warps=4", "num_ctas=2", "unknown_launch"),
                ("primals_3 = input_0", "primals_3 = input_0\n        primals_3 = input_0", "unknown_statement"),
                ("output = call([primals_1, ", "output = call([", "unbound_input"),
                ("return output[0]", "return output[7]", "unknown_output"),
                ("import torch.nn as nn", "import torch.nn as nn\ntorch.manual_seed(0)", "unknown_statement"),
                ("import torch.nn as nn", "from torch.nn import *\nimport torch.nn as nn", "unknown_statement"),
                ("triton_per_fused__softmax_1", "triton_tem_fused_mm_1", "unknown_kernel"),
                ("ModelNew = HeadNew", "", "unknown_class")):
            with self.subTest(new):
                self.assertIn(old, CLEANED)
                self.assertEqual(reason(CLEANED.replace(old, new)), expected)

    def test_hostile_text_gives_a_reason(self):
        deep = "torch._inductor\n" + "x = " + "(" * 5000 + ")" * 5000
        for text in ("torch._inductor (", "torch._inductor\0", deep, "torch._inductor\nx = " + "-" * 20000 + "1", "extern_kernels.mm\n",
                     "torch._inductor" + "#" * given.LONGEST):
            with self.subTest(text[:40]):
                self.assertTrue(reason(text))
        with self.assertRaises(NoPair):
            given.plain("torch._inductor" + " " * given.LONGEST)

    def test_nothing_of_the_text_is_run(self):
        os.environ.pop("TRITONSMITH_RUN", None)
        run = "__import__('os').environ.setdefault('TRITONSMITH_RUN', '1')"
        text = CLEANED.replace("import torch.nn as nn", f"import torch.nn as nn\nSIZE = {run}").replace("nn.Linear(size, size)", "nn.Linear(size, SIZE)")
        self.assertIn(run, given.plain(text))
        self.assertNotIn("TRITONSMITH_RUN", os.environ)

    def test_other_solutions_are_left_alone(self):
        self.assertEqual(reason("import triton\nclass ModelNew:\n    pass\n"), "no_inductor")

    def test_names_of_kernels_say_operators(self):
        self.assertEqual(words_of_name("triton_poi_fused_add_native_layer_norm_relu_3"), ["add", "layer_norm", "relu"])
        self.assertEqual(words_of_name("triton_red_fused_convolution_max_pool2d_with_indices_12"), ["max_pool2d"])
        self.assertEqual(words_of_name("strange"), [])


if __name__ == "__main__":
    unittest.main()
