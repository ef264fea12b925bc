#!/usr/bin/env python3
"""Runs the quickstart in miniature: every command of the flow once, on a handful of tasks, in seconds.

The model learns nothing here. The test checks that each phase runs and records what it did, and that a second call goes on
instead of starting again (here it finds everything done).
"""
import json
import os
import pathlib
import re
import subprocess
import tempfile

BINARY = os.environ["TRITONSMITH_BINARY"]
TINY = ["heldout=3", "samples=2", "curriculum.train=40", "curriculum.heldout=6", "sft.run.steps=6",
        "sft.data.step_tokens=512", "rl.run.steps=2", "rl.rollout.prompts=2", "rl.rollout.samples=2",
        "rl.rollout.max_new_tokens=32", "model.hidden_size=32", "model.intermediate_size=64",
        "model.num_hidden_layers=1", "model.head_dim=8"]


def quickstart(out, *more):
    command = [BINARY, "quickstart", "--seed", "3", "--out", str(out)]
    for setting in [*TINY, *more]:
        command += ["--set", setting]
    return subprocess.run(command, capture_output=True, text=True, timeout=300)


def rates(summary):
    return [{key: phase[key] for key in phase if key != "seconds"} for phase in summary["phases"]]


def check_records(out):
    summary = json.loads((out / "summary.json").read_text())
    assert [phase["name"] for phase in summary["phases"]] == ["untrained", "sft", "rl"], summary
    for phase in summary["phases"]:
        assert phase["tasks"] == 3 and phase["samples"] == 2, phase
        for rate in ("compiled", "correct", "accepted", "greedy"):
            assert 0 <= phase[rate] <= 1, phase
        lines = (out / f"eval-{phase['name']}" / "samples.jsonl").read_text().splitlines()
        assert len(lines) == 3 * (2 + 1), (phase, len(lines))
    for run, steps in (("sft", 6), ("rl", 2)):
        assert len((out / run / "steps.jsonl").read_text().splitlines()) == steps
        assert (out / run / "config.toml").is_file()
    assert len((out / "rl" / "samples.jsonl").read_text().splitlines()) == 2 * 2 * 2
    report = (out / "report.html").read_text()
    assert "untrained" in report and "<svg" in report
    assert "http://" not in report and "https://" not in report, "the report must be self-contained"
    return summary


def main():
    with tempfile.TemporaryDirectory(prefix="tritonsmith-journey-") as folder:
        out = pathlib.Path(folder) / "run"
        first = quickstart(out)
        assert first.returncode == 0, first.stderr
        summary = check_records(out)

        # The quickstart suggests these files and commands. `write` must ask in the form that the model was trained on.
        checkpoint = out / "rl" / "checkpoints" / "step-2"
        asked = json.loads((checkpoint / "prompt.json").read_text())
        assert (asked["style"], asked["max_new_tokens"]) == ("compact", 32), asked
        task, *others = sorted((out / "heldout").glob("*.py"))
        assert len(others) == 2 and task.read_text().startswith("# instruction: For x ["), task.read_text()
        assert f"try it: tritonsmith write {out / 'heldout'}/" in first.stdout and str(checkpoint) in first.stdout
        write = subprocess.run([BINARY, "write", str(task), "--model", str(checkpoint), "--samples", "3", "--strategy", "sequential"],
                               capture_output=True, text=True, timeout=300)
        assert write.returncode == 1 and "no kernel: none of 3 answers holds code" in write.stderr, write.stderr
        told = re.search(r"3 completions, 0 verified, (\d+) tokens", write.stderr)
        assert told and 32 < int(told[1]) <= 96, write.stderr  # at most 32 tokens each, the model's limit
        assert "of 3 conversations 0 are verified at their last turn, 0 at their best" in write.stderr, write.stderr

        again = quickstart(out)
        assert again.returncode == 0, again.stderr
        assert rates(check_records(out)) == rates(summary)

        other = quickstart(out, "samples=3")
        assert other.returncode != 0 and "other settings" in other.stderr, other.stderr
    print("the quickstart's journey is complete")


main()
