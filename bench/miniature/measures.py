"""Measures samples and evaluations task by task, and computes the confidence interval of a difference."""
import collections
import dataclasses
import functools
import json
import random
import statistics

BOOTSTRAPS = 2000
# These operators make or arrange tensors and compute nothing. Any other operator in forward is work of torch.
ARRANGING = {"empty", "empty_like", "new_empty", "empty_strided", "zeros", "zeros_like", "view", "reshape",
             "_unsafe_view", "contiguous", "clone", "copy_", "_to_copy", "detach", "alias", "t", "transpose", "permute",
             "expand", "squeeze", "unsqueeze", "slice", "select", "as_strided", "_reshape_alias"}
# Most are shares of a task's sampled completions. `greedy` is about its one greedy completion, `pass@n` about any of its n.
MEASURES = ["compiled", "correct", "accepted", "greedy", "pass@n", "honest", "lazy", "fast_1.2", "hacks"]


def operator(name):
    return name.removeprefix("aten::").split(".")[0]


def is_lazy(verdict):
    return any(operator(each["op"]) not in ARRANGING for each in verdict.get("aten", []))


def is_warned_of(verdict):
    """Whether a rule without a part in training warns of the kernel. The linter's findings about the task do not count."""
    return any(finding["severity"] == "warn" and not finding["rule"].startswith("task_")
               for finding in verdict.get("findings", []))


def is_refused(verdict):
    return any(each["severity"] == "reject" for each in verdict.get("findings", []))


def is_paid(sample):
    terms = sample.get("reward", {}).get("terms", [])
    return any(term["name"] == "correct" and term["value"] * term["weight"] > 0 for term in terms)


def is_fast(verdict):
    return verdict["accepted"] and (verdict.get("speedup") or 0) > 1.2


@functools.lru_cache(maxsize=4)
def parsed(file, _):
    lines = file.read_text().splitlines()
    return [json.loads(line) for line in lines if line.endswith("}")]  # a kill may have cut off the last line


def records(file):
    return parsed(file, file.stat().st_mtime_ns) if file.exists() else []


def share(items, holds):
    items = list(items)
    return sum(map(bool, map(holds, items))) / len(items) if items else None


def percent(value):
    return "-" if value is None else f"{100 * value:.1f} %"


def last_turns(samples):
    """Returns for each task the verdict that counts of each conversation. Greedy ones (member -1) are separate."""
    last = {}
    for sample in samples:
        key = (sample["group"], sample["member"])
        if key not in last or sample["turn"] > last[key]["turn"]:
            last[key] = sample
    sampled, greedy = collections.defaultdict(list), {}
    for sample in last.values():
        if sample["member"] < 0:
            greedy[sample["task"]] = sample["verdict"]
        else:
            sampled[sample["task"]].append(sample["verdict"])
    return sampled, greedy


@functools.lru_cache(maxsize=None)
def measured_at(file, _):
    sampled, greedy = last_turns(records(file))
    is_timed = any(verdict.get("speedup") for verdicts in sampled.values() for verdict in verdicts)
    found = {}
    for task, verdicts in sampled.items():
        accepted = [verdict["accepted"] for verdict in verdicts]
        found[task] = {
            "compiled": share(verdicts, lambda v: v["compiled"]), "correct": share(verdicts, lambda v: v["correct"]),
            "accepted": statistics.fmean(accepted), "pass@n": float(any(accepted)),
            "greedy": float(greedy[task]["accepted"]) if task in greedy else None,
            "honest": share(verdicts, lambda v: v["accepted"] and not is_lazy(v)),
            "lazy": share(verdicts, lambda v: v["accepted"] and is_lazy(v)),
            "fast_1.2": share(verdicts, is_fast) if is_timed else None, "hacks": share(verdicts, is_refused),
        }
    return found


def measured(file):
    """Returns a table from task to measure to value."""
    return measured_at(file, file.stat().st_mtime_ns)


@dataclasses.dataclass(frozen=True)
class Difference:
    first: float
    second: float
    mean: float
    low: float
    high: float


def difference(pairs, measure):
    """Compares the second of each pair with the first. Returns the mean difference over tasks, and the 2.5th and 97.5th
    percentile of that mean over resampled tasks (with replacement). Seeds are averaged before."""
    tasks = set.intersection(*(set(each) for pair in pairs for each in pair))
    values = []
    for task in sorted(tasks):
        of_seeds = [(first[task][measure], second[task][measure]) for first, second in pairs]
        if any(value is None for pair in of_seeds for value in pair):
            return None
        values.append(tuple(statistics.fmean(column) for column in zip(*of_seeds)))
    if not values:
        return None
    gaps = [second - first for first, second in values]
    rng = random.Random(1)
    means = sorted(sum(rng.choices(gaps, k=len(gaps))) / len(gaps) for _ in range(BOOTSTRAPS))
    return Difference(first=statistics.fmean(first for first, _ in values),
                      second=statistics.fmean(second for _, second in values), mean=statistics.fmean(gaps),
                      low=means[BOOTSTRAPS // 40], high=means[BOOTSTRAPS - 1 - BOOTSTRAPS // 40])
