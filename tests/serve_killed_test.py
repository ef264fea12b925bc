#!/usr/bin/env python3
"""Kills `tritonsmith serve` while it searches, and starts it again: no kernel and no search is lost, and the page goes on.

The model behind the server is that of served.py. The page's test skips where no Chromium is installed.

usage: serve_killed_test.py PATH_OF_TRITONSMITH
"""
import contextlib
import http.client
import json
import signal
import threading
import time
import unittest
import urllib.request

from served import MODULE, Served, ServeTest


class KilledServer(ServeTest):
    def test_a_server_killed_at_any_moment_loses_no_kernel_and_no_search(self):
        """Each kill comes at another moment: while the model writes, while the judge judges, and between."""
        def post(served, path, body):
            request = urllib.request.Request(served.url + path, json.dumps(body).encode(), {"Content-Type": "application/json"})
            with urllib.request.urlopen(request, timeout=60) as reply:
                return json.load(reply)

        def leave(served):
            with contextlib.suppress(OSError, ValueError, http.client.HTTPException):
                post(served, "/v1/chat/completions", {"model": "scripted-verified", "messages": [{"role": "user", "content": MODULE}],
                                                      "tritonsmith": {"enough": "all", "conversations": 100}})

        folder = self.folder / "killed-often"
        gate = self.let_the_model_answer(3)
        served = Served(self.model_url, folder)
        clients = [threading.Thread(target=leave, args=(served,), daemon=True)]
        clients[0].start()  # its search ends with it
        ids = [post(served, "/api/searches", {"source": MODULE.replace("1.5", factor), "conversations": 12, "turns": 1})["id"]
               for factor in ("1.5", "2.5", "3.5")]
        seen = {}  # (search, number of an attempt) -> the attempt
        for delay in (0.0, 0.3, 1.0):
            time.sleep(delay)
            for search in ids:
                for attempt in served.get(f"/api/searches/{search}")["attempts"]:
                    seen[search, attempt["number"]] = attempt
            served.stop(signal.SIGKILL)
            gate.release(4)
            served = Served(self.model_url, folder, port=served.port)
            for search in ids:
                kept = served.get(f"/api/searches/{search}")
                self.assertIn(kept["search"]["state"], ("queued", "running", "done"))
                attempts = {attempt["number"]: attempt for attempt in kept["attempts"]}
                for (of, number), attempt in seen.items():
                    if of == search:
                        self.assertEqual(attempts[number], attempt)
        gate.release(1000)
        end = time.monotonic() + 300
        while any(served.get(f"/api/searches/{search}")["search"]["state"] != "done" for search in ids):
            self.assertLess(time.monotonic(), end)
            time.sleep(0.1)
        done = [served.get(f"/api/searches/{search}") for search in ids]
        self.assertEqual([len(each["attempts"]) for each in done], [12, 12, 12])
        self.assertGreater(done[0]["search"]["accepted"], 0)
        states = [each["state"] for each in served.get("/api/searches")["searches"] if each["id"] not in ids]
        self.assertTrue(all(state == "stopped" for state in states), states)
        served.stop()
        clients[0].join(60)

    def test_a_killed_server_keeps_its_searches_and_the_page_finds_it_again(self):
        page = self.page()
        key = self.folder / "key"
        key.write_text("a-key-of-this-test\n")
        words = ("--serve-token-file", key)
        served = Served(self.model_url, self.folder / "killed", *words)
        page.open(served.url)
        page.wait("document.querySelector('#key-dialog').open")
        self.keep(page, "key")
        page.fill("#key", "a-wrong-key-of-mine")
        page.click("#key-form button")
        page.wait("document.querySelector('#key-dialog').open && "
                  "document.querySelector('#key-text').innerText.includes('does not know')")
        page.fill("#key", "a-key-of-this-test")
        page.click("#key-form button")
        page.wait("document.querySelector('#model').innerText === 'model scripted'")
        page.fill("#module", MODULE)
        page.fill("#attempts-most", "200")
        gate = self.let_the_model_answer(2)
        page.click("#write")
        page.wait("document.querySelectorAll('#attempts button').length >= 2", 300)
        served.stop(signal.SIGKILL)
        gate.release(1000)
        page.wait("document.querySelector('#notice').innerText.includes('does not answer')")
        self.keep(page, "gone")
        key.write_text("a-newer-key-of-this-test\n")  # the old one has expired
        served = Served(self.model_url, self.folder / "killed", *words, port=served.port)
        page.wait("document.querySelector('#key-dialog').open")
        self.assertIn("does not know this key", page.text("#key-text"))
        self.keep(page, "key-expired")
        page.fill("#key", "a-newer-key-of-this-test")
        page.click("#key-form button")
        page.wait("document.querySelector('#state').dataset.state === 'done'", 300)  # the search went on
        self.assertGreaterEqual(page.value("document.querySelectorAll('#attempts button').length"), 200)
        page.click("#tab-history")
        page.wait("document.querySelectorAll('#history tr').length === 1")
        self.keep(page, "history")
        served.stop()


if __name__ == "__main__":
    unittest.main()
