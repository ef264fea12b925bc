#!/usr/bin/env python3
"""Records what the judge decides, so that two builds can be compared. No refactoring may change a decision.

usage: decisions.py record TRITONSMITH OUT.jsonl [--curriculum N] [--seed S]
       decisions.py compare BEFORE.jsonl AFTER.jsonl

`record` judges every file of tests/hostile and tests/honest, and their honest counterparts, under the policy of its table.
It also judges the teacher's right and wrong answers to N tasks of the curriculum, under each policy. A line of OUT holds
the decision: stage, error class, the rules of the findings, compiled, correct, accepted. Wording and times are left out.
`compare` prints each kernel whose decision changed, and exits with 1 if there is one. Trials draw from secrets, so the
decision can differ by chance if a kernel's flaw shows only on some draws. Record twice to find such kernels.
"""
import argparse
import csv
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request

TESTS = pathlib.Path(__file__).resolve().parent.parent


def table_rows(name):
    with open(TESTS / name / "table.tsv", newline="") as file:
        lines = [line for line in file if not line.startswith("#")]
    return list(csv.DictReader(lines, delimiter="\t"))


def corpus_jobs():
    seen = set()
    for folder in ("hostile", "honest"):
        for row in table_rows(folder):
            for kernel in (row["file"], row.get("twin", "-")):
                key = (kernel, row["task"], row["policy"])
                if kernel not in ("-", "", None) and key not in seen and (TESTS / kernel).read_text():
                    seen.add(key)
                    yield {"name": " ".join(key), "task": {"source": (TESTS / row["task"]).read_text()},
                           "kernel": (TESTS / kernel).read_text(), "policy": row["policy"]}


def code_of(text):
    blocks = re.findall(r"```(?:python)?\n(.*?)```", text, re.S)
    return blocks[-1] if blocks else text


def curriculum_jobs(program, count, seed, folder):
    subprocess.run([program, "tasks", "make", "--out", folder / "tasks.jsonl", "--train", str(count), "--heldout", "0",
                    "--seed", str(seed)], check=True, capture_output=True)
    subprocess.run([program, "tasks", "teach", "--out", folder / "answers.jsonl", "--set", f"curriculum.train={count}",
                    f"curriculum.seed={seed}", "curriculum.heldout=0", "teacher.per_task=3", "teacher.mistakes=0.3",
                    "teacher.lazy=0.15", "teacher.decoys=0.15"], check=True, capture_output=True)
    tasks = {}
    for line in (folder / "tasks.jsonl").read_text().splitlines():
        task = json.loads(line)
        tasks[task["id"]] = task
    for number, line in enumerate((folder / "answers.jsonl").read_text().splitlines()):
        answer = json.loads(line)
        task = tasks.get(answer["task"])
        if task is None:
            continue
        completion = answer["completion"]
        policy = ("strict", "fused", "open")[number % 3]
        yield {"name": f"curriculum {number} {task['id']} {policy}", "task": {"source": task["source"]},
               "kernel": code_of(completion), "policy": policy}


def decision(verdict):
    error = verdict.get("error") or {}
    return {"stage": verdict["stage"], "error": error.get("class"),
            "rules": sorted({f"{f['rule']}:{f['severity']}" for f in verdict.get("findings", [])}),
            "compiled": verdict["compiled"], "correct": verdict["correct"], "accepted": verdict["accepted"]}


def request(url, body=None):
    data = json.dumps(body).encode() if body is not None else None
    try:
        with urllib.request.urlopen(urllib.request.Request(url, data), timeout=900) as reply:
            return json.load(reply)
    except urllib.error.HTTPError as error:
        sys.exit(f"decisions.py: {url}: {error.code} {error.read().decode(errors='replace')}")


def record(options):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        jobs = list(corpus_jobs()) + list(curriculum_jobs(options.program, options.curriculum, options.seed, folder))
        service = subprocess.Popen([options.program, "gym", "serve", "--listen", "127.0.0.1:0", "--dir", folder / "gym",
                                    "--set", "judge.capture.capture_seconds=6", "judge.referee_seconds=12"],
                                   stderr=subprocess.PIPE, text=True, env={k: v for k, v in os.environ.items() if k != "TRITONSMITH_GYM_TOKEN"})
        try:
            url = None
            for line in service.stderr:
                found = re.search(r"(127\.0\.0\.1:\d+)", line)
                if found:
                    url = "http://" + found.group(1)
                    break
            if url is None:
                sys.exit("decisions.py: the service did not start")
            ids = []
            for start in range(0, len(jobs), 100):
                batch = [{key: job[key] for key in ("task", "kernel", "policy")} | {"backend": "evaluate"}
                         for job in jobs[start:start + 100]]
                ids += [each["id"] for each in request(url + "/v1/jobs", {"jobs": batch, "client": "decisions"})["jobs"]]
            with open(options.out, "w") as out:
                for job, number in zip(jobs, ids):
                    reply = request(f"{url}/v1/jobs/{number}")
                    while reply["state"] in ("queued", "running"):
                        reply = request(f"{url}/v1/jobs/{number}?wait=60")
                    out.write(json.dumps({"name": job["name"], **decision(reply["verdict"])}) + "\n")
        finally:
            service.terminate()
            service.wait()
    print(f"{len(jobs)} decisions: {options.out}")


def compare(options):
    sides = []
    for path in (options.before, options.after):
        rows = [json.loads(line) for line in open(path)]
        sides.append({row.pop("name"): row for row in rows})
    before, after = sides
    different = 0
    for name in sorted(before.keys() | after.keys()):
        if before.get(name) != after.get(name):
            different += 1
            print(f"{name}\n  before {json.dumps(before.get(name))}\n  after  {json.dumps(after.get(name))}")
    print(f"{len(before)} and {len(after)} decisions, {different} different")
    return 1 if different else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    one = commands.add_parser("record")
    one.add_argument("program")
    one.add_argument("out")
    one.add_argument("--curriculum", type=int, default=100)
    one.add_argument("--seed", type=int, default=77)
    one.set_defaults(run=record)
    two = commands.add_parser("compare")
    two.add_argument("before")
    two.add_argument("after")
    two.set_defaults(run=compare)
    options = parser.parse_args()
    sys.exit(options.run(options))


if __name__ == "__main__":
    main()
