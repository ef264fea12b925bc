"""Tests our adapter with SkyRL's own skyrl_gym: `skyrl_gym.make` makes the environment."""

import unittest

import skyrl_gym

import tritonsmith
import tritonsmith.skyrl
from fake_gym import FakeGymTest
from real_gym import KERNEL, RealGymTest, TASK

tritonsmith.skyrl.register()


def made(where, max_turns=2):
    return skyrl_gym.make("tritonsmith", env_config=where, extras={"reward_spec": {"ground_truth": TASK}, "max_turns": max_turns})


class WithTheRealGym(RealGymTest):
    def test_a_conversation_ends_with_an_accepted_kernel(self):
        env = made(self.where, max_turns=3)
        prompt, info = env.init([{"role": "user", "content": "Write a softmax."}])
        self.assertEqual((len(prompt), info), (1, {}))
        first = env.step("```python\n%s```" % KERNEL.replace("tl.exp(", "tl.sin("))
        self.assertAlmostEqual(first["reward"], 0.2)
        self.assertFalse(first["done"])
        self.assertIn("wrong", first["observations"][0]["content"])
        second = env.step("```python\n%s```" % KERNEL)
        self.assertAlmostEqual(second["reward"], 1.2)
        self.assertTrue(second["done"])
        env.close()


class WithAGymThatFails(FakeGymTest):
    def test_a_fault_is_an_exception_and_no_reward(self):
        with self.assertRaises(tritonsmith.NoVerdict):
            made({"url": self.gym.url}).step("```fault```")
        self.gym.away = True
        with self.assertRaises(tritonsmith.GymUnavailable):
            made({"url": self.gym.url, "patience": 0.2}).step("```good```")


if __name__ == "__main__":
    unittest.main()
