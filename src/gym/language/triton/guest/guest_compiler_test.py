"""Tests compilations as compile workers do them, on the kernels of real captures. ctest runs it."""

import base64
import os
import re
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

sys.path[:0] = [os.environ["TRITONSMITH_GUEST"], os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../guest/testing")]

import triton  # noqa: E402
from triton._C.libtriton import llvm  # noqa: E402

import candidate_modules  # noqa: E402
from captures import capture_candidate, good_plan  # noqa: E402
from tritonsmith_guest import compiler, libdevice, worker  # noqa: E402
from tritonsmith_guest.assembly import why_refused  # noqa: E402
from tritonsmith_guest.compiler import compile_kernel  # noqa: E402


class Compiler(unittest.TestCase):

    def compile(self, name):
        return [compile_kernel({**kernel, "target": "sm_90"}) for kernel in good_plan(name)["kernels"]]

    def test_every_kernel_compiles(self):
        for name in ("callable grid", "libdevice", "reduction with a loop", "block pointers", "half, int and bool",
                     "descriptors made on the host", "tuples"):
            for answer in self.compile(name):
                self.assertIn("cubin", answer, answer.get("error"))
                self.assertGreater(answer["registers"], 0)

    def test_the_cubin_is_what_triton_itself_makes_of_the_text(self):
        kernel = good_plan("libdevice")["kernels"][0]
        with tempfile.NamedTemporaryFile("w", suffix=".ttir") as file:
            file.write(kernel["ttir"])
            file.flush()
            with triton.knobs.compilation.scope():
                triton.knobs.compilation.disable_line_info = True
                theirs = triton.compile(file.name, target=triton.backends.compiler.GPUTarget("cuda", 90, 32),
                                        options={"num_warps": kernel["num_warps"], "num_stages": kernel["num_stages"]})
        ours = compile_kernel({**kernel, "target": "sm_90"})
        self.assertEqual(base64.b64decode(ours["cubin"]), theirs.asm["cubin"])

    def test_a_worker_whose_ptxas_was_killed_ends_with_an_exit_code_of_its_own(self):
        kernel = {**good_plan("libdevice")["kernels"][0], "target": "sm_90"}
        for signal_number, exit_code in ((9, worker.PROGRAM_KILLED), (11, 70)):
            done = mock.Mock(returncode=-signal_number, stderr="")
            with mock.patch.object(compiler.subprocess, "run", return_value=done), \
                    mock.patch.object(compiler.os, "_exit", side_effect=SystemExit) as ended:
                self.assertRaises(SystemExit, compile_kernel, kernel)
            ended.assert_called_once_with(exit_code)

    def test_an_excerpt_of_libdevice_gives_the_same_machine_code_as_the_whole(self):
        kernel = {**good_plan("libdevice")["kernels"][0], "target": "sm_90"}
        whole_link = libdevice.link_whole
        with mock.patch.object(llvm, "link_extern_libs", whole_link):
            whole = compile_kernel(kernel)
        linked = []

        def link(module, paths):
            linked.extend(Path(path).read_text() for path in paths)
            return whole_link(module, paths)

        with mock.patch.object(libdevice, "link_whole", link):
            excerpt = compile_kernel(kernel)
        self.assertEqual(excerpt, whole)
        text, = linked
        self.assertLess(text.count("\ndefine "), 10)

    def test_a_function_that_the_library_lacks_is_left_to_the_whole_library(self):
        library = libdevice.Library("define internal float @__nv_a(float %x) {\n  ret float %x\n}")
        self.assertIsNone(library.excerpt({"__nv_a", "__nv_b"}))
        self.assertIn("define float @__nv_a(", library.excerpt({"__nv_a"}))

    def test_an_excerpt_holds_what_its_functions_use(self):
        library = libdevice.Library("@table = internal global i32 7\n@other = internal global i32 8\n"
                                    "declare float @llvm.one(float)\n"
                                    "define internal float @inner(float %x) {\n  %1 = load i32, ptr @table\n  ret float %x\n}\n"
                                    "define internal float @__nv_a(float %x) {\n  %1 = call float @inner(float %x)\n  ret float %1\n}")
        text = library.excerpt({"__nv_a"})
        self.assertIn("@table", text)
        self.assertIn("define internal float @inner(", text)
        self.assertNotIn("@other", text)
        self.assertNotIn("@llvm.one", text)

    def test_products_and_sums_stay_apart_if_the_launch_asks_for_it(self):
        kernels = candidate_modules.KERNEL.replace("tl.maximum(x, 0.0) * scale", "tl.maximum(x * scale + 0.25, 0.0)")
        texts = []
        for option, fused in (("", True), (", enable_fp_fusion=True", True), (", enable_fp_fusion=False", False)):
            launch = f"kernel[(16,)](x, y, n, self.scale, BLOCK=128{option})"
            kernel, = capture_candidate(candidate_modules.candidate(candidate_modules.LAUNCH.format(launch), kernels))["plan"]["kernels"]
            answer = compile_kernel({**kernel, "target": "sm_90", "wants_ptx": True})
            self.assertEqual("fma.rn" in answer["ptx"], fused, option)
            self.assertEqual(kernel.get("enable_fp_fusion", True), fused)
            texts.append(kernel["ttir"])
        self.assertEqual(texts[0], texts[1])
        self.assertEqual(texts[0], texts[2])

    def test_edited_ptx_replaces_the_compilers(self):
        kernel = {**good_plan("libdevice")["kernels"][0], "target": "sm_90"}
        original = compile_kernel({**kernel, "wants_ptx": True})
        self.assertIn(".visible .entry", original["ptx"])
        self.assertNotIn("ptx", compile_kernel(kernel))
        ptx = original["ptx"]
        same = compile_kernel({**kernel, "ptx": ptx})
        self.assertEqual((same["cubin"], same["ptx"], same["registers"]), (original["cubin"], ptx, original["registers"]))
        self.assertRegex(same["instructions"], r"^\d+ instructions, among them \d+ LDG")
        shorter = compile_kernel({**kernel, "ptx": ptx.replace("\tret;", "\tbar.sync 0;\n\tret;")})
        self.assertNotEqual(shorter["cubin"], original["cubin"])
        self.assertEqual(shorter["ptx"], ptx, "the answer has the compiler's own text")
        wrong = compile_kernel({**kernel, "ptx": ptx.replace("\tret;", "\tmov.u32 %r9999, 1;\n\tret;")})
        line = ptx[:ptx.index("\tret;")].count("\n") + 1
        self.assertIn(f"the edited PTX does not assemble: line {line}: ", wrong["error"]["message"])

    def test_shared_memory_ends_where_the_targets_does(self):
        products = """
@triton.jit
def kernel(x_ptr, y_ptr, k, stride, B: tl.constexpr, K: tl.constexpr):
    rows, inner = tl.arange(0, B), tl.arange(0, K)
    total = tl.zeros((B, B), tl.float32)
    for start in range(0, k, K):
        left = tl.load(x_ptr + rows[:, None] * stride + (start + inner)[None, :])
        right = tl.load(x_ptr + (start + inner)[:, None] * stride + rows[None, :])
        total += tl.dot(left, right)
    tl.store(y_ptr + rows[:, None] * stride + rows[None, :], total)
"""
        launch = "x = x.half()\nkernel[(1,)](x, y, n, 1024, B=128, K=64)"
        answer = capture_candidate(candidate_modules.candidate(candidate_modules.LAUNCH.format(launch), products))
        kernel, = answer["plan"]["kernels"]
        for target, fits, stages_that_do_not in (("sm_90", 6, 8), ("sm_80", 6, 7), ("sm_86", 4, 5), ("sm_89", 4, 5)):
            with self.subTest(target):
                answer = compile_kernel({**kernel, "target": target, "num_stages": fits})
                self.assertIn("cubin", answer, answer.get("error"))
                error = compile_kernel({**kernel, "target": target, "num_stages": stages_that_do_not})["error"]
                self.assertEqual(error["class"], "out_of_resources", error)
                self.assertIn("shared memory", error["message"])

    def refusal(self, expression):
        source = candidate_modules.candidate(
            candidate_modules.LAUNCH.format("kernel[(1,)](x, y, n, 1.0, BLOCK=64)"),
            candidate_modules.KERNEL.replace("tl.maximum(x, 0.0)", expression))
        answer = capture_candidate(source)
        self.assertIn("plan", answer, answer.get("error"))
        return compile_kernel({**answer["plan"]["kernels"][0], "target": "sm_90"})["error"]

    def test_a_barrier_compiles_and_no_other_operation_of_its_dialect(self):
        source = candidate_modules.candidate(
            candidate_modules.LAUNCH.format("kernel[(1,)](x, y, n, 1.0, BLOCK=64)"),
            candidate_modules.KERNEL.replace("    x = tl.load(", "    tl.debug_barrier()\n    x = tl.load("))
        kernel = capture_candidate(source)["plan"]["kernels"][0]
        barrier = re.search(r"\w+\.(?:local_)?barrier", kernel["ttir"]).group()
        self.assertIn("cubin", compile_kernel({**kernel, "target": "sm_90"}))
        other = kernel["ttir"].replace(barrier, "%id = gpu.thread_id x")
        error = compile_kernel({**kernel, "ttir": other, "target": "sm_90"})["error"]
        self.assertEqual(error["class"], "refused_ir")
        self.assertIn("gpu.thread_id", error["message"])

    def assembly(self, text, constraints="=r,r"):
        source = candidate_modules.candidate(
            candidate_modules.LAUNCH.format("kernel[(1,)](x, y, n, 1.0, BLOCK=64)"),
            candidate_modules.KERNEL.replace("    x = tl.load(", f"    asm = tl.inline_asm_elementwise({text!r}, {constraints!r}, "
                                             "[offsets], dtype=tl.int32, is_pure=True, pack=1)\n    x = asm + tl.load("))
        answer = compile_kernel({**capture_candidate(source)["plan"]["kernels"][0], "target": "sm_90"})
        return answer.get("error", {}).get("message", "")

    def test_inline_assembly_that_only_computes_compiles(self):
        for text in ("mov.b32 $0, $1;", "{ .reg .b32 t<2>;\n\tlop3.b32 t0, $1, 0xf, 0x64006400, 0xea; // or\n mov.b32 $0, t0; }",
                     "{ .reg .b16 a, b; mov.b32 {a, b}, $1; mov.b32 $0, {b, a}; }", "dp4a.s32.s32 $0, $1, $1, $1;",
                     "{ .reg .pred p; setp.gt.f32 p, $1, 20.; @p mov.f32 $0, $1; @!p mul.f32 $0, $1, 1.5; }"):
            self.assertEqual(self.assembly(text), "", text)

    def test_other_inline_assembly_is_refused(self):
        for text in ("mov.u32 $0, %clock;", "ld.global.b32 $0, [$1];", "bar.sync 0; mov.b32 $0, $1;", "trap;", "max.s32 $0, $1, $1;",
                     "mov.b32 $0, WARP_SZ;", "{ mov.b32 $0, $1; } }", "mov.b32 $0, $1; } .func more() {", "mov.b32 $0, $1; // \\",
                     "@p mov.b32 $0, $1;", "{ .reg .pred p; setp.gt.s32 p, $1, 0; @p trap; mov.b32 $0, $1; }", "mov.b32 $0, .x;"):
            self.assertIn("inline assembly", self.assembly(text) or "compiled", text)
        self.assertIn("~{memory}", self.assembly("mov.b32 $0, $1;", "=r,r,~{memory}"))

    def test_each_register_is_written_before_it_is_read(self):
        start = ".reg .pred p; .reg .b32 t; setp.gt.s32 p, $1, 0; "
        for text, said in (("@p mov.b32 $0, $1;", "result `$0`"), ("mov.b32 $0, t;", "`t` is read"),
                           ("@p mov.b32 t, $1; @!p mov.b32 $0, t; @p mov.b32 $0, t;", "`t` is read"),
                           ("@p mov.b32 $0, $1; setp.gt.s32 p, $1, 5; @!p mov.b32 $0, 1;", "result `$0`")):
            self.assertIn(said, why_refused("{" + start + text + "}", "=r,r"), text)
        self.assertIn("`p` is read", why_refused(".reg .pred p; @p mov.b32 $0, $1; @!p mov.b32 $0, 1;", "=r,r"))
        self.assertIsNone(why_refused("mov.b32 $0, $1;", "=r, r"))
        self.assertIsNone(why_refused(start + "@p mov.b32 t, $1; @p mov.b32 $0, t; @!p mov.b32 $0, 1;", "=r,r"))

    def test_pointers_made_of_integers_are_refused(self):
        error = self.refusal("tl.load((offsets.to(tl.int64) * 4096).to(tl.pointer_type(tl.float32)))")
        self.assertIn("pointers made of integers", error["message"])

    def test_foreign_libraries_and_functions_are_refused(self):
        ttir = good_plan("libdevice")["kernels"][0]["ttir"]
        for change in (('libpath = ""', 'libpath = "/tmp/evil.bc"'), ('symbol = "__nv_tanhf"', 'symbol = "malloc"'),
                       ('symbol = "__nv_tanhf"', 'symbol = "__nv_tanhf; ret"')):
            self.assertIn(change[0], ttir)
            for changed in (ttir.replace(*change), ttir.replace(*change).replace(" = ", "=")):
                error = compile_kernel({"ttir": changed, "target": "sm_90"})["error"]
                self.assertEqual(error["class"], "refused_ir")

    def test_compiling_leaves_captures_their_lines(self):
        self.compile("callable grid")
        source = candidate_modules.candidate(
            candidate_modules.LAUNCH.format("kernel[(1,)](x, y, n, 1.0, BLOCK=64)"),
            candidate_modules.KERNEL.replace("kernel(", "kernel(  "))
        plan = capture_candidate(source)["plan"]
        self.assertIn('candidate.py":', plan["kernels"][0]["ttir"])

    def test_what_would_go_into_ptx_as_it_is_is_refused(self):
        ttir = good_plan("libdevice")["kernels"][0]["ttir"]
        asm = '.visible .func __nv_more() { ret; }'
        for change in (("module {", f'module attributes {{llvm.module_asm = ["{asm}"]}} {{'),
                       ("module {", f'module attributes {{"llvm.module_asm" = ["{asm}"]}} {{'),
                       ("module {", "module @name {"),
                       ("noinline = false", 'noinline = false, passthrough = [["target-cpu", "sm_90"]]'),
                       ("noinline = false", 'noinline = false, "a\\0Ab" = 1 : i32'),
                       ("tt.func public @kernel", 'tt.func public @"ker;nel"'),
                       ("tt.func public @kernel", 'tt.func private @more(i32)\n  tt.func public @kernel')):
            with self.subTest(change[1]):
                self.assertIn(change[0], ttir)
                error = compile_kernel({"ttir": ttir.replace(*change), "target": "sm_90"})["error"]
                self.assertEqual(error["class"], "refused_ir", error)

    def test_a_helper_that_is_not_inlined_compiles(self):
        source = candidate_modules.candidate(
            candidate_modules.LAUNCH.format("kernel[(1,)](x, y, n, 1.0, BLOCK=64)"),
            "@triton.jit(noinline=True)\ndef half(count, parts: tl.constexpr):\n    return count // parts\n"
            + candidate_modules.KERNEL.replace("offsets < n", "offsets < half(n * 2, 2)"))
        kernel = capture_candidate(source)["plan"]["kernels"][0]
        self.assertIn('private @"', kernel["ttir"])
        self.assertIn("cubin", compile_kernel({**kernel, "target": "sm_90"}))

    def test_nonsense_is_an_error_and_no_crash(self):
        for text in ("", "module {", "\0\0", "module { llvm.func @f() }", "module {}", "#loc = loc(#loc)"):
            self.assertIn("error", compile_kernel({"ttir": text, "target": "sm_90"}), text)
        self.assertIn("error", compile_kernel({"ttir": "module {}", "target": "sm_9"}))
        self.assertIn("error", compile_kernel({}))


if __name__ == "__main__":
    unittest.main(verbosity=1)
