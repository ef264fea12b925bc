"""Writes the results of the distillation study as Markdown, from its records alone."""
import statistics

from arms import ARMS, QUESTIONS, STAGES
from measures import BOOTSTRAPS, difference, measured, percent, records, share
from summary import mean_of, table, time_table

MEASURES = ["compiled", "accepted", "greedy", "pass@n"]
PARTS = 4  # of a run of reinforcement learning


def evaluation(study, name):
    folder = study.out / "eval" / name
    return measured(folder / "samples.jsonl") if (folder / "evaluation.json").exists() else None


def evaluations(study, stages, seeds):
    """Returns a table from seed to evaluation, of the seeds that have one."""
    found = {seed: evaluation(study, study.student(stages, seed)) for seed in seeds}
    return {seed: each for seed, each in found.items() if each}


def rates(found):
    """Takes the mean over tasks, and then over seeds."""
    return [mean_of([statistics.fmean(task[measure] for task in each.values()) for each in found]) for measure in MEASURES]


def rates_table(study, names, seeds):
    rows = []
    for name, title in (("teacher-sft", "teacher, after `sft`"), ("teacher-rl", "teacher, after `rl`")):
        found = evaluation(study, name)
        if found:
            rows.append([title, "-", *rates([found])])

    for stages in dict.fromkeys([(), *(ARMS[name][:end] for name in names for end in range(1, len(ARMS[name]) + 1))]):
        found = evaluations(study, stages, seeds)
        if found:
            chain = " + ".join(["warm-up", *stages])
            rows.append([f"student: {chain}", ", ".join(map(str, found)), *rates(list(found.values()))])
    return table(["held-out tasks", "seeds", *MEASURES], rows)


def question_table(study, seeds):
    rows = []
    for question, without, with_it in QUESTIONS:
        first, second = evaluations(study, without, seeds), evaluations(study, with_it, seeds)
        pairs = [(first[seed], second[seed]) for seed in seeds if seed in first and seed in second]
        for measure in MEASURES[1:] if pairs else []:
            found = difference(pairs, measure)
            if found:
                rows.append([question, measure, len(pairs), percent(found.first), percent(found.second),
                             f"{100 * found.mean:+.1f}", f"{100 * found.low:+.1f} to {100 * found.high:+.1f}"])
    return table(["question", "held out", "seeds", "first", "second", "points", "95 % interval"], rows) if rows else ""


def accepted_by_part(samples, steps):
    """Returns the accepted share of training samples in each part of a run."""
    parts = [[] for _ in range(PARTS)]
    for sample in samples:
        parts[min(PARTS - 1, PARTS * (sample["step"] - 1) // steps)].append(sample)
    return [share(part, lambda each: each["verdict"]["accepted"]) for part in parts]


def curve_table(study, names, seeds):
    rows = []
    for name in names:
        steps = study.steps_of(ARMS[name])
        files = [study.run_dir(study.student(ARMS[name], seed)) / "samples.jsonl" for seed in seeds]
        curves = [accepted_by_part(records(file), steps) for file in files if file.exists()]
        if curves:
            rows.append([" + ".join(["warm-up", *ARMS[name]]), len(curves), *(mean_of(column) for column in zip(*curves))])
    head = [f"part {part + 1} of {PARTS}" for part in range(PARTS)]
    return table(["training samples accepted during `rl`", "seeds", *head], rows) if rows else ""


def sizes_line(study):
    sizes = {each["model"]: each["parameters"] for each in records(study.out / "models.jsonl")}
    if len(sizes) < 2:
        return "- models: not made yet\n"
    return (f"- teacher: {sizes['teacher']:,} parameters; student: {sizes['student']:,}, so the teacher is "
            f"{sizes['teacher'] / sizes['student']:.1f} times as large\n")


def summarise(study, names, seeds, command):
    scale, times = study.scale, records(study.out / "times.jsonl")
    machines = sorted({f"{each['machine']} ({each['date']})" for each in times})
    text = "# A larger model teaches a smaller one\n\n"
    text += f"- {command}\n- machine: {'; '.join(machines) or study.machine}\n" + sizes_line(study)
    text += (f"- `sft`: teacher {scale.teacher_sft_steps} steps of {scale.step_tokens} tokens, student's warm-up "
             f"{scale.warm_up_steps}, stages `more` and `answers` {scale.more_steps}\n"
             f"- `rl`: steps of {scale.prompts} x {scale.group} samples; teacher {scale.teacher_rl_steps}, `on-policy` "
             f"{scale.on_policy_steps}, `rl` {scale.rl_steps}\n"
             f"- {scale.heldout} held-out tasks, {scale.samples} samples and one greedy each; policy `strict`\n")
    answers = study.out / "answers.jsonl"
    if answers.exists():
        text += f"- the teacher wrote {scale.asked * scale.answers:,} answers, of which {len(records(answers)):,} are taught\n"
    text += "".join(f"- `{name}`: {what}\n" for name, what in STAGES.items())
    text += "\n## Before and after reinforcement learning\n\n" + rates_table(study, names, seeds)
    questions = question_table(study, seeds)
    if questions:
        text += ("\n## Differences\n\nPaired by task and seed. The interval is a bootstrap of "
                 f"{BOOTSTRAPS:,} over the tasks.\n\n" + questions)
    curves = curve_table(study, names, seeds)
    if curves:
        text += "\n## During reinforcement learning\n\n" + curves
    text += f"\n## Time\n\nAll phases took {sum(each['seconds'] for each in times):.0f} s; seeds ran side by side, and are summed here.\n\n"
    text += time_table([{**each, "phase": each["phase"].partition("-seed")[0]} for each in times])
    (study.out / "summary.md").write_text(text)
    return text
