#!/usr/bin/env python3
"""Runs the distillation study of bench/miniature in seconds: it is killed in the middle and goes on from its parcel.

The students learn nothing here. The test checks that each phase runs once, that only accepted answers of the teacher are
taught, that the parcel keeps no model that nobody reads any more, and that the summary has a row for each stage.
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

BINARY = pathlib.Path(os.environ["TRITONSMITH_BINARY"]).resolve()
SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "bench" / "miniature" / "larger_teacher.py"
sys.path.insert(0, str(SCRIPT.parent))
from pack import unpack  # noqa: E402

STAGES = ["warm-up", "answers", "answers-on-policy", "answers-on-policy-rl"]


def study(out, parcel):
    return subprocess.Popen([sys.executable, str(SCRIPT), str(BINARY.parent), "--out", str(out), "--tiny", "--device", "cpu",
                             "--arms", "both", "--seeds", "1", "--pack", str(parcel)],
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def stop_when(process, exists):
    give_up = time.monotonic() + 300
    while not exists.exists():
        assert process.poll() is None, process.communicate()[0]
        assert time.monotonic() < give_up, f"{exists} never comes"
        time.sleep(0.02)
    process.send_signal(signal.SIGTERM)
    said = process.communicate(timeout=120)[0]
    assert process.returncode == 75, said


def lines(file):
    return [json.loads(line) for line in file.read_text().splitlines()]


def main():
    with tempfile.TemporaryDirectory(prefix="tritonsmith-teacher-") as folder:
        out, parcel = pathlib.Path(folder) / "study", pathlib.Path(folder) / "parcel"
        stop_when(study(out, parcel), out / "done" / "curate")
        taught = lines(out / "answers.jsonl")
        accepted = [each for each in lines(out / "distil" / "samples.jsonl") if each["verdict"]["accepted"]]
        assert taught and {each["kernel"] for each in taught} <= {each["kernel"] for each in accepted}, taught
        shutil.rmtree(out)

        # As if `model make` had been stopped just before its end: the model is there, and the phase is not done.
        unpack(parcel, out)
        if not (out / "done" / "make-student-seed1").exists():
            model = out / "start" / "student-seed1"
            model.mkdir(parents=True, exist_ok=True)
            (model / "config.json").write_text("{}")

        process = study(out, parcel)
        said = process.communicate(timeout=550)[0]
        assert process.returncode == 0, said
        done = [each["phase"] for each in lines(out / "times.jsonl") if each["finished"]]
        assert len(done) == len(set(done)), f"a phase ran twice: {done}"
        assert {f"eval-{stage}-seed1" for stage in STAGES} <= set(done), done
        summary = (out / "summary.md").read_text()
        assert "| student: warm-up + answers + on-policy + rl | 1 |" in summary, summary
        metrics = [each["metrics"] if "metrics" in each else each
                   for each in lines(out / "runs" / "answers-on-policy-seed1" / "steps.jsonl")]
        assert all("teacher/kl" in each for each in metrics), metrics
        assert parcel.stat().st_size < 1 << 20, f"{parcel.stat().st_size} bytes: no model is needed any more"
    print("the journey of a larger teacher is complete")


main()
