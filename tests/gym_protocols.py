"""The protocols of a gym, as clients see them: each class holds one conversation about one kernel, by one protocol.

`turn()` makes the next call and returns the HTTP status, and the answer about the kernel or None. None says that there is no
result yet, or that the infrastructure failed: then the client calls `turn()` again. An answer is a text that names the outcome.
"""

import http.client
import json
import socket
import urllib.error
import urllib.request

SECONDS = 15  # the service may answer so late. It says by then that there is no result yet


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def request(url, token, method, path, body=None, headers=None):
    data = None if body is None else json.dumps(body).encode()
    return urllib.request.Request(url + path, data, {"Authorization": f"Bearer {token}", **(headers or {})}, method=method)


def ask(url, token, method, path, body=None, headers=None):
    """(status, JSON); status 0 if there is no whole answer."""
    try:
        with urllib.request.urlopen(request(url, token, method, path, body, headers), timeout=2 * SECONDS) as reply:
            return reply.status, json.load(reply)
    except urllib.error.HTTPError as error:
        try:
            return error.code, json.load(error)
        except (OSError, ValueError, http.client.HTTPException):
            return 0, {}
    except (OSError, ValueError, http.client.HTTPException):
        return 0, {}


def read_stream(url, token, path):
    with urllib.request.urlopen(request(url, token, "GET", path), timeout=120) as stream:
        return stream.read().decode()


def outcome_of_verdict(verdict):
    if verdict["fault"] == "infrastructure":
        return None
    return "accepted" if verdict["accepted"] else verdict["error"]["class"]


def outcome(job):
    """Of a reply of /v1/jobs/ID."""
    return outcome_of_verdict(job["verdict"]) if job.get("state") == "done" else None


def is_success(answer):
    return answer == "accepted" or answer.startswith("reward ") and float(answer.split()[1]) > 0


class Conversation:
    name = ""  # the job's name, where the protocol tells it

    def __init__(self, ask, task, kernel, client):
        self.ask, self.task, self.kernel, self.client = ask, task, kernel, client
        self.completion = f"<thinking>A plan.</thinking><answer>\n```python\n{kernel}```\n</answer>"


class Jobs(Conversation):
    submitted = ""

    def turn(self):
        if not self.submitted:
            status, reply = self.ask("POST", "/v1/jobs", {"task": {"source": self.task}, "kernel": self.kernel, "client": self.client})
            self.submitted = reply.get("id", "") if status == 202 else ""
            return status, None
        status, reply = self.ask("GET", f"/v1/jobs/{self.submitted}?wait={SECONDS}")
        if status != 200 or reply["state"] != "done":
            return status, None
        answer = outcome(reply)
        if answer:
            self.name = self.submitted
        else:
            self.submitted = ""  # no verdict: the job is submitted again
        return status, answer


class Slime(Conversation):
    def turn(self):
        status, reply = self.ask("POST", f"/v1/reward/slime?wait={SECONDS}",
                                 {"prompt": "p", "response": self.completion, "label": self.task})
        return status, f"reward {reply}" if status == 200 else None


class OpenRlhf(Conversation):
    def turn(self):
        status, reply = self.ask("POST", f"/v1/reward/openrlhf?wait={SECONDS}",
                                 {"query": ["p" + self.completion], "prompts": ["p"], "labels": [self.task]})
        return status, f"reward {reply['rewards'][0]} score {reply['scores'][0]}" if status == 200 else None


class NemoGym(Conversation):
    def turn(self):
        message = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": self.completion}]}
        status, reply = self.ask("POST", f"/verify?wait={SECONDS}", {"responses_create_params": {"input": "p"}, "label": self.task,
                                                                      "response": {"output": [message]}})
        return status, f"reward {reply['reward']}" if status == 200 else None


class OpenEnv(Conversation):
    """Over plain HTTP. An API server keeps its environments in memory. After its end the client begins anew, at any API server."""

    def turn(self):
        episode = f"{self.client}-{hash(self.kernel)}"
        status, reply = self.ask("POST", "/step", {"episode_id": episode, "action": {"code": self.kernel}})
        if status == 404:
            status, reply = self.ask("POST", "/reset", {"episode_id": episode, "task": self.task, "step_seconds": SECONDS})
            return status, None
        return status, f"reward {reply['reward']}" if status == 200 else None


class KernelGym(Conversation):
    def turn(self):
        status, reply = self.ask("POST", "/evaluate", {"task_id": f"{self.client}-{hash(self.kernel)}", "reference_code": self.task,
                                                       "kernel_code": self.kernel, "policy": "strict", "timeout": SECONDS})
        if status != 200 or reply["status"] != "completed":
            return status, None
        return status, "accepted" if reply["correctness"] else reply["error_code"]


class Mcp(Conversation):
    def turn(self):
        status, reply = self.ask("POST", "/mcp", {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
            "name": "judge_kernel", "arguments": {"kernel": self.kernel, "task": self.task}}})
        if status != 200 or "result" not in reply or reply["result"]["isError"]:
            return status, None
        return status, outcome_of_verdict(reply["result"]["structuredContent"])


PROTOCOLS = {"jobs": Jobs, "slime": Slime, "OpenRLHF": OpenRlhf, "NeMo Gym": NemoGym, "OpenEnv": OpenEnv, "KernelGYM": KernelGym,
             "MCP": Mcp}
