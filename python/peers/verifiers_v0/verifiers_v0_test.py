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


if __name__ == "__main__":
    unittest.main()
