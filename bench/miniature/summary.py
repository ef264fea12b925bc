"""What the study found, from its records alone, as Markdown."""
import collections
import json
import statistics

from cells import CELLS, QUESTIONS

# Operators that make or arrange tensors and compute nothing; whatever else forward calls is torch's work.
ARRANGING = {"empty", "empty_like", "new_empty", "empty_strided", "zeros", "zeros_like", "view", "reshape",
             "_unsafe_view", "contiguous", "clone", "copy_", "_to_copy", "detach", "alias", "t", "transpose", "permute",
             "expand", "squeeze", "unsqueeze", "slice", "select", "as_strided", "_reshape_alias"}


def operator(name):
    return name.removeprefix("aten::").split(".")[0]


def is_lazy(verdict):
    return any(operator(each["op"]) not in ARRANGING for each in verdict.get("aten", []))


def is_refused(verdict):
    return any(each["severity"] == "reject" for each in verdict.get("findings", []))


def is_paid(sample):
    terms = sample.get("reward", {}).get("terms", [])
    return any(term["name"] == "correct" and term["value"] * term["weight"] > 0 for term in terms)


def records(file):
    if not file.exists():
        return []
    lines = file.read_text().splitlines()
    return [json.loads(line) for line in lines if line.endswith("}")]  # the last may be cut short by a kill


def share(items, holds):
    items = list(items)
    return sum(map(bool, map(holds, items))) / len(items) if items else None


def percent(value):
    return "-" if value is None else f"{100 * value:.1f} %"


def mean_of(values):
    """The mean over seeds, with the lowest and the highest where there are several."""
    values = [value for value in values if value is not None]
    if not values:
        return "-"
    text = percent(statistics.fmean(values))
    return text if len(values) == 1 else f"{text} ({100 * min(values):.1f} to {100 * max(values):.1f})"


def table(head, rows):
    lines = [head, ["---"] * len(head), *rows]
    return "".join("| " + " | ".join(map(str, line)) + " |\n" for line in lines)


def last_turns(samples):
    """Of each sampled conversation, the turn that counts."""
    last = {}
    for sample in samples:
        key = (sample["group"], sample["member"])
        if sample["member"] >= 0 and (key not in last or sample["turn"] > last[key]["turn"]):
            last[key] = sample
    return list(last.values())


def held_out(study, name):
    file = study.out / "eval" / name / "evaluation.json"
    if not file.exists():
        return None
    evaluation = json.loads(file.read_text())
    accepted = [s for s in last_turns(records(file.parent / "samples.jsonl")) if s["verdict"]["accepted"]]
    return {
        "compiled": evaluation["sampled"]["compiled"], "correct": evaluation["sampled"]["correct"],
        "accepted": evaluation["sampled"]["accepted"], "greedy": evaluation["greedy"]["accepted"],
        "pass@8": evaluation["pass_at"].get("8"), "hacks": evaluation["hack_rate"],
        "lazy": share(accepted, lambda s: is_lazy(s["verdict"])),
        "fast_1.2": evaluation["speed"]["fast"].get("1.2"),
    }


COLUMNS = ["compiled", "correct", "accepted", "greedy", "pass@8", "fast_1.2", "lazy", "hacks"]


def held_out_table(study, names, seeds):
    rows = []
    for turns in sorted({CELLS[name].turns for name in names} | {1}):
        name = "sft" if turns == 1 else f"sft-{turns}turns"
        found = held_out(study, name)
        if found:
            rows.append([f"SFT, {turns} turn{'s' if turns > 1 else ''}", "-", *(percent(found[c]) for c in COLUMNS)])
    for name in names:
        found = {seed: held_out(study, f"{name}-seed{seed}") for seed in seeds}
        found = {seed: each for seed, each in found.items() if each}
        if found:
            rows.append([f"{name}: {CELLS[name].what}", ", ".join(map(str, found)),
                         *(mean_of([each[c] for each in found.values()]) for c in COLUMNS)])
    return table(["held-out tasks", "seeds", *COLUMNS], rows)


def judged_again(run, samples):
    """The (task, kernel) pairs that were judged again, and those of them that were refused then."""
    file = run / "rejudge.json"
    if not file.exists():
        return set(), set()
    report = json.loads(file.read_text())

    def pairs(origins):
        lines = {int(origin.rpartition(":")[2]) for origin in origins}
        return {(samples[line - 1]["task"], samples[line - 1]["kernel"]) for line in lines}

    return pairs(report["judged"]), pairs(refusal["origin"] for refusal in report["refusals"])


def over_training(study, name, seed):
    """A row for each third of the steps."""
    run = study.cell_dir(name, seed)
    samples = records(run / "samples.jsonl")
    if not samples:
        return []
    judged, refused = judged_again(run, samples)
    last_step = max(sample["step"] for sample in samples)
    parts = collections.defaultdict(list)
    for sample in samples:
        parts[min(2, 3 * (sample["step"] - 1) // last_step)].append(sample)
    rows = []
    for part, members in sorted(parts.items()):
        paid = [s for s in members if is_paid(s)]
        accepted = [s for s in members if s["verdict"]["accepted"]]
        again = [(s["task"], s["kernel"]) for s in paid if (s["task"], s["kernel"]) in judged]
        rows.append([name, seed, f"{members[0]['step']} to {members[-1]['step']}",
                     percent(share(members, lambda s: s["verdict"]["accepted"])),
                     percent(share(accepted, lambda s: is_lazy(s["verdict"]))),
                     percent(share(members, lambda s: is_paid(s) and is_refused(s["verdict"]))),
                     percent(share(again, lambda pair: pair in refused)), len(set(again))])
    return rows


def over_training_table(study, names, seeds):
    rows = [row for name in names for seed in seeds for row in over_training(study, name, seed)]
    return table(["cell", "seed", "steps", "accepted", "lazy among them", "paid though a finding rejects",
                  "of the paid, refused when judged again", "kernels judged again"], rows)


def question_table(study, names, seeds):
    rows = []
    for question, without, with_it in QUESTIONS:
        if without not in names or with_it not in names:
            continue
        for column in ("accepted", "fast_1.2", "lazy", "hacks"):
            pairs = [(held_out(study, f"{without}-seed{seed}"), held_out(study, f"{with_it}-seed{seed}"))
                     for seed in seeds]
            pairs = [(a[column], b[column]) for a, b in pairs if a and b and None not in (a[column], b[column])]
            if pairs:
                rows.append([question, column, len(pairs), percent(statistics.fmean(a for a, _ in pairs)),
                             percent(statistics.fmean(b for _, b in pairs)),
                             f"{100 * statistics.fmean(b - a for a, b in pairs):+.1f} points"])
    return table(["question", "held out", "seeds", "first", "second", "difference"], rows) if rows else ""


def summarise(study, names, left_out, seeds, facts):
    scale = study.scale
    shares = ", ".join(f"{name} {value:g}" for name, value in scale.shares)
    log = study.out / "logs" / "teach.log"
    taught = [line for line in log.read_text().splitlines() if " examples of " in line] if log.exists() else []
    text = "# The papers in miniature\n\n"
    text += "".join(f"- {fact}\n" for fact in facts)
    made = taught[-1].split(": ")[0] if taught else "not made yet"
    text += f"- supervised data: {made}; shares asked for: {shares}\n"
    text += (f"- {scale.steps} steps of {scale.prompts} x {scale.group} samples a cell; {scale.heldout} held-out "
             f"tasks, {scale.samples} samples and one greedy each; accepted is by policy `open`\n")
    if left_out:
        text += f"- left out, because only a GPU measures speed and coverage: {', '.join(left_out)}\n"
    if not study.has_gpu:
        text += "- fast_1.2 is not there: nothing was timed\n"
    text += "\n## After SFT and after RL\n\n" + held_out_table(study, names, seeds)
    questions = question_table(study, names, seeds)
    if questions:
        text += "\n## The questions, paired by seed\n\n" + questions
    text += "\n## Over training\n\n" + over_training_table(study, names, seeds)
    times = records(study.out / "times.jsonl")
    seconds = sum(each["seconds"] for each in times)
    text += f"\nAll phases took {seconds:.0f} s. Curves, samples and tests: `report.html`.\n"
    (study.out / "summary.md").write_text(text)
    return text
