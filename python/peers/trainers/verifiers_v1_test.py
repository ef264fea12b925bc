"""Tests our plug-in, found by its name, with verifiers' own loader, taskset, trace and scoring (v1)."""

import asyncio
import json
import pathlib
import re
import tempfile
import unittest

import verifiers.v1 as vf
from verifiers.v1.utils.loaders import environment_class, load_taskset, taskset_config_type

from fake_gym import FakeGymTest
from real_gym import KERNEL, RealGymTest, ROOT, TASK
from tritonsmith.verifiers_v1 import KernelTaskConfig


def loaded(url, folder):
    suite = pathlib.Path(folder) / "tasks.jsonl"
    suite.write_text(json.dumps({"id": "softmax", "source": TASK}) + "\n")
    config = taskset_config_type("tritonsmith-kernels")(id="tritonsmith-kernels", tasks=str(suite), task={"url": url})
    return load_taskset(config)


def scored(task, answer):
    """Returns a trace with one answer of the model, scored as a rollout is, and the error that scoring raised."""
    trace = vf.Trace(task=vf.TraceTask(type=type(task).__name__, data=task.data), agent=vf.AgentInfo(config=vf.AgentConfig()))
    trace.nodes.append(vf.MessageNode(parent=None, message=vf.AssistantMessage(content=answer), sampled=True))
    try:
        asyncio.run(task.score(trace))
    except vf.TaskError as error:
        return trace, error
    return trace, None


class Verifiers(unittest.TestCase):
    def check_taskset(self, url):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        [task] = list(loaded(url, folder.name))
        self.assertEqual(task.data.id, "softmax")
        self.assertIn("class Model", task.data.prompt_text)
        return task


class WithTheRealGym(Verifiers, RealGymTest):
    def test_a_taskset_has_prompts_and_its_tasks_are_scored(self):
        import os

        os.environ["TRITONSMITH_GYM_TOKEN"] = self.where["token"]
        self.addCleanup(os.environ.pop, "TRITONSMITH_GYM_TOKEN")
        task = self.check_taskset(self.where["url"])
        trace, error = scored(task, "```python\n%s```" % KERNEL)
        self.assertIsNone(error)
        self.assertAlmostEqual(trace.reward, 1.2)
        self.assertEqual(trace.metrics["accepted"], 1.0)
        trace, error = scored(task, "I cannot.")
        self.assertEqual((trace.reward, error), (0.0, None))


class WithAGymThatFails(Verifiers, FakeGymTest):
    def test_the_plug_in_brings_its_environment(self):
        self.assertEqual(environment_class("tritonsmith-kernels").__name__, "KernelEnv")

    def test_a_task_takes_every_option_of_an_adapter(self):
        options = {"url": self.gym.url, "policy": "fused", "comparison": "allclose", "backend": "replay", "trials": 5,
                   "baselines": ["eager"], "priority": "low", "timeout": 30.0, "weights": {"correct": 3.0}, "patience": 9.0,
                   "retries": 0, "program": "/nowhere/tritonsmith", "directory": "/nowhere", "settings": {"queue": 9}}
        scorer = KernelTaskConfig(**options).scorer()
        self.assertEqual({**scorer._judge_options, **scorer._job_options}, options)
        documented = (ROOT / "docs/python.md").read_text().partition("## Options of every adapter")[2].partition("\n## ")[0]
        named = set(re.findall(r"`(\w+)`", "".join(line.split("|")[1] for line in documented.splitlines() if line.startswith("| `"))))
        self.assertEqual(named - {"token", "tasks"}, set(options))

    def test_what_a_task_leaves_out_is_left_to_the_service(self):
        scorer = KernelTaskConfig().scorer()
        self.assertEqual(scorer._job_options, {"policy": "strict", "backend": "auto", "trials": 3, "priority": "normal"})

    def test_a_fault_is_a_task_error_and_no_reward(self):
        task = self.check_taskset(self.gym.url)
        self.assertEqual(scored(task, "```good```")[0].reward, 1.0)
        trace, error = scored(task, "```fault```")
        self.assertIn("the referee was killed", str(error))
        self.assertEqual((trace.rewards, trace.reward), ({"kernel": None}, 0))


if __name__ == "__main__":
    unittest.main()
