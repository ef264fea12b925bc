"""Tests captures as guests do them. ctest runs it, and TRITONSMITH_CHECK_PLAN names a program that
parses plans."""

import json
import os
import pathlib
import py_compile
import socket
import struct
import subprocess
import sys
import tempfile
import types
import unittest
import unittest.mock

sys.path[:0] = [os.environ["TRITONSMITH_GUEST"], os.path.join(os.path.dirname(os.path.abspath(__file__)), "testing")]

from tritonsmith_guest import frames  # noqa: E402
from tritonsmith_guest.capture import capture, candidate_request  # noqa: E402
from tritonsmith_guest.warm import preload  # noqa: E402

import torch  # noqa: E402
from torch.utils._pytree import tree_leaves  # noqa: E402

import candidate_modules  # noqa: E402
import task_modules  # noqa: E402
from captures import TASK_PLAN, capture_candidate, capture_task, good_plan, launches  # noqa: E402
from replay import Replay  # noqa: E402

# Without a capture, a CPU does something else for these, or nothing at all.
NOT_EAGER = {"asks the device", "compiled", "scripted", "seeds", "generators", "custom operator", "autocast",
             "attention under autocast", "constant tensors"}


def run_eagerly(source):
    module = types.ModuleType("eager")
    exec(compile(source, "eager.py", "exec"), module.__dict__)
    arguments = module.get_init_inputs()
    with torch.no_grad():
        keywords = len(arguments) == 2 and isinstance(arguments[1], dict)
        model = module.Model(*arguments[0], **arguments[1]) if keywords else module.Model(*arguments)
        return model(*module.get_inputs())


def equal(a, b):
    if isinstance(a, torch.Tensor):
        return a.shape == b.shape and a.dtype == b.dtype and torch.allclose(a, b, rtol=1e-5, atol=1e-6, equal_nan=True)
    return a == b


class Preloading(unittest.TestCase):
    def kept(self, has_bytecode, mode=0o700):
        """Preloads the first module and imports the second. Then it tells which modules have bytecode in the given folder,
        and which beside their sources. The first module may have had bytecode before."""
        with tempfile.TemporaryDirectory() as folder:
            ours, packages = pathlib.Path(folder) / "ours", pathlib.Path(folder) / "packages"
            packages.mkdir()
            ours.mkdir()
            ours.chmod(mode)
            for name in ("large_module", "later_module"):
                (packages / f"{name}.py").write_text("value = 1\n")
            if has_bytecode:
                py_compile.compile(packages / "large_module.py")
            sys.path.insert(0, str(packages))
            try:
                with unittest.mock.patch.object(sys, "dont_write_bytecode", True):
                    preload(str(ours), ["large_module"])
                    __import__("later_module")
            finally:
                sys.path.remove(str(packages))
                for name in ("large_module", "later_module"):
                    sys.modules.pop(name, None)
            return [[path.name.split(".")[0] for path in where.rglob("*.pyc")] for where in (ours, packages)]

    def test_packages_without_bytecode_have_it_in_a_folder_of_ours(self):
        self.assertEqual(self.kept(has_bytecode=False), [["large_module"], []])

    def test_a_folder_that_others_may_write_to_is_not_used(self):
        self.assertEqual(self.kept(has_bytecode=False, mode=0o777), [[], []])

    def test_packages_with_bytecode_keep_theirs(self):
        self.assertEqual(self.kept(has_bytecode=True), [[], ["large_module"]])


class Frames(unittest.TestCase):

    def test_half_of_a_surrogate_pair_in_a_message_spoils_no_reply(self):
        here, there = socket.socketpair()
        with here, there:
            frames.write(here, {"message": "half \ud83d a pair, \x1b[31m red, \x00 and \u00e9"})
            (size,) = struct.unpack("<I", there.recv(4))
            text = there.recv(size).decode()
        self.assertEqual(json.loads(text)["message"], "half ? a pair, \x1b[31m red, \x00 and \u00e9")
        self.assertNotIn("ud83d", text)


class Tasks(unittest.TestCase):

    def test_every_kind_of_module_is_captured_and_its_replay_computes_the_same(self):
        for name, source in task_modules.MODULES.items():
            with self.subTest(name):
                answer = capture_task(source)
                self.assertIn("plan", answer, answer.get("error"))
                torch.manual_seed(1)
                replayed = tree_leaves(Replay(answer["plan"]).run())
                if name in NOT_EAGER:
                    continue
                torch.manual_seed(1)
                expected = tree_leaves(run_eagerly(source))
                self.assertEqual(len(replayed), len(expected))
                self.assertTrue(all(map(equal, replayed, expected)))

    def test_operators_that_depend_on_the_device_are_recorded_whole(self):
        for name, operator in (("lstm", "aten::lstm.input"), ("attention", "aten::scaled_dot_product_attention"),
                               ("batch norm", "aten::batch_norm"), ("gru cell", "aten::gru_cell")):
            steps = capture_task(task_modules.MODULES[name])["plan"]["steps"]
            self.assertIn(operator, [step.get("aten") for step in steps], name)

    def test_an_input_that_forward_changes_is_named(self):
        self.assertEqual(capture_task(task_modules.MODULES["argument changed"])["plan"]["mutated_inputs"], [0])
        self.assertEqual(capture_task(task_modules.MODULES["relu"])["plan"]["mutated_inputs"], [])

    def test_a_task_names_the_parameters_of_its_forward(self):
        def names(signature, inputs):
            source = ("import torch\nclass Model(torch.nn.Module):\n"
                      f"    def forward(self, {signature}):\n        return torch.ones(3)\n"
                      f"def get_inputs():\n    return [{inputs}]\n")
            return capture_task(source)["plan"]["input_names"]
        self.assertEqual(names("x, scale=2.0, *, eps=1.0", "torch.ones(3), 3.0"), ["x", "scale"])
        self.assertEqual(names("x, scale=2.0", "torch.ones(3)"), ["x"])
        self.assertEqual(names("x, *more", "torch.ones(3), torch.ones(4), 5"), ["x", "more[0]", "more[1]"])
        self.assertEqual(names("größe", "torch.ones(3)"), [""])
        plan = capture_task(task_modules.MODULES["relu"])["plan"]
        self.assertEqual(plan["input_names"], ["x"])
        self.assertNotIn("input_names", capture(candidate_request(
            plan, candidate_modules.HEAD + "\nclass ModelNew(nn.Module):\n"
            "    def forward(self, x):\n        return x * 2\n", "candidate.py"))["plan"])

    def test_tied_weights_share_their_tensor(self):
        tensors = {p["name"]: p["tensor"] for p in capture_task(task_modules.MODULES["tied weights"])["plan"]["parameters"]}
        self.assertEqual(tensors["a.weight"], tensors["b.weight"])

    def test_a_forward_that_cannot_be_captured_leaves_a_plan_of_weights_and_inputs(self):
        answer = capture_task(task_modules.module("y = self.c(x)\ny * y.max().item()", "self.c = nn.Linear(8, 8)"))
        plan = answer["plan"]
        self.assertRegex(plan["unplanned"], r"line \d+: data_dependent: ")
        self.assertEqual({step["phase"] for step in plan["steps"]}, {"init", "inputs"})
        self.assertEqual([p["name"] for p in plan["parameters"]], ["c.weight", "c.bias"])
        self.assertNotIn("outputs", plan)
        answer = capture(candidate_request(plan, candidate_modules.HEAD + "\nclass ModelNew(nn.Module):\n"
                                           "    def forward(self, x):\n        return x * 2\n", "candidate.py"))
        self.assertIn("plan", answer, answer.get("error"))

    def test_a_task_that_cannot_be_captured_says_why(self):
        answer = capture_task(task_modules.module("x", "self.n = int(torch.rand(1).item() * 9)"))
        self.assertEqual(answer["error"]["class"], "data_dependent")


class Candidates(unittest.TestCase):

    def test_every_style_is_captured(self):
        for name, source in candidate_modules.GOOD.items():
            with self.subTest(name):
                answer = capture_candidate(source)
                self.assertIn("plan", answer, answer.get("error"))
                self.assertEqual(answer["plan"]["inputs"][0], {"tensor": answer["plan"]["inputs"][0]["tensor"]})

    def test_every_error_has_its_class_and_the_candidates_own_line(self):
        for name, (source, error_class, line, message) in candidate_modules.BAD.items():
            with self.subTest(name):
                answer = capture_candidate(source)
                self.assertIn("error", answer)
                error = answer["error"]
                self.assertEqual(error["class"], error_class, error)
                self.assertIn(message, error["message"])
                self.assertIn(line or "", error["excerpt"], error)
                self.assertEqual(answer["stage"], "extracted" if error_class == "syntax_error" else "inspected")

    def test_plans_of_candidates_parse(self):
        program = os.environ.get("TRITONSMITH_CHECK_PLAN")
        if not program:
            self.skipTest("TRITONSMITH_CHECK_PLAN is not set")
        plans = [capture_candidate(source)["plan"] for source in candidate_modules.GOOD.values()]
        plans += [capture_task(source)["plan"] for source in task_modules.MODULES.values()]
        plans.append(capture_task(task_modules.module("x * x.max().item()"))["plan"])
        done = subprocess.run([program], input="\n".join(map(json.dumps, plans)), capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout[-2000:])

    def test_an_autotuner_gives_one_launch_with_every_config(self):
        choices, = launches(good_plan("autotune"))
        plan = good_plan("autotune")
        self.assertEqual([choice["grid"][0] for choice in choices], [16, 16, 8, 8])
        self.assertEqual([plan["kernels"][choice["kernel"]]["num_warps"] for choice in choices], [2, 4, 2, 4])
        self.assertRegex(choices[3]["config"], "^BLOCK: 256, num_warps: 4(, num_ctas: 1)?, num_stages: 3$")

    def test_a_weight_that_python_reads_is_marked(self):
        for value, names in (("self.gain.item()", ["gain"]), ("self.scale", [])):
            body = candidate_modules.LAUNCH.format(f"kernel[(16,)](x, y, n, {value}, BLOCK=128)")
            plan = capture_candidate(candidate_modules.candidate(body, init="self.gain = nn.Parameter(torch.ones(1))"))["plan"]
            self.assertEqual([entry["name"] for entry in plan["parameters"] if entry.get("read")], names)

    def test_a_call_that_no_later_call_repeats_is_refused(self):
        fresh = candidate_modules.LAUNCH.format("kernel[(1,)](x, y, n, 1.0, BLOCK=64)")
        for forward, init, message in (
                ("self.calls += 1\n" + fresh.replace("1.0", "float(self.calls)"), "self.calls = 0", "launch of kernel"),
                ("if self.old is not None:\n    raise ValueError('no more')\nself.old = x\n" + fresh, "self.old = None",
                 "it ends in ValueError: no more"),
                ("old, self.old = self.old, x\nx = x if old is None else old\n" + fresh, "self.old = None", "instead of"),
                ("key = x.data_ptr()\nif key not in self.known:\n    " + fresh.replace("\n", "\n    ").replace("return y", "self.known[key] = y")
                 + "\nreturn self.known[key]", "self.known = {}", "instead of"),
                ("if self.first is None:\n    self.first = x\nx = self.first\n" + fresh, "self.first = None", "instead of"),
                ("self.count += 1\n" + fresh.replace("1.0", "self.count.item()"),
                 "self.count = torch.zeros(1)", "launch of kernel")):
            answer = capture_candidate(candidate_modules.candidate(forward, init=init))
            self.assertIn("error", answer, forward)
            self.assertEqual(answer["error"]["class"], "state_carried", answer["error"])
            self.assertIn(message, answer["error"]["message"])
            self.assertGreater(answer["error"]["line"], 0)

    def test_a_first_call_of_its_own_is_a_phase_of_the_plan(self):
        launch = "kernel[(1,)](x, y, n, 1.0, BLOCK=64)"
        fresh = candidate_modules.LAUNCH.format(launch)
        for forward, init, message, of_first, of_second in (
                ("if not hasattr(self, 'y'):\n    n = x.numel()\n    y = torch.empty_like(x)\n    " + launch + "\n"
                 "    setattr(self, 'y', y)\nreturn self.y", "", "nothing instead of a launch of kernel", 2, 0),
                ("if self.calls:\n    return x\nself.calls = 1\n" + fresh, "self.calls = 0", "instead of", 2, 0),
                ("if self.count is None:\n    self.count = torch.zeros_like(x)\ny = self.count\nn = x.numel()\n" + launch +
                 "\nreturn y", "self.count = None", "instead of aten::zeros_like", 2, 1),
                ("if self.held is None:\n    self.held = x.clone()\nelse:\n    self.held.copy_(x)\nx = self.held\n" + fresh,
                 "self.held = None", "aten::copy_", 3, 3)):
            plan = capture_candidate(candidate_modules.candidate(forward, init=init))["plan"]
            self.assertIn(message, plan["first_call"]["difference"])
            phases = [step["phase"] for step in plan["steps"]]
            self.assertEqual((phases.count("first_call"), phases.count("forward")), (of_first, of_second), forward)
            tensors, inputs, of_first_call = plan["tensors"], plan["inputs"], plan["first_call"]["inputs"]
            self.assertNotEqual(inputs, of_first_call)
            for one, other in zip(inputs, of_first_call):
                self.assertEqual(tensors[one["tensor"]]["shape"], tensors[other["tensor"]]["shape"])

    def test_what_replaces_a_buffer_is_copied_there(self):
        task = task_modules.module("self.mean = 0.9 * self.mean + 0.1 * x.mean(0)\nself.a, self.b = self.b, self.a\nx - self.mean",
                                   "self.register_buffer('mean', torch.zeros(8))\n"
                                   "self.register_buffer('a', torch.zeros(3))\nself.register_buffer('b', torch.ones(3))")
        plan = capture_task(task)["plan"]
        number = {parameter["name"]: parameter["tensor"] for parameter in plan["parameters"]}
        copies = [step for step in plan["steps"] if step.get("aten") == "aten::copy_" and step["phase"] == "forward"]
        self.assertEqual({step["outputs"][0] for step in copies}, set(number.values()))
        self.assertFalse(any(step["args"][1] in ({"t": number["a"]}, {"t": number["b"]}) for step in copies))
        self.assertNotIn("first_call_only", plan)

    def test_a_task_whose_second_call_takes_other_steps_says_so(self):
        for momentum, differs in ((0.1, False), (None, True)):
            plan = capture_task(task_modules.module("self.n(x)", f"self.n = nn.BatchNorm1d(8, momentum={momentum})"))["plan"]
            self.assertEqual(plan.get("first_call_only", False), differs)
            self.assertEqual(plan, json.loads(json.dumps(plan)))

    def test_workspaces_tables_and_what_was_made_of_weights_may_be_kept(self):
        launch = "kernel[(1,)](x, y, n, 1.0, BLOCK=64)"
        for kept in ("torch.empty_like(x)", "self.linear.weight.t().contiguous()", "torch.empty(8, 64, device='cuda')[2:]",
                     "torch.arange(2048.0, device='cuda').view(32, 64)", "torch.ones(32, 64, device='cuda').tril()"):
            forward = (f"if self.kept is None:\n    self.kept = {kept}\ny = torch.empty_like(x)\nn = x.numel()\n" + launch +
                       "\n" + launch.replace("x, y", "x, self.kept") + "\nreturn y")
            answer = capture_candidate(candidate_modules.candidate(forward, init="self.kept = None"))
            self.assertIn("plan", answer, answer.get("error"))

    def test_the_second_call_leaves_nothing_in_the_plan(self):
        source = candidate_modules.GOOD["callable grid"]
        plan = capture_candidate(source)["plan"]
        self.assertEqual(len([step for step in plan["steps"] if "launch" in step]), 1)
        self.assertEqual(len(plan["kernels"]), 1)
        made = {index for step in plan["steps"] for index in step.get("outputs", [])}
        given = {value["tensor"] for value in plan["inputs"] if "tensor" in value}
        named = {parameter["tensor"] for parameter in plan["parameters"]}
        self.assertLessEqual(set(range(len(plan["tensors"]))), made | given | named | set(range(len(TASK_PLAN["tensors"]))))

    def test_kernels_in_one_mode_alone_are_refused(self):
        launch = candidate_modules.LAUNCH.format("kernel[(1,)](x, y, n, 1.0, BLOCK=64)")
        for question in ("torch.is_grad_enabled()", "not getattr(self, 'training')"):
            answer = capture_candidate(candidate_modules.candidate(f"if {question}:\n    return x\n{launch}"))
            self.assertEqual(answer["error"]["class"], "mode_dependent", answer)

    def test_what_a_process_on_a_gpu_finds_is_found_in_the_guest(self):
        for question in ("torch.cuda.is_initialized() and torch.cuda.memory_reserved() > 0",
                         "type(handle).__name__ == 'CompiledKernel' and isinstance(handle, triton.compiler.CompiledKernel)",
                         "sum(len(cache[0]) for cache in kernel.device_caches.values()) == 1",
                         f"sys.getrefcount(x) >= 2 and sys.getsizeof(x) == {sys.getsizeof(torch.empty(1))}", "torch.cuda.Stream().cuda_stream != 0"):
            with self.subTest(question):
                answer = capture_candidate("import sys\n" + candidate_modules.candidate(
                    f"y = torch.empty_like(x)\nhandle = kernel[(1,)](x, y, 64, 1.0, BLOCK=64)\nassert {question}\nreturn y"))
                self.assertIn("plan", answer, answer.get("error"))

    def test_a_plan_says_what_happens_to_streams(self):
        launch = "kernel[(1,)](x, y, 64, 1.0, BLOCK=64)"
        source = candidate_modules.candidate(
            "y = torch.empty_like(x)\nside, here = torch.cuda.Stream(), torch.cuda.current_stream()\nside.wait_stream(here)\n"
            f"with torch.cuda.stream(side):\n    {launch}\n    assert torch.cuda.current_stream() == side != here\n"
            "assert side.cuda_stream == torch._C._cuda_getCurrentRawStream(0) or torch.cuda.current_stream() == here\n"
            "here.wait_stream(side)\nreturn y")
        plan = capture_candidate(source)["plan"]
        before = next(k for k, step in enumerate(plan["steps"]) if "launch" in step)
        self.assertEqual([(order["before"] - before, order["kind"], order["stream"], order["event"]) for order in plan["orders"]],
                         [(0, "record", 0, 1), (0, "wait", 1, 1), (0, "use", 1, 0), (1, "use", 0, 0), (1, "record", 1, 2),
                          (1, "wait", 0, 2)])
        unused = source.replace("with torch.cuda.stream(side):", "with torch.cuda.stream(here):").replace("== side != here", "!= side")
        self.assertNotIn("orders", capture_candidate(unused)["plan"])

    def test_a_compile_error_names_the_line_of_the_call_that_cannot_be_compiled(self):
        helper = "\n@triton.jit(noinline=True)\ndef helper(x):\n    return x * 2\n\n# One\n# Two\n# Three\n\n"
        kernels = candidate_modules.KERNEL.replace("@triton.jit", helper + "@triton.jit", 1).replace(
            "    tl.store(", "    there = helper(tl.arange(0, 16))\n    tl.store(", 1)
        answer = capture_candidate(candidate_modules.candidate(
            candidate_modules.LAUNCH.format("kernel[(16,)](x, y, n, self.scale, BLOCK=128)"), kernels))
        self.assertEqual(answer["error"]["excerpt"], "there = helper(tl.arange(0, 16))", answer["error"])

    def test_a_gluon_kernel_is_named_as_one(self):
        gluon = ("from triton.experimental import gluon\nfrom triton.experimental.gluon import language as gl\n\n@gluon.jit\n"
                 "def copies(x, y, BLOCK: gl.constexpr):\n    at = gl.arange(0, BLOCK, layout=gl.BlockedLayout([1], [32], [4], [0]))\n"
                 "    gl.store(y + at, gl.load(x + at))\n")
        answer = capture_candidate(candidate_modules.candidate(
            candidate_modules.LAUNCH.format("copies[(1,)](x, y, 128)"), gluon + candidate_modules.KERNEL))
        self.assertIn("Gluon kernels are not judged", answer["error"]["message"])

    def test_a_call_that_waits_for_other_streams_is_another_call(self):
        answer = capture_candidate(candidate_modules.candidate(
            "y = torch.empty_like(x)\nself.side.wait_stream(torch.cuda.current_stream())\nwith torch.cuda.stream(self.side):\n"
            "    kernel[(1,)](x, y, 64, 1.0, BLOCK=64)\nself.calls += 1\nif self.calls == 1:\n"
            "    torch.cuda.current_stream().wait_stream(self.side)\nreturn y", init="self.side, self.calls = torch.cuda.Stream(), 0"))
        self.assertIn("other streams", answer["plan"]["first_call"]["difference"])

    def test_the_virtual_gpu_answers_what_honest_code_asks(self):
        from device_questions import GUARDS, QUESTIONS
        launch = "kernel[(16,)](x, y, x.numel(), self.scale, BLOCK=128)"
        lines = [f"assert {question}" for question in QUESTIONS] + [f"with {guard}: {launch}" for guard in GUARDS]
        whole = "y = torch.empty_like(x)\n" + "\n".join(lines) + f"\n{launch}\nreturn y"
        if "plan" in capture_candidate(candidate_modules.candidate(whole)):
            return
        for line in lines:  # this finds the line that was refused
            with self.subTest(line):
                source = candidate_modules.candidate(f"y = torch.empty_like(x)\n{line}\n{launch}\nreturn y")
                answer = capture_candidate(source)
                self.assertIn("plan", answer, answer.get("error"))
        self.fail("all of them together")

    def test_the_virtual_gpu_is_a_chip_of_the_target_or_the_gpu_that_was_told_of(self):
        asks = "p, driver = torch.cuda.get_device_properties(0), triton.runtime.driver.active\n"
        launch = "y = torch.empty_like(x)\nkernel[({},)](x, y, x.numel(), self.scale, BLOCK=128)\nreturn y"

        def grid(expression, **how):
            source = candidate_modules.candidate(asks + launch.format(expression))
            answer = capture({**candidate_request(TASK_PLAN, source, "candidate.py"), **how})
            self.assertIn("plan", answer, answer.get("error"))
            return launches(answer["plan"])[0][0]["grid"][0]

        count = "p.multi_processor_count"
        capability = "10 * torch.cuda.get_device_capability()[0] + driver.get_current_target().arch"
        self.assertEqual((grid(count), grid(capability)), (132, 180))
        self.assertEqual((grid(count, target="sm_80"), grid(capability, target="sm_80")), (108, 160))
        self.assertEqual(grid("driver.utils.get_device_properties(0)['max_shared_mem']", target="sm_89"), 101376)
        self.assertEqual(grid(capability, target="sm_120"), 240)
        told = {"multi_processor_count": 78, "total_memory": 17 << 30}
        self.assertEqual((grid(count, device=told), grid("torch.cuda.mem_get_info()[1] >> 30", device=told)), (78, 17))
        self.assertEqual(grid(count), 132)

    def test_a_hook_of_configs_is_recorded_once(self):
        steps = [step.get("aten", "launch") for step in good_plan("hooks of configs")["steps"] if step["phase"] == "forward"]
        self.assertEqual(steps, ["aten::empty_like", "aten::zero_", "launch"])

    def test_an_autotuner_keeps_the_configs_that_its_own_model_keeps(self):
        choices, = launches(good_plan("autotune pruned by a model"))
        self.assertEqual([choice["grid"][0] for choice in choices], [16, 16])

    def test_a_descriptor_made_on_the_host_becomes_a_tensor_its_shape_and_its_strides(self):
        plan = good_plan("descriptors made on the host")
        kernel, = plan["kernels"]
        self.assertEqual(kernel["arguments"], ["*fp32", "i32", "i32", "i64", "i64"] * 3 + ["i32"])
        self.assertEqual(kernel["ttir"].count("tt.make_tensor_descriptor"), 3)
        (choice,), = launches(plan)
        self.assertEqual([list(argument.values())[0] for argument in choice["arguments"][1:5]], [32, 64, 64, 1])

    def test_a_tuples_members_are_arguments_in_its_place_but_for_what_is_compiled_in(self):
        plan = good_plan("tuples")
        kernel, = plan["kernels"]
        self.assertEqual(kernel["arguments"], ["*fp32", "*fp32", "i32", "i32", "fp32", "fp32"])
        (choice,), = launches(plan)
        self.assertEqual([key for argument in choice["arguments"] for key in argument], ["t", "t", "i", "i", "f", "f"])
        self.assertEqual([choice["arguments"][at] for at in (3, 4)], [{"i": 2}, {"f": 3.5}])

    def test_an_object_with_an_address_is_the_tensor_that_begins_there(self):
        plan = good_plan("reinterpreted memory")
        (one,), (other,) = launches(plan)
        specs = [plan["tensors"][choice["arguments"][0]["t"]] for choice in (one, other)]
        self.assertEqual([(spec["dtype"], spec["offset"]) for spec in specs], [("int32", 0), ("float32", 64)])
        self.assertEqual(plan["kernels"][one["kernel"]]["arguments"][0], "*fp32")

    def test_tensors_have_addresses_of_their_own(self):
        launch = candidate_modules.LAUNCH.format("kernel[(1,)](x, y, n, 1.0, BLOCK=64)")
        questions = ("x.data_ptr() != torch.empty_like(x).data_ptr()", "x.data_ptr() % 512 == 0 != x.data_ptr()",
                     "x[1:].data_ptr() == x.data_ptr() + 256", "x.view(-1).data_ptr() == x.data_ptr()",
                     "self.linear.weight.data_ptr() != self.linear.bias.data_ptr()", "x[:0].data_ptr() == 0")
        answer = capture_candidate(candidate_modules.candidate(
            "\n".join(f"assert {question}, {question!r}" for question in questions) + "\n" + launch))
        self.assertIn("plan", answer, answer.get("error"))

    def test_python_may_read_integers_that_no_draw_decides_and_no_other_values(self):
        task = """
import torch
import torch.nn as nn

class Model(nn.Module):
    def forward(self, x, lengths, drawn, weights):
        return x[:int(lengths[0])]

def get_inputs():
    return [torch.randn(32, 64), torch.tensor([7, 3]), torch.randint(0, 9, (2,)), torch.tensor([0.5, 2.0])]
"""
        plan = capture_task(task)["plan"]
        lengths, drawn = plan["inputs"][1]["tensor"], plan["inputs"][2]["tensor"]
        self.assertEqual([entry[:1] if len(entry) == 2 else entry for entry in plan["known"]], [[lengths], [drawn, 0, 8]])
        self.assertEqual(plan["read_inputs"], [1])
        for read, error in (("lengths.max().item()", ""), ("lengths.cpu().tolist()[0]", ""), ("lengths.numpy().sum()", ""),
                            ("(drawn != -100).sum().item()", ""), ("(drawn < 9).all()", ""),
                            ("torch.repeat_interleave(lengths).numel()", ""), ("drawn.min() >= -1", ""),
                            ("(drawn.max(0)[0] < 9).all()", ""), ("(drawn.max(0)[1] < 9).all()", "data_dependent"),
                            ("(drawn.min(0)[1] < 9).all()", "data_dependent"), ("(drawn.sort()[1] < 9).all()", "data_dependent"),
                            ("(drawn != 3).sum().item()", "data_dependent"),
                            ("torch.repeat_interleave(drawn).numel()", "data_dependent"),
                            ("drawn[0].item()", "data_dependent"), ("weights[0].item()", "data_dependent")):
            source = candidate_modules.HEAD + candidate_modules.KERNEL + f"""

class ModelNew(nn.Module):
    def forward(self, x, lengths, drawn, weights):
        y = torch.empty_like(x[:7])
        kernel[(7,)](x, y, int({read}) * 64, 1.0, BLOCK=64)
        return y
"""
            answer = capture(candidate_request(plan, source, "candidate.py"))
            self.assertEqual(answer.get("error", {}).get("class", ""), error, read)
            if not error:
                self.assertEqual(answer["plan"]["read_inputs"], [1] if "lengths" in read else [], read)

    def test_an_int_of_one_is_folded_into_the_kernel(self):
        plan = good_plan("one as an argument")
        self.assertEqual(plan["kernels"][0]["arguments"], ["*fp32", "*fp32", "fp32"])
        self.assertEqual(len(launches(plan)[0][0]["arguments"]), 3)

    def test_pointers_are_as_aligned_as_their_offset(self):
        ttir = good_plan("views and odd offsets")["kernels"][0]["ttir"]
        self.assertNotIn("x_ptr: !tt.ptr<f32> {tt.divisibility", ttir.replace("%", ""))
        self.assertIn("y_ptr: !tt.ptr<f32> {tt.divisibility", ttir.replace("%", ""))

    def test_equal_launches_share_a_kernel(self):
        plan = good_plan("several kernels and temporaries")
        self.assertEqual((len(plan["kernels"]), len(launches(plan))), (1, 2))

    def test_captures_in_one_process_do_not_mix(self):
        first, second = good_plan("callable grid"), good_plan("callable grid")
        self.assertEqual(first, second)


if __name__ == "__main__":
    unittest.main(verbosity=1)
