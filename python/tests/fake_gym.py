"""FakeGym is a gym service without a judge. It can break in all the ways in which a real one may.

A kernel's text decides its verdict: "good" is accepted, "bad" is wrong, and "fault" ends in an infrastructure fault.
"fault N" ends in such a fault N times and is then accepted. "slow" has no verdict until `release()`.
"""

import functools
import hashlib
import json
import logging
import threading
import time
import unittest
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from unittest import mock
from urllib.parse import parse_qs, urlsplit

import tritonsmith.judge as judge_module

SPEEDUP = 2.0


def verdict_of(task, kernel, fault=None, policy="strict"):
    right = fault is None and kernel not in ("bad", "")
    verdict = {
        "schema": 1, "task": task.get("id", "task"), "policy": policy, "reference": "replay", "backend": "replay", "compiled": fault is None,
        "correct": right, "accepted": right, "stage": "timed" if right else "ran", "fault": "none" if right else "candidate", "findings": [],
    }
    if right:
        verdict |= {"speedup": SPEEDUP, "time_ms": {"median": 1.0}, "reference_ms": {"median": 2.0}, "coverage": 1.0}
    elif fault:
        verdict |= {"fault": "infrastructure", "stage": "none", "error": {"class": fault, "message": "the referee was killed", "line": 0}}
    else:
        verdict["error"] = {"class": "wrong_value", "message": "2 < 3 & more", "line": 7, "excerpt": "x = <b>"}
    return verdict


class FakeGym:
    """`with FakeGym() as gym:` serves on `gym.url`. `gym.break_next(path, how)` breaks the next requests of a path."""

    def __init__(self, token=""):
        self.token = token
        self.jobs, self.events, self.unfinished = {}, {}, {}
        self.judged, self.requests, self.submitted = [], [], []
        self.breakages = []
        self.lock, self.changed = threading.RLock(), threading.Condition()
        self.held = threading.Event()
        self.held.set()
        self.most_jobs = None
        self.away = False
        gym = self

        class Handler(_Handler):
            pass

        Handler.gym = gym
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()

    def break_next(self, path, how, times=1):
        """Breaks the next requests. `how` is an HTTP status, "reset", "cut" (half a reply), "garbage", or "cut stream" (an
        event breaks off)."""
        with self.lock:
            self.breakages += [(path, how)] * times

    def breakage_of(self, path):
        with self.lock:
            found = next((item for item in self.breakages if path.startswith(item[0])), None)
            if found is None:
                return None
            self.breakages.remove(found)
            return found[1]

    def hold(self):
        self.held.clear()

    def release(self):
        self.held.set()

    def forget(self):
        """Forgets all jobs, as a service does that starts again with an empty folder."""
        with self.lock:
            self.jobs.clear()
            self.events.clear()
            self.unfinished.clear()

    def submit(self, client, job):
        content = json.dumps([job["task"].get("source"), job["kernel"], job.get("policy"), job.get("fresh")])
        name = hashlib.sha256(content.encode()).hexdigest()[:40]
        with self.lock:
            known = self.jobs.get(name)
            if known and known["state"] == "done" and known["verdict"]["fault"] != "infrastructure":
                return known
            if not known or known["state"] != "queued":
                known = self.jobs[name] = {"id": name, "state": "queued", "submitted_ms": 1}
                threading.Thread(target=self.finish, args=(name, job), daemon=True).start()
            self.unfinished.setdefault(client, set()).add(name)
            return dict(known)

    def finish(self, name, job):
        if job["kernel"].startswith("slow"):
            self.held.wait(20)
        time.sleep(0.01)
        with self.lock:
            earlier = self.judged.count(job["kernel"])
            self.judged.append(job["kernel"])
            words = job["kernel"].split()
            faulty = words[0] == "fault" and (len(words) == 1 or earlier < int(words[1])) if words else False
            fault = "deadline" if words[:1] == ["deadline"] else "infrastructure" if faulty else None
            verdict = verdict_of(job["task"], job["kernel"], fault, job.get("policy", "strict"))
            if name not in self.jobs or self.jobs[name]["state"] == "cancelled":
                return
            self.jobs[name] |= {"state": "done", "verdict": verdict}
            for client, names in self.unfinished.items():
                if name in names:
                    names.discard(name)
                    self.events.setdefault(client, []).append({"id": name, "verdict": verdict})
        with self.changed:
            self.changed.notify_all()


class _Handler(BaseHTTPRequestHandler):
    gym = None
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_GET(self):
        self.answer("GET")

    def do_POST(self):
        self.answer("POST")

    def do_DELETE(self):
        self.answer("DELETE")

    def answer(self, method):
        gym, parts = self.gym, urlsplit(self.path)
        self.close_connection = True
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        gym.requests.append(f"{method} {parts.path}")
        how = "reset" if gym.away else gym.breakage_of(parts.path)
        if how == "reset":
            return
        if gym.token and self.headers.get("Authorization") != f"Bearer {gym.token}":
            return self.reply(401, {"error": {"code": "unauthorized", "message": "send a known token"}})
        if isinstance(how, int):
            return self.reply(how, {"error": {"code": "broken", "message": "broken by the test"}}, {"Retry-After": "0"})
        if how == "garbage":
            return self.wfile.write(b"what is HTTP?\r\n\r\n")
        query = {name: values[0] for name, values in parse_qs(parts.query).items()}
        if method == "GET" and parts.path == "/v1/verdicts":
            return self.stream(query["client"], query.get("until") == "idle", how == "cut stream")
        reply = self.route(method, parts.path, json.loads(body) if body else {}, query)
        if reply is None:
            return self.reply(404, {"error": {"code": "not_found", "message": "there is no such path"}})
        status, data = reply
        self.reply(status, data, cut=how == "cut")

    def reply(self, status, data, headers=None, cut=False):
        text = json.dumps(data).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(text)))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        try:
            self.end_headers()
            self.wfile.write(text[: len(text) // 2] if cut else text)
        except OSError:
            pass  # The client closed the connection.

    def stream(self, client, until_idle, cut):
        gym = self.gym
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        at = int(self.headers.get("Last-Event-ID") or 0)

        def chunk(text):
            # Two chunks make events arrive in pieces.
            data = text.encode()
            for piece in (data[: len(data) // 2], data[len(data) // 2 :]):
                if piece:
                    self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))

        try:
            while not gym.away:
                with gym.lock:
                    idle = not gym.unfinished.get(client)
                    events = gym.events.get(client, [])[at:]
                for event in events:
                    at += 1
                    text = f"id: {at}\nevent: verdict\ndata: {json.dumps(event)}\n\n"
                    if cut:
                        self.wfile.write(b"%x\r\n%s" % (len(text), text[:20].encode()))
                        return
                    chunk(text)
                if until_idle and idle and not events:
                    return self.wfile.write(b"0\r\n\r\n")
                chunk(": still here\n\n")
                with gym.changed:
                    gym.changed.wait(0.05)
        except OSError:
            pass

    def route(self, method, path, body, query):
        gym = self.gym
        if method == "POST" and path == "/v1/jobs":
            jobs = body["jobs"]
            gym.submitted += jobs
            if gym.most_jobs is not None and len(jobs) > gym.most_jobs:
                return 429, {"error": {"code": "queue_full", "message": "too many"}}
            if any(job["kernel"] == "refused" for job in jobs):
                return 400, {"error": {"code": "bad_request", "message": "kernel: refused"}}
            return 202, {"jobs": [gym.submit(body["client"], job) for job in jobs]}
        if method == "DELETE" and path.startswith("/v1/jobs/"):
            with gym.lock:
                name = path.rsplit("/", 1)[1]
                gym.unfinished.get(query["client"], set()).discard(name)
                if name in gym.jobs and gym.jobs[name]["state"] == "queued":
                    gym.jobs[name]["state"] = "cancelled"
            return 200, {}
        if method == "DELETE" and path.startswith("/v1/clients/"):
            return 200, {}
        if path == "/v1/status":
            return 200, {"works": True, "running": 0}
        if path == "/v1/prompts":
            return 200, {"prompts": [[{"role": "user", "content": "Turn this into Triton:\n" + task["source"]}] for task in body["tasks"]]}
        if path == "/v1/extract":
            return 200, {"kernels": [kernel_in(completion) for completion in body["completions"]]}
        if path == "/v1/feedback":
            return 200, {"feedback": ["right" if verdict["accepted"] else "wrong" for verdict in body["verdicts"]]}
        if path == "/v1/rewards":
            return 200, {"rewards": [reward_for(answer) for answer in body["answers"]]}
        return None


def kernel_in(completion):
    _, fence, rest = completion.partition("```")
    source = rest.partition("```")[0].strip()
    if fence and source:
        return {"source": source, "findings": []}
    verdict = verdict_of({"id": "task"}, "") | {"stage": "none", "error": {"class": "no_kernel", "message": "there is no code block"}}
    return {"source": "", "findings": [{"rule": "no_code", "severity": "reject", "line": 0, "message": "there is no code block"}], "verdict": verdict}


def reward_for(answer):
    if answer["verdict"]["fault"] == "infrastructure":
        return None
    weight = answer.get("weights", {}).get("correct", 1.0)
    form = 0.1 if answer.get("completion", "").startswith("<thinking>") else 0.0
    accepted = float(answer["verdict"]["accepted"])
    terms = [{"name": "format", "value": form * 10, "weight": 0.1}, {"name": "correct", "value": accepted, "weight": weight}]
    return {"total": form + accepted * weight, "terms": terms}


class FakeGymTest(unittest.TestCase):
    """A test with a fresh `self.gym`. Clients wait only briefly before they try again."""

    def setUp(self):
        quick = mock.patch.object(judge_module, "SessionOptions", functools.partial(judge_module.SessionOptions, first_rest=0.01))
        quick.start()
        logging.disable(logging.WARNING)
        self.addCleanup(logging.disable, logging.NOTSET)
        self.addCleanup(quick.stop)
        self.gym = FakeGym()
        self.gym.__enter__()
        self.addCleanup(self.gym.__exit__)

    def until(self, holds):
        deadline = time.monotonic() + 20
        while not holds():
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.01)
