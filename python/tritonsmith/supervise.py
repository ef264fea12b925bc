"""supervise.py FOLDER COMMAND...: runs a command until standard input ends, and then removes FOLDER, unless it is "-".

A notebook's process may be killed at any moment, and a judge that it has started must not outlive it. This process holds
the reading end of a pipe whose writing end only the notebook has; when the pipe ends, the command is asked to stop. It is
run as a plain file, without this package, so that it starts quickly.
"""

from __future__ import annotations

import ctypes
import os
import select
import shutil
import signal
import subprocess
import sys

_PR_SET_PDEATHSIG = 1
_SECONDS_TO_STOP = 10.0


def _die_with_parent() -> None:
    """The command also ends when this process is killed."""
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)


def _run(command: list[str]) -> int:
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True, preexec_fn=_die_with_parent)
    signal.signal(signal.SIGTERM, lambda *_: child.terminate())
    process = os.pidfd_open(child.pid)
    while True:
        ready, _, _ = select.select([sys.stdin.fileno(), process], [], [])
        if process in ready:
            return child.wait()
        if not os.read(sys.stdin.fileno(), 4096):
            break
    child.terminate()
    try:
        return child.wait(_SECONDS_TO_STOP)
    except subprocess.TimeoutExpired:
        child.kill()
        return child.wait()


def main(folder: str, command: list[str]) -> int:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C in a terminal is the caller's to handle.
    try:
        return _run(command)
    finally:
        if folder != "-":
            shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
