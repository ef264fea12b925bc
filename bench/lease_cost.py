#!/usr/bin/env python3
"""Measures the value and the cost of the lease on a shared GPU: it times kernels while the same GPU decodes and trains.

    bench/lease_cost.py --model runs/miniature/sft/checkpoints/step-1500 --out runs/lease-cost

It runs a few steps of two-turn reinforcement learning, with the next rollout beside the update, once with judge.lease on
and once off. Then it times the same accepted kernels again on the idle GPU. It prints the seconds of a step, and how far
the times measured beside training are from those of the idle GPU.

To explain a difference, it records the GPU's clocks and power (clocks-*.csv). It also shows whether short and long kernels
differ by the same share, as with a slower clock, or by the same time, as with a cost of each launch. It needs one GPU.
"""
import argparse
import contextlib
import json
import pathlib
import re
import statistics
import subprocess
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", required=True, help="one that writes kernels: else there is nothing to time")
    parser.add_argument("--out", required=True, type=pathlib.Path)
    parser.add_argument("--binary", default=ROOT / "build" / "tritonsmith")
    parser.add_argument("--tasks", default="quickstart:seed=1,train=2000,heldout=0")
    parser.add_argument("--steps", type=int, default=6)
    parser.add_argument("--prompts", type=int, default=32)
    parser.add_argument("--samples", type=int, default=8)
    parser.add_argument("--set", action="append", default=[], help="further settings of rl")
    return parser.parse_args()


def read(file):
    return [json.loads(line) for line in file.read_text().splitlines()]


WATCHED = ["clocks.sm", "clocks.mem", "power.draw", "temperature.gpu"]


@contextlib.contextmanager
def clocks_watched(file):
    """Records clocks and power as nvidia-smi reports them, several times a second."""
    with file.open("w") as lines:
        watch = subprocess.Popen(["nvidia-smi", "--id=0", f"--query-gpu={','.join(WATCHED)}",
                                  "--format=csv,noheader,nounits", "-lms", "50"], stdout=lines)
        try:
            yield
        finally:
            watch.terminate()
            watch.wait()


def clock_row(name, file):
    rows = [line.split(",") for line in file.read_text().splitlines()]
    rows = [[float(cell) for cell in row] for row in rows if len(row) == len(WATCHED)]
    medians = [f"{statistics.median(row[i] for row in rows):.0f}" for i in range(len(WATCHED))]
    return [name, *medians, f"{min(row[0] for row in rows):.0f}", str(len(rows))]


def by_length(name, run, idle):
    """Returns rows with the differences for three groups of kernels, by their time on the idle GPU."""
    beside = timed(run)
    pairs = sorted((pair for pair in beside if pair in idle), key=lambda pair: idle[pair][0])
    rows = []
    for part in range(3):
        third = pairs[part * len(pairs) // 3:(part + 1) * len(pairs) // 3]
        if third:
            off = [beside[pair][0] - idle[pair][0] for pair in third]
            share = [beside[pair][0] / idle[pair][0] - 1 for pair in third]
            rows.append([name, f"{1e3 * statistics.median(idle[pair][0] for pair in third):.2f}",
                         f"{1e3 * statistics.median(off):+.3f}", f"{100 * statistics.median(share):+.1f} %"])
    return rows


def print_table(head, rows):
    print("| " + " | ".join(head) + " |\n" + "|---" * len(head) + "|")
    for row in rows:
        print("| " + " | ".join(row) + " |")


def train(options, lease):
    run = options.out / ("lease" if lease else "no-lease")
    config = options.out / f"{run.name}.toml"
    settings = {
        "run.dir": str(run), "run.steps": options.steps, "model.path": options.model, "tasks.path": options.tasks,
        "prompt.style": "compact", "rollout.prompts": options.prompts, "rollout.samples": options.samples,
        "rollout.max_new_tokens": 256, "rollout.staleness": 1, "engine.slots": 256, "turns.limit": 2,
        "optimizer.learning_rate": 1e-5, "judge.policy": "open", "judge.backend": "replay", "judge.lease": lease,
        "judge.gpus": [0], "checkpoint.every": 1000,
    }
    config.write_text("".join(f"{key} = {json.dumps(value)}\n" for key, value in settings.items()))
    more = [part for each in options.set for part in ("--set", each)]
    subprocess.run([str(options.binary), "rl", str(config), *more], check=True, stdout=subprocess.DEVNULL)
    return run


def timed(run):
    """Returns for each (task, kernel) the milliseconds measured beside training, and the reference's."""
    return {(sample["task"], sample["kernel"]): (sample["verdict"]["time_ms"]["median"],
                                                 sample["verdict"]["reference_ms"]["median"])
            for sample in read(run / "samples.jsonl") if sample["verdict"].get("time_ms")}


def time_idle(options, pairs, sources):
    """Times the same kernels with nothing else on the GPU."""
    log = options.out / "gym.log"
    with log.open("w") as stderr:
        service = subprocess.Popen([str(options.binary), "gym", "serve", "--listen", "127.0.0.1:0", "--dir",
                                    str(options.out / "gym")], stderr=stderr, stdout=subprocess.DEVNULL)
    try:
        while not (found := re.search(r"serving on (\S+:\d+)", log.read_text())):
            assert service.poll() is None, log.read_text()
            time.sleep(0.1)
        jobs = options.out / "jobs.jsonl"
        jobs.write_text("".join(json.dumps({"task": {"id": task, "source": sources[task]}, "kernel": kernel,
                                            "policy": "open", "backend": "replay"}) + "\n" for task, kernel in pairs))
        said = subprocess.run([str(options.binary), "gym", "submit", "--url", f"http://{found.group(1)}", "--jobs",
                               str(jobs), "--json", "--fresh"], check=True, capture_output=True, text=True).stdout
    finally:
        service.terminate()
        service.wait()
    verdicts = {each["line"]: each["verdict"] for each in map(json.loads, said.splitlines())}
    return {pair: (verdicts[line]["time_ms"]["median"], verdicts[line]["reference_ms"]["median"])
            for line, pair in enumerate(pairs, 1) if verdicts[line].get("time_ms")}


def row(name, run, idle):
    steps = read(run / "steps.jsonl")[1:-1]
    median = lambda key: statistics.median(step[f"seconds/{key}"] for step in steps)
    beside = timed(run)
    shared = [pair for pair in beside if pair in idle]
    columns = []
    for side in (0, 1):
        off = sorted(beside[pair][side] / idle[pair][side] - 1 for pair in shared)
        columns += [f"{100 * statistics.median(off):+.1f} %", f"{100 * off[int(0.95 * len(off))]:+.1f} %",
                    f"{100 * sum(abs(each) > 0.05 for each in off) / len(off):.0f} %"]
    return [name, *(f"{median(key):.2f}" for key in ("step", "generate", "judge", "train")), str(len(shared)), *columns]


def main():
    options = arguments()
    options.out.mkdir(parents=True, exist_ok=True)
    runs = {}
    for name, lease in (("on", True), ("off", False)):
        with clocks_watched(options.out / f"clocks-{name}.csv"):
            runs[name] = train(options, lease)
    sources = {task["id"]: task["source"] for task in read(runs["on"] / "tasks.jsonl")}
    pairs = sorted({pair for run in runs.values() for pair in timed(run)})
    with clocks_watched(options.out / "clocks-idle.csv"):
        idle = time_idle(options, pairs, sources)
    print_table(["lease", "step s", "generate s", "judge s", "train s", "kernels", "kernel: median off", "95th", "off > 5 %",
                 "reference: median off", "95th", "off > 5 %"], [row(name, run, idle) for name, run in runs.items()])
    print_table(["lease", "idle us", "off us", "off"], [each for name, run in runs.items() for each in by_length(name, run, idle)])
    print_table(["while", "SM MHz", "memory MHz", "W", "C", "lowest SM MHz", "looks"],
                [clock_row(name, options.out / f"clocks-{name}.csv") for name in ("on", "off", "idle")])


if __name__ == "__main__":
    main()
