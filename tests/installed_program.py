"""Proves that an installed program speaks MCP and writes kernels, with a model that answers the given kernel.

usage: installed_program.py PROGRAM TASK KERNEL

It needs the standard library only, since tools/prove_wheel runs it in a bare Debian. tests/wheel_test.py runs it, too.
"""

import http.server
import json
import os
import pathlib
import subprocess
import sys
import threading


class Model(http.server.BaseHTTPRequestHandler):
    """A model behind OpenAI's protocol that answers each prompt with the server's kernel."""

    def log_message(self, *_):
        pass

    def send(self, body):
        data = json.dumps(body).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self):
        self.send({"data": [{"id": "scripted", "max_model_len": 8192}]})

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send({"choices": [{"message": {"content": f"```python\n{self.server.kernel}\n```"}, "finish_reason": "stop"}],
                   "usage": {"prompt_tokens": 9, "completion_tokens": 7}})


def check_mcp(program):
    """Shakes hands with `tritonsmith mcp` over its standard input and output, and asks for its tools."""
    with subprocess.Popen([program, "mcp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        def send(**message):
            print(json.dumps({"jsonrpc": "2.0", **message}), file=server.stdin, flush=True)

        def result(number):
            for line in server.stdout:
                message = json.loads(line)
                if message.get("id") == number:
                    return message["result"]
            raise AssertionError("mcp ended without an answer")

        send(id=1, method="initialize", params={"protocolVersion": "2025-06-18", "capabilities": {},
                                                "clientInfo": {"name": "installed_program", "version": "1"}})
        assert result(1)["serverInfo"]["name"] == "tritonsmith"
        send(method="notifications/initialized")
        send(id=2, method="tools/list")
        tools = {tool["name"] for tool in result(2)["tools"]}
        assert {"judge_kernel", "device_facts", "reference_time"} <= tools, tools
        server.stdin.close()
        assert server.wait(120) == 0, server.returncode


def check_write(program, task, kernel):
    """Has `tritonsmith write` ask the model, and judge what it answers."""
    shown = subprocess.run([program, "write", "--help"], capture_output=True, text=True, check=True).stdout
    assert "--model" in shown, shown
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Model) as model:
        model.kernel = pathlib.Path(kernel).read_text()
        threading.Thread(target=model.serve_forever, daemon=True).start()
        done = subprocess.run([program, "write", task, "--model", "openai:scripted", "--base-url", f"http://127.0.0.1:{model.server_port}/v1",
                               "--samples", "1", "--backend", "evaluate", "--api", "stream=false"],
                              capture_output=True, text=True, env={**os.environ, "OPENAI_API_KEY": "none", "NO_PROXY": "127.0.0.1"})
        model.shutdown()
    assert done.returncode == 0, done.stderr
    assert "class ModelNew" in done.stdout, done.stdout


program, task, kernel = sys.argv[1:]
check_mcp(program)
check_write(program, task, kernel)
print("mcp shakes hands, and write gives a verified kernel")
