"""Tests our plug-in, found by its name, with verifiers' own environments, rubrics and rollouts (v0). A fake model gives the
answers."""

import asyncio
import math
import unittest

import verifiers as vf
from verifiers.types import Response, ResponseMessage

from fake_gym import FakeGymTest
from real_gym import KERNEL, RealGymTest, TASK


class SaysWhatWeWant(vf.Client):
    """A fake model that returns the given answers in order."""

    def __init__(self, *answers):
        self.answers = list(answers)
        self.asked = []

    async def get_response(self, prompt, model, sampling_args, tools=None, **_):
        self.asked.append(prompt)
        message = ResponseMessage(content=self.answers.pop(0), finish_reason="stop", is_truncated=False)
        return Response(id="r", created=0, model=model, usage=None, message=message)


for _name in getattr(vf.Client, "__abstractmethods__", ()):
    if _name not in vars(SaysWhatWeWant):
        setattr(SaysWhatWeWant, _name, lambda *_, **__: None)
SaysWhatWeWant.__abstractmethods__ = frozenset()


class Verifiers(unittest.TestCase):
    def rollout(self, where, *answers, max_turns=3):
        env = vf.load_environment("tritonsmith-kernels", tasks={"softmax": {"source": TASK}}, max_turns=max_turns, **where)
        client = SaysWhatWeWant(*answers)
        row = {**env.get_dataset(n=1)[0], "example_id": 0}
        state = asyncio.run(env._run_rollout_state(row, client, "model", {}))
        return state, client

    def group(self, where, *answers):
        """The rollouts of one task, each with one answer, scored together."""
        env = vf.load_environment("tritonsmith-kernels", tasks={"softmax": {"source": TASK}}, **where)
        rows = [{**env.get_dataset(n=1)[0], "example_id": 0} for _ in answers]
        return asyncio.run(env._run_group_states(rows, SaysWhatWeWant(*answers), "model", {}))


class WithTheRealGym(Verifiers, RealGymTest):
    def test_a_conversation_ends_with_an_accepted_kernel(self):
        wrong, right = ("```python\n%s```" % text for text in (KERNEL.replace("tl.exp(", "tl.sin("), KERNEL))
        state, client = self.rollout(self.where, wrong, right, "never asked")
        self.assertAlmostEqual(state["reward"], 1.2)
        self.assertEqual(client.answers, ["never asked"])
        self.assertIn("wrong", str(client.asked[1]))


class WithAGymThatFails(Verifiers, FakeGymTest):
    def test_a_fault_ends_the_rollout_with_an_infrastructure_error_and_without_a_reward(self):
        state, _ = self.rollout({"url": self.gym.url}, "```bad```", "```fault```", "never asked")
        self.assertIsInstance(state["error"], vf.InfraError)
        self.assertTrue(math.isnan(state["reward"]))
        self.assertEqual(self.rollout({"url": self.gym.url}, "```good```")[0]["reward"], 1.0)

    def test_a_fault_leaves_the_rewards_and_advantages_of_its_group_as_they_are(self):
        good, fault, bad = self.group({"url": self.gym.url}, "```good```", "```fault```", "```bad```")
        self.assertEqual([state["reward"] for state in (good, bad)], [1.0, 0.0])
        self.assertEqual(self.advantages(good, fault, bad), [0.5, 0.0, -0.5])
        self.assertIsInstance(fault["error"], vf.InfraError)
        self.assertTrue(math.isnan(fault["reward"]))

    def test_a_group_of_faults_teaches_nothing(self):
        states = self.group({"url": self.gym.url}, "```fault```", "```fault```")
        self.assertEqual(self.advantages(*states), [0.0, 0.0])
        self.assertTrue(all(math.isnan(state["reward"]) for state in states))

    def advantages(self, *states):
        """Those of the answers: a trainer learns from them. verifiers overwrites the state's own by its last rubric's."""
        return [step["advantage"] for state in states for step in state["trajectory"]]


if __name__ == "__main__":
    unittest.main()
