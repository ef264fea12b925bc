"""Drives `POST /mcp` and `tritonsmith mcp` by the official MCP SDK, in both eras of the protocol."""

import asyncio
import os
import unittest

import httpx2
import jsonschema
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from service import BINARY, KERNEL, ServiceTest, TASK, WRONG_KERNEL, serve, suite

TOKEN = "a-token-of-some-length"
TOOLS = ["judge_kernel", "get_task", "list_tasks", "explain_finding", "device_facts", "reference_time"]


def stdio(*arguments, **environment):
    return StdioServerParameters(command=BINARY, args=["mcp", "--suite", suite(), *arguments], env={**os.environ, **environment})


class Mcp(ServiceTest):
    async def check_every_tool(self, client):
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        self.assertEqual(list(tools), TOOLS)
        for tool in tools.values():
            for schema in (tool.input_schema, tool.output_schema):
                jsonschema.Draft202012Validator.check_schema(schema)
        listed = await client.call_tool("list_tasks", {})
        self.assertEqual([task["id"] for task in listed.structured_content["tasks"]], ["softmax"])
        task = await client.call_tool("get_task", {"id": "softmax"})
        self.assertEqual(task.structured_content["source"], TASK)
        told = []

        async def progress(done, total, message):
            told.append((done, message))

        judged = await client.call_tool("judge_kernel", {"task": "softmax", "kernel": KERNEL}, progress_callback=progress)
        self.assertFalse(judged.is_error, judged.content)
        self.assertTrue(judged.structured_content["accepted"])
        self.assertEqual(told, sorted(told))
        wrong = await client.call_tool("judge_kernel", {"task": TASK, "kernel": WRONG_KERNEL})
        self.assertFalse(wrong.is_error)
        name = wrong.structured_content["error"]["class"]
        self.assertIn(name, wrong.content[0].text)
        explained = await client.call_tool("explain_finding", {"name": name})
        self.assertTrue(explained.structured_content["meanings"])
        facts = await client.call_tool("device_facts", {})
        self.assertIn(facts.structured_content["backend"], ("evaluate", "replay"))
        time = await client.call_tool("reference_time", {"task": "softmax"})
        self.assertEqual(time.structured_content["measured"], facts.structured_content["backend"] == "replay")
        refused = await client.call_tool("judge_kernel", {"task": "softmax", "kernel": KERNEL, "policy": "lax"})
        self.assertTrue(refused.is_error)

    async def test_over_http_in_both_eras(self):
        for mode in ("auto", "legacy"):
            with self.subTest(mode):
                async with Client(self.url + "/mcp", mode=mode) as client:
                    await self.check_every_tool(client)

    async def test_over_stdio_in_both_eras(self):
        for mode in ("auto", "legacy"):
            with self.subTest(mode):
                async with Client(stdio(), mode=mode) as client:
                    await self.check_every_tool(client)

    async def test_over_stdio_with_a_service(self):
        async with Client(stdio("--gym", self.url)) as client:
            await self.check_every_tool(client)

    async def test_a_token_is_asked_for(self):
        url = serve(token=TOKEN) + "/mcp"
        with self.assertRaises(Exception):
            async with Client(url, mode="legacy"):
                pass
        async with httpx2.AsyncClient(headers={"Authorization": f"Bearer {TOKEN}"}) as http:
            async with Client(streamable_http_client(url, http_client=http)) as client:
                self.assertEqual(len((await client.list_tools()).tools), len(TOOLS))

    async def test_progress_is_told_while_the_judge_starts_and_a_call_is_cancelled(self):
        told = asyncio.Event()

        async def progress(done, total, message):
            told.set()

        async with Client(stdio()) as client:
            call = asyncio.create_task(
                client.call_tool("judge_kernel", {"task": "softmax", "kernel": KERNEL}, progress_callback=progress))
            await asyncio.wait_for(told.wait(), 100)
            call.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await call
            self.assertEqual(len((await client.list_tools()).tools), len(TOOLS), "the connection lives on")

    async def test_a_call_ends_without_a_result_where_no_judge_starts(self):
        for server in (self.broken_url + "/mcp", stdio(TRITONSMITH_PYTHON="/bin/false")):
            async with Client(server) as client:
                ended = await asyncio.wait_for(client.call_tool("judge_kernel", {"task": "softmax", "kernel": KERNEL}), 150)
                self.assertTrue(ended.is_error)
                self.assertIn("judge", ended.content[0].text)
                self.assertEqual(len((await client.list_tools()).tools), len(TOOLS), "the connection lives on")


if __name__ == "__main__":
    unittest.main()
