"""Writes the results of the study as Markdown, from its records alone."""
import collections
import json
import statistics

from cells import CELLS, QUESTIONS
from measures import BOOTSTRAPS, MEASURES, difference, is_lazy, is_paid, is_refused, is_warned_of, measured, percent, records, share


def mean_of(values):
    """Returns the mean over seeds. With several seeds, the lowest and the highest value follow."""
    values = [value for value in values if value is not None]
    if not values:
        return "-"
    text = percent(statistics.fmean(values))
    return text if len(values) == 1 else f"{text} ({100 * min(values):.1f} to {100 * max(values):.1f})"


def table(head, rows):
    lines = [head, ["---"] * len(head), *rows]
    return "".join("| " + " | ".join(map(str, line)) + " |\n" for line in lines)


def evaluation_name(cell, seed):
    """Returns a cell's name with its seed. The initial model has no seed, because it is the same for all."""
    return cell if cell.startswith("sft") else f"{cell}-seed{seed}"


def evaluation_of(study, name):
    return measured(study.out / "eval" / name / "samples.jsonl") if (
        study.out / "eval" / name / "evaluation.json").exists() else None


def held_out_row(head, seeds, evaluations):
    """Takes the mean over tasks and then over seeds."""
    def mean(by_task, measure):
        values = [each[measure] for each in by_task.values() if each[measure] is not None]
        return statistics.fmean(values) if values else None
    return [head, seeds, *(mean_of([mean(each, measure) for each in evaluations]) for measure in MEASURES)]


def held_out_table(study, names, seeds):
    rows = []
    for start, cell in {CELLS[name].start: CELLS[name] for name in ["grpo", *names]}.items():
        found = evaluation_of(study, start)
        if found:
            turns = f"{cell.turns} turn{'s' if cell.turns > 1 else ''}"
            rows.append(held_out_row(f"SFT, {turns}, policy {cell.policy}", "-", [found]))
    for name in names:
        found = {seed: evaluation_of(study, f"{name}-seed{seed}") for seed in seeds}
        found = {seed: each for seed, each in found.items() if each}
        if found:
            rows.append(held_out_row(f"{name}: {CELLS[name].what}", ", ".join(map(str, found)), list(found.values())))
    return table(["held-out tasks", "seeds", *MEASURES], rows)


def question_table(study, names, seeds):
    rows = []
    for question, without, with_it in QUESTIONS:
        if with_it not in names or not (without in names or without.startswith("sft")):
            continue
        pairs = [(evaluation_of(study, evaluation_name(without, seed)), evaluation_of(study, f"{with_it}-seed{seed}"))
                 for seed in seeds]
        pairs = [pair for pair in pairs if all(pair)]
        for measure in MEASURES if pairs else []:
            found = difference(pairs, measure)
            if found:
                clear = "yes" if found.low > 0 or found.high < 0 else ""
                rows.append([question, measure, len(pairs), percent(found.first), percent(found.second),
                             f"{100 * found.mean:+.1f}", f"{100 * found.low:+.1f} to {100 * found.high:+.1f}", clear])
    return table(["question", "held out", "seeds", "first", "second", "points", "95 % interval", "clear"],
                 rows) if rows else ""


def judged_again(run, samples):
    """Returns the (task, kernel) pairs that were judged again, and those that were then refused."""
    file = run / "rejudge.json"
    if not file.exists():
        return set(), set()
    report = json.loads(file.read_text())

    def pairs(origins):
        lines = {int(origin.rpartition(":")[2]) for origin in origins}
        return {(samples[line - 1]["task"], samples[line - 1]["kernel"]) for line in lines}

    return pairs(report["judged"]), pairs(refusal["origin"] for refusal in report["refusals"])


def over_training(study, name, seed):
    """Returns a row for each third of the steps."""
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
        rows.append([name, seed, f"{members[0]['step']} to {members[-1]['step']}", len(members),
                     percent(share(members, lambda s: s["verdict"]["accepted"])),
                     percent(share(accepted, lambda s: is_lazy(s["verdict"]))),
                     percent(share(members, lambda s: is_paid(s) and is_refused(s["verdict"]))),
                     percent(share(paid, lambda s: is_warned_of(s["verdict"]))),
                     percent(share(again, lambda pair: pair in refused)), len(set(again))])
    return rows


def over_training_table(study, names, seeds):
    rows = [row for name in names for seed in seeds for row in over_training(study, name, seed)]
    return table(["cell", "seed", "steps", "samples", "accepted", "lazy among them", "paid though a finding rejects",
                  "of the paid, warned of by rules that reject nothing", "of the paid, refused when judged again", "kernels judged again"], rows)


def time_table(times):
    """Returns the seconds of each phase, summed over all calls that worked on it."""
    seconds = collections.Counter()
    for each in times:
        seconds[each["phase"]] += each["seconds"]
    return table(["phase", "seconds"], [[phase, f"{spent:.0f}"] for phase, spent in seconds.items()])


def summarise(study, names, left_out, seeds, command):
    scale = study.scale
    times = records(study.out / "times.jsonl")
    shares = ", ".join(f"{name} {value:g}" for name, value in scale.shares)
    log = study.out / "logs" / "teach.log"
    taught = [line for line in log.read_text().splitlines() if " examples of " in line] if log.exists() else []
    made = taught[-1].split(": ")[0] if taught else "not made yet"
    machines = sorted({f"{each['machine']} ({each['date']})" for each in times})
    text = "# The papers in miniature\n\n"
    text += f"- {command}\n- machine: {'; '.join(machines) or study.machine}\n"
    text += f"- supervised data: {made}; shares asked for: {shares}\n"
    text += (f"- {scale.steps} steps of {scale.prompts} x {scale.group} samples a cell; {scale.heldout} held-out "
             f"tasks, {scale.samples} samples and one greedy each; accepted is by policy "
             "`open` unless a row says otherwise\n")
    if left_out:
        text += f"- left out, because only a GPU measures speed and coverage: {', '.join(left_out)}\n"
    if not study.gpu:
        text += "- fast_1.2 is only there for what was evaluated on a GPU\n"
    text += "\n## After SFT and after RL\n\n" + held_out_table(study, names, seeds)
    questions = question_table(study, names, seeds)
    if questions:
        text += ("\n## The questions\n\nPaired by task, and by seed where there are several; the interval is a bootstrap "
                 f"of {BOOTSTRAPS:,} over the tasks. It says nothing of other seeds.\n\n" + questions)
    text += "\n## Over training\n\n" + over_training_table(study, names, seeds)
    text += (f"\n## Time\n\nAll phases took {sum(each['seconds'] for each in times):.0f} s. Curves, samples and tests: "
             "`report.html`.\n\n" + time_table(times))
    (study.out / "summary.md").write_text(text)
    return text
