#!/usr/bin/env python3
"""Runs the study of bench/miniature in seconds: it is killed in the middle and called again until it is done.

The model learns nothing here. The test checks that each phase runs once, that a killed study goes on (also from its parcel
alone), that the summary claims no cell that was not measured, and that summary and report exist.
"""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

BINARY = os.environ["TRITONSMITH_BINARY"]
SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "bench" / "miniature" / "miniature.py"
CELLS = ["checks-off", "grpo-turns", "profiling"]
NOT_DONE = 75


def study(out, *more, seconds=500):
    return subprocess.Popen([sys.executable, str(SCRIPT), "--tiny", "--out", str(out), "--binary", BINARY, "--device",
                             "cpu", "--seconds", str(seconds), "--cells", *CELLS, *map(str, more)],
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def finish(process):
    said = process.communicate(timeout=550)[0]
    return process.returncode, said


def kill_when(process, exists):
    give_up = time.monotonic() + 300
    while not exists.exists():
        assert process.poll() is None, process.communicate()[0]
        assert time.monotonic() < give_up, f"{exists} never comes"
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.communicate()


def phases(out):
    lines = (out / "times.jsonl").read_text().splitlines()
    return [json.loads(line)["phase"] for line in lines if json.loads(line)["finished"]]


def main():
    with tempfile.TemporaryDirectory(prefix="tritonsmith-miniature-") as folder:
        out = pathlib.Path(folder) / "study"
        kill_when(study(out), out / "done" / "model")
        parcel = pathlib.Path(folder) / "carried" / "study.tar.gz"
        # The study keeps forty of these seconds for an orderly end.
        code, said = finish(study(out, "--pack", parcel, seconds=48))
        assert code in (0, NOT_DONE), said
        before = phases(out)
        assert parcel.stat().st_size < 1 << 20, parcel.stat().st_size
        shutil.rmtree(out)
        code, said = finish(study(out, "--pack", parcel))
        assert code == 0, said
        assert phases(out)[:len(before)] == before, "something was done again"

        done = phases(out)
        assert len(done) == len(set(done)), f"a phase ran twice: {done}"
        cells = [cell for cell in CELLS if f"rl-{cell}-seed1" in done]
        has_gpu = "no GPU" not in said
        assert cells == (CELLS if has_gpu else CELLS[:2]), done
        for cell in cells:
            assert {f"eval-{cell}-seed1", f"rejudge-{cell}-seed1"} <= set(done), done
            run = out / "cells" / f"{cell}-seed1"
            assert len((run / "steps.jsonl").read_text().splitlines()) == 2
            assert "kernels" in json.loads((run / "rejudge.json").read_text())
        assert 'earning = "correct"' in (out / "cells" / "checks-off-seed1" / "config.toml").read_text()

        summary = (out / "summary.md").read_text()
        assert "| SFT, 1 turn, policy open |" in summary and "| SFT, 3 turns, policy open |" in summary, summary
        assert has_gpu or "left out, because only a GPU measures speed and coverage: profiling" in summary, summary
        for kind in ("honest", "lazy", "decoy", "mistake", "repair"):
            assert kind in summary, f"{kind}: {summary}"
        examples = [json.loads(line) for line in (out / "examples.jsonl").read_text().splitlines()]
        roles = {tuple(message["role"] for message in example["prompt"]) for example in examples}
        assert roles == {("user",), ("user", "assistant", "user")}, roles
        assert "<svg" in (out / "report.html").read_text() and (out / "report.md").is_file()

        shutil.rmtree(out)
        for more in ([], ["--rejudge-only"]):
            code, said = finish(study(out, "--pack", parcel, *more))
            assert code == 0 and phases(out) == done, f"a finished study did something again: {said}"
        assert (out / "summary.md").read_text().startswith("# The papers in miniature"), said
    print("the miniature's journey is complete")


main()
