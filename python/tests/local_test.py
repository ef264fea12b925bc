"""Tests the real program: the package starts and ends a judge of this machine. The tests skip if there is no program."""

import os
import pathlib
import signal
import subprocess
import sys
import time
import unittest

import tritonsmith
from tritonsmith import trl

ROOT = pathlib.Path(__file__).resolve().parents[2]
TASK = (ROOT / "tests/tasks/softmax.py").read_text()
KERNEL = (ROOT / "tests/honest/files/softmax__online.py").read_text()


@unittest.skipUnless(os.environ.get("TRITONSMITH_BINARY"), "TRITONSMITH_BINARY names no program")
class LocalJudge(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        os.environ.pop("TRITONSMITH_GYM_URL", None)
        cls.judge = tritonsmith.Judge(settings={"judge.capture.slots": 2})
        cls.url = cls.judge.url
        cls.folder = cls.judge._local.folder

    @classmethod
    def tearDownClass(cls):
        cls.judge.close()
        deadline = time.monotonic() + 20
        while os.path.exists(cls.folder):
            assert time.monotonic() < deadline, f"{cls.folder} was left behind"
            time.sleep(0.05)

    def test_judges_in_three_lines(self):
        verdict = self.judge(TASK, KERNEL, policy="strict")
        self.assertTrue(verdict.accepted, verdict)
        self.assertIn("Your kernel is right", verdict.feedback)
        self.assertIn("accepted", verdict._repr_html_())
        wrong = self.judge(TASK, KERNEL.replace("tl.exp(", "tl.sin("))
        self.assertFalse(wrong.accepted)
        self.assertEqual(wrong.error.error_class, "wrong_value", wrong)

    def test_prompts_extraction_and_rewards_are_the_programs_own(self):
        prompt = self.judge.prompt(TASK, system="You write kernels.")
        self.assertEqual([message["role"] for message in prompt], ["system", "user"])
        self.assertIn("class Model(nn.Module)", prompt[1]["content"])
        completion = f"<thinking>Row by row.</thinking>\n<answer>\n```python\n{KERNEL}```\n</answer>"
        self.assertEqual(self.judge.extract(completion).source, KERNEL)
        reward = self.judge.reward(TASK, completion)
        self.assertAlmostEqual(reward.total, 0.1 + 0.2 + 1.0)
        self.assertAlmostEqual(self.judge.reward_kernel(TASK, KERNEL, weights={"compiled": 0}).total, 1.0)
        nothing = self.judge.reward(TASK, "I cannot.")
        self.assertEqual((nothing.total, nothing.verdict.error.error_class), (0.0, "no_kernel"))
        with self.assertRaisesRegex(tritonsmith.BadRequest, "'speed'"):
            self.judge.reward(TASK, completion, weights={"sped": 1})

    def test_only_those_who_know_the_token_are_served(self):
        with self.assertRaises(tritonsmith.AccessDenied):
            tritonsmith.Judge(self.url, token="guessed").status()

    def test_a_reward_function_pays_a_group_on_it(self):
        import asyncio

        function = trl.kernel_reward(url=self.url, token=self.judge._token)
        completions = [f"```python\n{KERNEL}```", "```python\nclass ModelNew: pass\n```", "no"]
        rewards = asyncio.run(function(completions=completions, task=[TASK] * 3))
        self.assertEqual([round(reward, 6) for reward in rewards], [1.2, 0.0, 0.0])

    def test_a_judge_ends_with_the_process_that_started_it(self):
        script = "import tritonsmith, sys, time; j = tritonsmith.Judge(); print(j.url, j._local.folder, flush=True); time.sleep(60)"
        process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
        url, folder = process.stdout.readline().split()
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
        deadline = time.monotonic() + 20
        while os.path.exists(folder):
            self.assertLess(time.monotonic(), deadline, "the folder of the judge stays")
            time.sleep(0.05)
        with self.assertRaises(tritonsmith.GymUnavailable):
            tritonsmith.Judge(url, patience=0).status()

    def test_a_program_that_does_not_start_is_told_with_its_own_words(self):
        with self.assertRaisesRegex(tritonsmith.GymUnavailable, "unknown key 'judg'"):
            tritonsmith.Judge(settings={"judg": 1}).status()
        with self.assertRaisesRegex(tritonsmith.JudgeError, "/no/such/program"):
            tritonsmith.Judge(program="/no/such/program").status()


if __name__ == "__main__":
    unittest.main()
