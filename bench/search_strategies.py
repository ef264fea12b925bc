#!/usr/bin/env python3
"""Compares strategies of search at an equal budget, for several seeds, and prints a table.

    bench/search_strategies.py build --model runs/quickstart/rl/checkpoints/step-120 --out runs/search

PROGRAMS is a build folder, or a folder that holds the programs tritonsmith and tritonsmith-referee. A part is one strategy
with one seed: `tritonsmith eval --search` on the suite, with records and verdicts of its own in OUT/seed-N/STRATEGY, so
that no part profits from the verdicts of another. Parts run one after the other. The call ends after --seconds and says
what is left; the same call goes on there. The table holds the parts that are done, and OUT/table.md gets it too.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time

from programs import program

STRATEGIES = ["parallel", "sequential", "beam", "evolution", "branching"]


def run_part(options, strategy, seed, seconds):
    """Runs a part for at most so many seconds."""
    settings = [f"judgements={options.judgements}", f"until={options.until}", *options.set]
    command = [program(options.programs, "tritonsmith"), "eval", "--suite", options.suite, "--model", options.model, "--out",
               options.out / f"seed-{seed}" / strategy, "--seed", seed, "--search", strategy, "--attempts", options.attempts,
               "--temperature", options.temperature, *[word for each in settings for word in ("--set", each)],
               "--backend", options.backend, "--limit", options.limit]
    environment = {**os.environ, "TRITONSMITH_REFEREE": program(options.programs, "tritonsmith-referee")}
    process = subprocess.Popen([str(word) for word in command], env=environment)
    try:
        if process.wait(seconds) != 0:
            sys.exit(f"{strategy}, seed {seed}: exit code {process.returncode}")
    except subprocess.TimeoutExpired:
        process.terminate()
        process.wait()


def result_of(options, strategy, seed):
    file = options.out / f"seed-{seed}" / strategy / strategy / "search.json"
    return json.loads(file.read_text()) if file.exists() else None


def check_devices(options):
    """Ends the call if parts were timed on different kinds of GPUs: their speed-ups do not belong in one table."""
    parts = {}
    for strategy in options.strategy:
        for seed in options.seed:
            found = result_of(options, strategy, seed)
            if found and found.get("device"):
                parts.setdefault(found["device"], []).append(f"{strategy} with seed {seed}")
    if len(parts) > 1:
        sys.exit("parts were timed on different GPUs: " + "; ".join(f"{len(each)} on {name}" for name, each in sorted(parts.items()))
                 + f" ({', '.join(min(parts.values(), key=len))}); remove those of one GPU from {options.out}")


def percent(share):
    return f"{100 * share:.1f} %"


def table_rows(options):
    """A row for each strategy: means over the seeds that are done, and what each seed reached with the whole budget."""
    rows = []
    for strategy in options.strategy:
        done = [found for seed in options.seed if (found := result_of(options, strategy, seed))]
        if not done:
            continue
        mean = lambda at, name: statistics.mean(each["at"][at][name] for each in done)
        if not rows:
            rows.append(["strategy", *[f"@{at['budget']}" for at in done[0]["at"]], "each seed"]
                        + ["speed-up"] * bool(done[0]["at"][-1]["speedup"]) + ["attempts", "tokens", "judged", "judge s"])
        rows.append([strategy, *[percent(mean(at, "accepted")) for at in range(len(done[0]["at"]))],
                     ", ".join(percent(each["at"][-1]["accepted"]) for each in done)]
                    + ([f"{mean(-1, 'speedup'):.2f}"] if done[0]["at"][-1]["speedup"] else [])
                    + [f"{mean(-1, 'attempts'):.1f}", f"{mean(-1, 'tokens'):.0f}", f"{mean(-1, 'judgements'):.2f}",
                       f"{mean(-1, 'judge_seconds'):.2f}"])
    return rows


def failures(options):
    """Says which tasks no kernel was found for, and how the attempts ended."""
    lines = []
    for strategy in options.strategy:
        for seed in options.seed:
            found = result_of(options, strategy, seed)
            for task in found["by_task"] if found else []:
                if task["first_accepted"] == 0:
                    lines.append(f"{strategy}, seed {seed}: {task['task']}: {task['attempts']} attempts, {task['why_over']}")
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs")
    parser.add_argument("--model", required=True)
    parser.add_argument("--out", required=True, type=pathlib.Path)
    parser.add_argument("--suite", default="quickstart")
    parser.add_argument("--strategy", nargs="+", default=STRATEGIES, choices=STRATEGIES)
    parser.add_argument("--seed", nargs="+", type=int, default=[1, 2, 3])
    parser.add_argument("--judgements", type=int, default=64, help="the budget of each task (default 64)")
    parser.add_argument("--attempts", type=int, default=2048, help="the most answers of the model for a task (default 2048)")
    parser.add_argument("--until", choices=["first", "budget"], default="first",
                        help="first: until a kernel is accepted (default); budget: to the end, for the fastest kernel")
    parser.add_argument("--temperature", type=float, default=1.0)
    parser.add_argument("--set", nargs="+", default=[], metavar="KEY=VALUE", help="further settings of the search")
    parser.add_argument("--seconds", type=float, default=560, help="for this call (default 560)")
    parser.add_argument("--backend", default="auto", choices=["auto", "evaluate", "replay"])
    parser.add_argument("--limit", type=int, default=0, help="only so many tasks from the suite's beginning")
    options = parser.parse_args()
    end = time.monotonic() + options.seconds
    left = []
    for seed in options.seed:
        for strategy in options.strategy:
            if not result_of(options, strategy, seed) and time.monotonic() < end:
                run_part(options, strategy, seed, end - time.monotonic())
            if not result_of(options, strategy, seed):
                left.append(f"{strategy} with seed {seed}")
    check_devices(options)
    rows = table_rows(options)
    if rows:
        lines = ["| " + " | ".join(row) + " |" for row in rows]
        lines.insert(1, "|---|" + "---:|" * (len(rows[0]) - 1))
        (options.out / "table.md").write_text("\n".join(lines) + "\n")
        print("\n".join(lines))
    for line in failures(options):
        print(line)
    if left:
        sys.exit(f"not done: {', '.join(left)}; the same call goes on")


if __name__ == "__main__":
    main()
