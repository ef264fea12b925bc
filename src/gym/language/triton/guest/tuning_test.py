"""Tests that what a file does while an autotuner tunes is found out, and that honest autotuners pass."""

import os
import sys
import unittest

sys.path[:0] = [os.environ["TRITONSMITH_GUEST"],
                os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../guest/testing")]

from candidate_modules import KERNEL, candidate  # noqa: E402
from captures import capture_candidate, launches  # noqa: E402

CONFIGS = 'configs=[triton.Config({"BLOCK": b}) for b in (128, 256)], key=["n"]'
HEAD = '''
FLAGS = [1.0]

def flag(*args, **kwargs):
    FLAGS[0] = 0.5

def measured(run, quantiles=None):
    flag()
    return [1.0, 1.0, 1.0]

def own_benchmark(run, quantiles=None):
    return triton.testing.do_bench(run, warmup=5, rep=10, quantiles=quantiles)

class Benchmark:
    def __call__(self, run, quantiles):
        run()
        return [1.0, 2.0, 3.0]
'''
# Arguments of triton.autotune, and what a launch multiplies by.
FLAGGED = {
    "a benchmark": ("do_bench=measured", "FLAGS[0]"),
    "a hook before a run": ("pre_hook=lambda args, reset_only=False: None if reset_only else flag()", "FLAGS[0]"),
    "a hook before the launch": ("pre_hook=lambda args, reset_only=False: flag() if reset_only else None", "FLAGS[0]"),
    "a hook after a run": ("post_hook=flag", "FLAGS[0]"),
    "the time of a tuning": ("", "0.5 if hasattr(kernel, 'bench_time') else 1.0"),
    "how long a tuning took": ("", "0.5 if getattr(kernel, 'bench_time', 0) > 10 else 1.0"),
    "kept configs": ("", "1.0 / (1 + len(kernel.cache))"),
    "kept times": ("", "0.5 if hasattr(kernel, 'configs_timings') else 1.0"),
    "the best config": ("", "0.5 if 256 in [c.kwargs['BLOCK'] for c in kernel.cache.values()] else 1.0"),
}
HONEST = {
    "clears an output": "reset_to_zero=['y_ptr']",
    "restores an output": "restore_value=['y_ptr']",
    "clears in a hook": "pre_hook=lambda args, reset_only=False: args['y_ptr'].zero_()",
    "fails in a hook": "pre_hook=lambda args, reset_only=False: args['nothing'].zero_()",
    "reports a run": "post_hook=lambda args, exception=None: print('ran', exception)",
    "measures as it likes": "do_bench=own_benchmark",
    "measures by an object": "do_bench=Benchmark()",
    "measures by Triton's old options": "warmup=5, rep=20",
}
HOOKS = ("launch_enter_hook", "launch_exit_hook", "kernel_load_start_hook", "kernel_load_end_hook")


def captured(arguments, factor="1.0", after=""):
    kernel = f"{HEAD}\n@triton.autotune({CONFIGS}{', ' if arguments else ''}{arguments})" + KERNEL + after
    launch = f"kernel[lambda meta: (triton.cdiv(n, meta['BLOCK']),)](self.linear(x), y, n, self.scale * ({factor}))"
    return capture_candidate(candidate(f"y = torch.empty_like(x)\nn = x.numel()\n{launch}\nreturn y", kernel))


def scales(plan):
    return [choice["arguments"][3] for launch in launches(plan) for choice in launch]


class TuningTest(unittest.TestCase):

    def test_what_a_tuning_changes_is_judged(self):
        for name, (arguments, factor) in FLAGGED.items():
            with self.subTest(name):
                answer = captured(arguments, factor)
                if "error" in answer:
                    self.assertEqual(answer["error"]["class"], "state_carried")
                else:
                    self.assertNotEqual(set(map(str, scales(answer["plan"]))), {str({"f": 2.0})})

    def test_honest_autotuners_pass_and_leave_nothing_of_the_tuning(self):
        plain = captured("")["plan"]
        for name, arguments in HONEST.items():
            with self.subTest(name):
                answer = captured(arguments)
                self.assertNotIn("error", answer)
                plan = answer["plan"]
                self.assertEqual(scales(plan), [{"f": 2.0}] * 2)
                self.assertEqual(len(plan["steps"]), len(plain["steps"]))
                self.assertEqual(plan["tensors"], plain["tensors"])
                self.assertEqual(plan["mutated_inputs"], plain["mutated_inputs"])

    def test_hooks_of_triton_are_refused(self):
        for name in HOOKS:
            for add in ("add(flag)", "calls.append(flag)"):
                with self.subTest(name, add=add):
                    answer = captured("", "FLAGS[0]", f"\ntriton.knobs.runtime.{name}.{add}\n")
                    self.assertEqual(answer.get("error", {}).get("class"), "tampering")
                    import triton
                    getattr(triton.knobs.runtime, name).calls.clear()


if __name__ == "__main__":
    unittest.main()
