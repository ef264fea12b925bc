"""LocalService: a judge of this machine, as a process that ends with us."""

from __future__ import annotations

import collections
import re
import secrets
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any, Mapping, Optional

from tritonsmith.errors import GymUnavailable
from tritonsmith.program import environment_for, find_program

__all__ = ["LocalService"]

_SERVING = re.compile(r"serving on (\S+):(\d+),")
_SECONDS_TO_START = 60.0
_SECONDS_TO_STOP = 15.0


class LocalService:
    """Starts `tritonsmith gym serve` on a free port of this machine, and returns when the port is open.

    Jobs are taken from then on; the first verdict comes some seconds later, when PyTorch is imported and the judge has
    judged the kernels that it tests itself with. `directory` keeps verdicts for the next time; without it they are
    forgotten. Only those who know `token` are served, since other users of this machine reach the port, too.
    """

    def __init__(
        self, *, program: Optional[str] = None, directory: Optional[str] = None, settings: Optional[Mapping[str, Any]] = None
    ) -> None:
        self.token = secrets.token_hex(16)
        self.url = ""
        found = find_program(program)
        self.folder = folder = directory or tempfile.mkdtemp(prefix="tritonsmith-judge-")
        command = [found, "gym", "serve", "--listen", "127.0.0.1:0", "--dir", folder]
        for name, value in (settings or {}).items():
            command += ["--set", f"{name}={str(value).lower() if isinstance(value, bool) else value}"]
        environment = {**environment_for(found), "TRITONSMITH_GYM_TOKEN": self.token}
        supervise = str(Path(__file__).with_name("supervise.py"))
        supervisor = [sys.executable, "-I", supervise, "-" if directory else folder, *command]
        self._process = subprocess.Popen(supervisor, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
        self._last_lines: "collections.deque[str]" = collections.deque(maxlen=20)
        self._changed = threading.Condition()
        self._ended = False
        threading.Thread(target=self._read_log, name="tritonsmith-log", daemon=True).start()
        self._wait_until_it_serves()

    def close(self) -> None:
        """Ends the service. Its unfinished jobs are lost, unless `directory` keeps them."""
        if self._process.stdin is not None:
            self._process.stdin.close()
        try:
            self._process.wait(_SECONDS_TO_STOP)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _wait_until_it_serves(self) -> None:
        deadline = time.monotonic() + _SECONDS_TO_START
        with self._changed:
            while not self.url and not self._ended and time.monotonic() < deadline:
                self._changed.wait(deadline - time.monotonic())
        if not self.url:
            said = " / ".join(self._last_lines) or "it said nothing"
            self.close()
            raise GymUnavailable(f"the judge of this machine does not start: {said}")

    def _read_log(self) -> None:
        assert self._process.stderr is not None
        with self._process.stderr as log:
            for line in log:
                serving = _SERVING.search(line)
                with self._changed:
                    self._last_lines.append(line.strip())
                    if serving:
                        self.url = f"http://{serving.group(1)}:{serving.group(2)}"
                    self._changed.notify_all()
        with self._changed:
            self._ended = True
            self._changed.notify_all()

