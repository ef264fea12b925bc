"""Drives OpenEnv's endpoints by openenv-core's own client."""

import asyncio
import json
import unittest

import requests
from openenv.cli._validation import validate_running_environment
from openenv.core.generic_client import GenericEnvClient
from openenv.core.mcp_client import MCPToolClient
from websockets.asyncio.client import connect as ws_connect

from service import KERNEL, ServiceTest, TASK, WRONG_KERNEL, completion, serve

TOKEN = "a-token-of-some-length"
# What the client of OpenEnv's kernel environment (kernrl) reads of an observation.
KERNRL = {"problem_id", "problem_description", "reference_code", "gpu_info", "turn", "max_turns", "feedback",
          "compilation_success", "compilation_error", "correctness_pass", "max_diff", "speedup"}


class OpenEnv(ServiceTest):
    async def test_an_episode_ends_with_an_accepted_kernel(self):
        async with GenericEnvClient(base_url=self.url) as env:
            begun = await env.reset(problem_id="softmax", reward="kernrl")
            self.assertLessEqual(KERNRL, begun.observation.keys())
            self.assertEqual(begun.observation["reference_code"], TASK)
            wrong = await env.step({"code": WRONG_KERNEL})
            self.assertEqual((wrong.reward, wrong.done), (-0.25, False))
            self.assertFalse(wrong.observation["correctness_pass"])
            right = await env.step({"code": KERNEL})
            self.assertTrue(right.done)
            self.assertTrue(right.observation["accepted"])
            state = await env.state()
            self.assertEqual((state["turn"], state["solved"]), (2, True))

    async def test_many_environments_play_at_once(self):
        async def play(kernel):
            async with GenericEnvClient(base_url=self.url) as env:
                await env.reset(task=TASK)
                return (await env.step({"completion": completion(kernel)})).observation["accepted"]

        kernels = [KERNEL, WRONG_KERNEL] * 8
        self.assertEqual(await asyncio.gather(*map(play, kernels)), [True, False] * 8)

    async def test_the_token_is_the_password_of_the_url(self):
        url = serve(token=TOKEN)
        with self.assertRaises(ConnectionError):
            await GenericEnvClient(base_url=url).connect()
        async with GenericEnvClient(base_url=url.replace("//", f"//any:{TOKEN}@")) as env:
            self.assertEqual((await env.reset(problem_id="softmax")).observation["problem_id"], "softmax")

    async def test_a_fault_of_the_infrastructure_is_an_exception_and_no_reward(self):
        async with GenericEnvClient(base_url=self.broken_url) as env:
            await env.reset(problem_id="softmax", step_seconds=0.5)
            with self.assertRaisesRegex(RuntimeError, "EXECUTION_ERROR"):
                await env.step({"code": KERNEL})
            self.assertEqual((await env.state())["turn"], 0)

    async def test_openenvs_tool_client_judges_in_steps_and_in_sessions(self):
        for in_sessions in (False, True):
            async with MCPToolClient(base_url=self.url) as env:
                env.use_production_mode = in_sessions
                self.assertTrue(await env.has_tool("judge_kernel"))
                result = await env.call_tool("judge_kernel", kernel=KERNEL, task="softmax")
                verdict = result["structuredContent"] if in_sessions else result
                self.assertTrue(verdict["accepted"])
                with self.assertRaises(RuntimeError):
                    await env.call_tool("no_such_tool")

    async def test_mcp_over_the_websocket_of_an_environment(self):
        async with GenericEnvClient(base_url=self.url) as env:
            answer = await env._send_and_receive({"type": "mcp", "data": {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}})
            self.assertIn("judge_kernel", [tool["name"] for tool in answer["data"]["result"]["tools"]])

    async def test_mcp_over_a_websocket_of_its_own(self):
        async with ws_connect(self.url.replace("http", "ws", 1) + "/mcp") as socket:
            await socket.send(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}))
            self.assertEqual(len(json.loads(await socket.recv())["result"]["tools"]), 6)

    async def test_a_service_without_room_says_so_in_openenvs_words(self):
        url = serve(settings=("streams=1",))
        async with GenericEnvClient(base_url=url) as env:
            await env.reset(problem_id="softmax")
            async with GenericEnvClient(base_url=url) as another:
                with self.assertRaisesRegex(RuntimeError, "CAPACITY_REACHED"):
                    await another.reset(problem_id="softmax")

    def test_openenvs_validator_passes_the_service(self):
        report = validate_running_environment(self.url)
        self.assertEqual([each for each in report["criteria"] if not each["passed"]], [])
        self.assertTrue(report["passed"])
        self.assertEqual((report["mode"], report["summary"]["passed_count"]), ("simulation", 6))

    def test_the_same_without_a_connection(self):
        self.assertEqual(requests.get(self.url + "/health").json()["status"], "healthy")
        self.assertEqual(set(requests.get(self.url + "/schema").json()), {"action", "observation", "state"})
        self.assertIn("name", requests.get(self.url + "/metadata").json())
        begun = requests.post(self.url + "/reset", json={"episode_id": "e", "problem_id": "softmax"}).json()
        self.assertEqual(set(begun), {"observation", "reward", "done"})
        ended = requests.post(self.url + "/step", json={"episode_id": "e", "action": {"code": KERNEL}}).json()
        self.assertTrue(ended["done"])
        self.assertEqual(requests.get(self.url + "/state", params={"episode_id": "e"}).json()["turn"], 1)


if __name__ == "__main__":
    unittest.main()
