"""The adapters by the signatures of their frameworks, which need not be installed. The tests of python/peers drive those that are.

A fault of the infrastructure reaches each framework in its own form of "no result", and never as a number.
"""

import asyncio
import json
import os
import pathlib
import runpy
import sys
import types
import unittest
from unittest import mock

from fake_gym import FakeGymTest

import tritonsmith
from tritonsmith import slime, trl, verl

TASK = "class Model: ...\n"
GOOD, BAD, FAULT = ("<thinking>p</thinking>```\n%s\n```" % kernel for kernel in ("good", "bad", "fault"))


class Trl(FakeGymTest):
    def rewards(self, completions, **options):
        function = trl.kernel_reward(url=self.gym.url, **options)
        self.assertEqual(function.__name__, "tritonsmith_kernel")
        columns = {"prompts": ["p"] * len(completions), "task": [TASK] * len(completions), "trainer_state": None, "completion_ids": []}
        return asyncio.run(function(completions=completions, **columns))

    def test_pays_plain_and_conversational_completions(self):
        self.assertEqual(self.rewards([GOOD, BAD, "I cannot."]), [1.1, 0.1, 0.0])
        self.assertEqual(self.rewards([[{"role": "assistant", "content": GOOD}]], weights={"correct": 3}), [3.1])

    def test_a_fault_is_none_and_the_others_of_the_group_are_paid(self):
        self.assertEqual(self.rewards([GOOD, FAULT, BAD]), [1.1, None, 0.1])

    def test_a_service_that_is_away_is_none(self):
        self.gym.away = True
        self.assertEqual(self.rewards([GOOD, BAD], patience=0.1), [None, None])

    def test_a_release_that_counts_none_as_zero_gets_an_exception(self):
        with mock.patch.object(trl, "_none_is_no_result", lambda: False), self.assertRaises(tritonsmith.NoVerdict):
            self.rewards([GOOD, FAULT])

    def test_a_mistake_of_the_caller_is_an_exception(self):
        with self.assertRaises(tritonsmith.BadRequest):
            self.rewards([GOOD, "```\nrefused\n```"])
        with self.assertRaises(KeyError):
            self.rewards([GOOD], task_column="reference")

    def environment(self, **options):
        environment = trl.kernel_environment(url=self.gym.url, **options)()
        self.assertIsNone(environment.reset(task=TASK, prompt="p"))
        return environment

    def test_an_environment_answers_with_feedback_and_pays_the_best_kernel(self):
        environment = self.environment()
        self.assertEqual(environment.get_reward(), 0.0)
        answers = [asyncio.run(environment.submit_kernel(kernel)) for kernel in ("bad", "good", "bad")]
        self.assertEqual(answers, ["wrong", "right", "wrong"])
        self.assertEqual(environment.get_reward(), 1.0)
        environment.reset(task=TASK)
        self.assertEqual(environment.get_reward(), 0.0)

    def test_an_environment_whose_judge_fails_has_no_reward_until_it_works_again(self):
        environment = self.environment()
        self.assertIn("Submit the kernel again", asyncio.run(environment.submit_kernel("fault")))
        self.assertIsNone(environment.get_reward())
        asyncio.run(environment.submit_kernel("bad"))
        self.assertEqual(environment.get_reward(), 0.0)

    def test_an_environment_that_the_service_does_not_let_in_has_no_reward_but_an_exception(self):
        self.gym.token = "the right one"
        environment = self.environment(token="a wrong one")
        with self.assertRaises(tritonsmith.AccessDenied):
            asyncio.run(environment.submit_kernel("good"))
        with self.assertRaises(tritonsmith.AccessDenied):
            environment.get_reward()

    def test_a_request_that_the_service_refuses_leaves_an_environment_without_a_reward(self):
        environment = self.environment()
        with self.assertRaises(tritonsmith.BadRequest):
            asyncio.run(environment.submit_kernel("refused"))
        with self.assertRaises(tritonsmith.BadRequest):
            environment.get_reward()


class Verl(FakeGymTest):
    def score(self, solution, truth=TASK, **options):
        return asyncio.run(verl.compute_score("cuda_llm", solution, truth, {"num_turns": 1}, url=self.gym.url, **options))

    def test_scores_with_figures_of_the_same_names_for_all(self):
        good, bad = self.score(GOOD), self.score(BAD, json.dumps({"reference_code": TASK, "policy": "open"}), reward_router_address=None)
        self.assertEqual(good, {"score": 1.1, "accepted": 1.0, "correct": 1.0, "compiled": 1.0})
        self.assertEqual((bad["score"], set(bad)), (0.1, set(good)))

    def test_a_fault_is_an_exception(self):
        with self.assertRaises(tritonsmith.NoVerdict):
            self.score(FAULT)

    def test_is_loaded_as_a_file_as_verl_does(self):
        self.assertIn("compute_score", runpy.run_path(verl.__file__))

    def test_an_interaction_ends_with_an_accepted_kernel_or_after_its_turns(self):
        async def conversation(*kernels):
            interaction = verl.KernelInteraction({"name": "kernel", "url": self.gym.url, "max_turns": 2})
            name = await interaction.start_interaction(None, ground_truth=TASK)
            turns = []
            for kernel in kernels:
                turns.append((await interaction.generate_response(name, [{"role": "assistant", "content": kernel}]))[:3])
            score = await interaction.calculate_score(name)
            await interaction.finalize_interaction(name)
            return turns, score

        self.assertEqual(asyncio.run(conversation(BAD, GOOD)), ([(False, "wrong", 0.1), (True, "right", 1.1)], 1.1))
        self.assertEqual(asyncio.run(conversation(BAD, BAD))[0][1][0], True)
        with self.assertRaises(tritonsmith.NoVerdict):
            asyncio.run(conversation(FAULT))


class Slime(FakeGymTest):
    def reward(self, *responses, **arguments):
        samples = [types.SimpleNamespace(prompt="p", response=response, label=TASK) for response in responses]
        given = {"TRITONSMITH_GYM_URL": self.gym.url, "TRITONSMITH_REWARD": json.dumps({"weights": {"correct": 2.0}})}
        with mock.patch.dict(os.environ, given):
            return asyncio.run(slime.rm(types.SimpleNamespace(**arguments), samples[0] if len(samples) == 1 else samples))

    def test_pays_a_sample_and_a_group_of_them(self):
        self.assertAlmostEqual(self.reward(GOOD), 2.1)
        self.assertEqual(self.reward(GOOD, BAD), [2.1, 0.1])
        self.assertEqual(self.reward(GOOD, reward_key="score")["score"], 2.1)
        self.assertEqual(self.reward(GOOD, reward_key="score")["speedup"], 2.0)
        self.assertNotIn("speedup", self.reward(BAD, reward_key="score"), "nothing was timed")

    def test_a_fault_is_an_exception(self):
        with self.assertRaises(tritonsmith.NoVerdict):
            self.reward(FAULT)
        with self.assertRaises(tritonsmith.NoVerdict):
            self.reward(GOOD, FAULT)


class BaseTextEnv:
    """As skyrl_gym has it."""

    def __init__(self):
        self.turns, self.max_turns = 0, 1


class Skyrl(FakeGymTest):
    def setUp(self):
        super().setUp()
        base = types.SimpleNamespace(BaseTextEnv=BaseTextEnv, BaseTextEnvStepOutput=dict)
        modules = {"skyrl_gym": types.SimpleNamespace(), "skyrl_gym.envs": types.SimpleNamespace(), "skyrl_gym.envs.base_text_env": base}
        patch = mock.patch.dict(sys.modules, modules)
        patch.start()
        self.addCleanup(patch.stop)
        from tritonsmith.skyrl import KernelEnv

        sys.modules.pop("tritonsmith.skyrl")
        self.env = KernelEnv({"url": self.gym.url}, {"reward_spec": {"ground_truth": TASK}, "max_turns": 2})

    def test_steps_with_feedback_until_a_kernel_is_accepted(self):
        first, second = self.env.step(BAD), self.env.step(GOOD)
        self.assertEqual((first["reward"], first["done"], first["observations"]), (0.1, False, [{"role": "user", "content": "wrong"}]))
        self.assertEqual((second["reward"], second["done"], second["observations"]), (1.1, True, []))
        self.assertEqual(second["metadata"]["stage"], "timed")

    def test_a_fault_is_an_exception(self):
        with self.assertRaises(tritonsmith.NoVerdict):
            self.env.step(FAULT)

    def test_works_within_a_running_event_loop(self):
        async def step():
            return self.env.step(GOOD)

        self.assertEqual(asyncio.run(step())["reward"], 1.1)


class Package(unittest.TestCase):
    def test_nothing_but_the_standard_library_is_imported(self):
        folder = pathlib.Path(tritonsmith.__file__).parent
        known = set(sys.stdlib_module_names) | {"tritonsmith", "__future__"}
        frameworks = {"skyrl.py": {"skyrl_gym"}, "verl.py": {"verl"}, "verifiers_v0.py": {"verifiers", "datasets"}, "verifiers_v1.py": {"verifiers"}}
        for file in folder.glob("*.py"):
            for line in file.read_text().splitlines():
                words = line.split()
                if words[:1] in (["import"], ["from"]) and len(words) > 1 and not line.startswith(" " * 8):
                    top = words[1].split(".")[0].rstrip(",")
                    self.assertIn(top, known | frameworks.get(file.name, set()), f"{file.name}: {line}")


if __name__ == "__main__":
    unittest.main()
