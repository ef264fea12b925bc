"""Fills the disk under `gym serve`. The gym must refuse jobs, lose none, and go on when there is space again.

usage: gym_full_disk.py PATH_OF_TRITONSMITH

The disk is a small tmpfs. Mounting it needs root or a user namespace. Without both, this test skips.
"""

import http.client
import json
import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import time

SKIP = 77
DEADLINE_S = 120

TASK = """
import torch
import torch.nn as nn

class Model(nn.Module):
    def forward(self, x):
        return x + 1.0

def get_inputs():
    return [torch.randn(64)]

def get_init_inputs():
    return []
"""

KERNEL = """
import torch
import torch.nn as nn
import triton
import triton.language as tl

@triton.jit
def add_one(x_ptr, y_ptr, SALT: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(y_ptr + offsets, tl.load(x_ptr + offsets) + 1.0 + SALT - SALT)

class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        add_one[(1,)](x, y, SALT={salt}.0, BLOCK=64)
        return y
"""


def mount_small_disk(folder):
    """Mounts a tmpfs and returns whether that worked. Without root it tries again in a new user namespace."""
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m", "none", folder], capture_output=True).returncode == 0:
        return True
    if os.environ.get("TRITONSMITH_IN_NAMESPACE") is None:
        os.environ["TRITONSMITH_IN_NAMESPACE"] = "1"
        inside = ["unshare", "--user", "--map-root-user", "--mount"]
        if subprocess.run([*inside, "true"], capture_output=True).returncode == 0:
            os.execvp(inside[0], [*inside, sys.executable, *sys.argv])
    return False


def fill(disk):
    """Fills every free byte of the disk."""
    with open(disk / "filler", "wb", buffering=0) as filler:
        for size in (1 << 16, 1 << 10):
            try:
                while True:
                    filler.write(bytes(size))
            except OSError:
                pass


class Service:
    def __init__(self, binary, disk):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.process = subprocess.Popen([binary, "gym", "serve", "--listen", f"127.0.0.1:{self.port}", "--dir", str(disk)],
                                        stderr=subprocess.DEVNULL)
        until(lambda: self.ask("GET", "/healthz")[0] == 200, "the service does not answer")

    def ask(self, method, path, body=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            connection.request(method, path, body and json.dumps(body))
            reply = connection.getresponse()
            return reply.status, json.loads(reply.read() or b"null")
        except OSError:
            return 0, None
        finally:
            connection.close()

    def submit(self, number):
        return self.ask("POST", "/v1/jobs", {"task": {"id": "add", "source": TASK}, "kernel": KERNEL.format(salt=number)})

    def verdict(self, job):
        until(lambda: self.ask("GET", f"/v1/jobs/{job}?wait=10")[1].get("state") == "done", f"no verdict for {job}")
        return self.ask("GET", f"/v1/jobs/{job}")[1]["verdict"]


def until(happens, otherwise):
    deadline = time.monotonic() + DEADLINE_S
    while not happens():
        assert time.monotonic() < deadline, otherwise
        time.sleep(0.05)


def check(service, disk):
    status, first = service.submit(0)
    assert status == 202 and service.verdict(first["id"])["accepted"]
    jobs = [service.submit(number)[1]["id"] for number in range(1, 13)]
    fill(disk)
    refused = []
    until(lambda: refused.append(service.submit(1000 + len(refused))) or refused[-1][0] == 503, "a full disk takes jobs")
    assert refused[-1][1]["error"]["code"] == "store_failed", refused[-1]
    jobs += [reply["id"] for status, reply in refused if status == 202]
    time.sleep(2)  # meanwhile verdicts arrive that the gym cannot write to disk
    assert service.process.poll() is None, "the service ended"
    os.unlink(disk / "filler")
    status, last = service.submit(2000)
    assert status == 202, (status, last)
    for job in [*jobs, last["id"]]:
        verdict = service.verdict(job)
        assert verdict["accepted"], verdict


def main():
    with tempfile.TemporaryDirectory() as folder:
        disk = pathlib.Path(folder) / "disk"
        disk.mkdir()
        if not mount_small_disk(disk):
            print("no small disk can be mounted here")
            sys.exit(SKIP)
        service = None
        try:
            service = Service(sys.argv[1], disk)
            check(service, disk)
        finally:
            if service:
                service.process.terminate()
                service.process.wait(30)
            subprocess.run(["umount", "-l", disk], check=True)
    print("no job was lost")


main()
