"""TimedGym stands before a `gym serve` of this machine and adds the figures of a GPU to its verdicts.

So tests see what a user of a GPU sees. Each accepted kernel is faster than the ones before it, and a baseline is timed if a job
asks for it.
"""
import http.client
import http.server
import json
import os
import re
import signal
import subprocess
import threading

BASELINES = {"eager": 0.1085, "torch_compile": 0.0712}  # milliseconds


def timing(median):
    return {"median": median, "mean": 1.01 * median, "p10": 0.98 * median, "p90": 1.04 * median, "n": 40,
            "median_low": 0.995 * median, "median_high": 1.005 * median}


class TimedGym:
    def __init__(self, binary, folder):
        self.timed, self.baselines = 0, set()
        self.process = subprocess.Popen([binary, "gym", "serve", "--listen", "127.0.0.1:0", "--dir", folder], stderr=subprocess.PIPE,
                                        text=True)
        for line in self.process.stderr:
            if found := re.search(r"serving on [^ ]*:(\d+)", line):
                break
        port = int(found[1])
        threading.Thread(target=self.process.stderr.read, daemon=True).start()
        gym = self

        class Proxy(http.server.BaseHTTPRequestHandler):
            def log_message(self, *_):
                pass

            def pass_on(self):
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                if self.command == "POST" and self.path == "/v1/jobs":
                    for job in json.loads(body)["jobs"]:
                        gym.baselines |= set(job.get("baselines", []))
                real = http.client.HTTPConnection("127.0.0.1", port)
                real.request(self.command, self.path, body, {"Content-Type": "application/json"})
                reply = real.getresponse()
                self.send_response(reply.status)
                self.end_headers()
                try:
                    for line in reply:
                        self.wfile.write(gym.with_times(line))
                        self.wfile.flush()
                except OSError:  # the client has left
                    pass

            do_GET = do_POST = do_DELETE = pass_on

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Proxy)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def with_times(self, line):
        """An event's line; a verdict that is correct gets times."""
        if not line.startswith(b"data: "):
            return line
        event = json.loads(line[6:])
        verdict = event["verdict"]
        if not verdict["correct"]:
            return line
        milliseconds = 0.02 + 0.09 * 0.8 ** self.timed
        self.timed += 1
        verdict["environment"]["gpu"] = "NVIDIA H100 80GB HBM3"
        for kernel in verdict["kernels"]:
            kernel["device_us"] = 1e3 * milliseconds / len(verdict["kernels"])
        light = 0.0161
        verdict |= {
            "stage": "timed", "backend": "replay", "time_ms": timing(milliseconds), "reference_ms": timing(0.0944),
            "speedup": 0.0944 / milliseconds, "coverage": 1.0, "peak_bytes": 402e6, "reference_peak_bytes": 268e6,
            "baselines": {name: timing(BASELINES[name]) for name in sorted(self.baselines)},
            "speed_of_light": {"ms": light, "bound": "memory", "share": light / milliseconds, "bytes": 53e6, "flops": 0.0}}
        return b"data: " + json.dumps(event).encode() + b"\n"

    def stop(self):
        self.server.shutdown()
        self.server.server_close()
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(60)
        self.process.stderr.close()
