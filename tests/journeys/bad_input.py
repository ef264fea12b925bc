#!/usr/bin/env python3
"""Checks that bad input gets exit code 2 and one clear line that names the file and says what is wrong."""
import json
import os
import pathlib
import shlex
import shutil
import struct
import subprocess
import sys
import tempfile

BINARY = os.environ["TRITONSMITH_BINARY"]
TASKS = "quickstart:train=4,heldout=0"
GOOD_TASK = """import torch, torch.nn as nn
class Model(nn.Module):
    def forward(self, x):
        return torch.relu(x)
def get_inputs():
    return [torch.randn(4, 64)]
def get_init_inputs():
    return []
"""


TINY_SHAPE = {"architectures": ["Qwen2ForCausalLM"], "model_type": "qwen2", "hidden_size": 8, "intermediate_size": 16,
              "num_hidden_layers": 1, "num_attention_heads": 1, "num_key_value_heads": 1, "vocab_size": 16}


def run(*arguments, **environment):
    return subprocess.run([BINARY, *map(str, arguments)], capture_output=True, text=True, timeout=120,
                          env={**os.environ, **environment})


def on_small_disk(folder, *commands):
    """Runs shell commands while `folder` is a file system of 300 kB. Returns None if mounts are not permitted."""
    script = " && ".join([f"mount -t tmpfs -o size=300k tmpfs {shlex.quote(str(folder))} || exit 77", *commands])
    done = subprocess.run(["unshare", "--mount", "--map-root-user", "sh", "-c", script], capture_output=True, text=True,
                          timeout=120)
    return None if done.returncode == 77 or "unshare failed" in done.stderr else done


def full_disk_checks(folder):
    """Fills the disk. The program must print a clear line, and what was there before must be whole."""
    folder.mkdir()
    old = folder / "tasks.jsonl"
    write = f"{shlex.quote(BINARY)} tasks make --out {shlex.quote(str(old))} --heldout 0 --train"
    tasks = on_small_disk(folder, f"{write} 5", f"cp {old} {folder}/copy",
                          f"{{ {write} 2000; code=$?; cmp {old} {folder}/copy || code=99; ls -A {folder} >&2; exit $code; }}")
    if tasks is None:
        print("not checked here: a full disk (mounts are not permitted)")
        return []
    out = shlex.quote(str(folder / "run"))
    quick = on_small_disk(folder, f"{{ {shlex.quote(BINARY)} quickstart --out {out} --set curriculum.train=40; code=$?; "
                                  f"test -s {out}/config.toml || code=99; exit $code; }}")
    return [
        refused("a full disk for tasks", tasks, "tasks.jsonl", "No space left", "make room", code=3)
        and sorted(tasks.stderr.split()[-2:]) == ["copy", "tasks.jsonl"],
        refused("a full disk for the quickstart", quick, str(folder), "No space left", code=3),
    ]


def refused(what, result, *needles, code=2):
    """Checks that the program prints all `needles` in one line and exits with this code."""
    lines = [line for line in result.stderr.splitlines() if line.startswith("tritonsmith: ")]
    fine = result.returncode == code and len(lines) == 1 and all(n in lines[0] for n in needles)
    if not fine:
        print(f"FAILED {what}: exit {result.returncode}, stderr:\n{result.stderr}stdout:\n{result.stdout}")
    return fine


def make_training_data(folder):
    """Makes a few examples and an untrained model, both valid."""
    examples, model = folder / "examples.jsonl", folder / "start"
    for command in (["tasks", "teach", "--quickstart", "--set", "curriculum.train=4", "--out", examples],
                    ["model", "make", "--examples", examples, "--out", model, "--set", "hidden_size=16",
                     "--set", "head_dim=4", "--set", "num_hidden_layers=1", "--set", "vocabulary=320"]):
        done = run(*command)
        assert done.returncode == 0, done.stderr
    return examples, model


def training_checks(folder):
    examples, model = make_training_data(folder)
    good = folder / "sft.toml"
    out = folder / "sft-run"
    good.write_text(f"""model = {{ path = "{model}", device = "cpu" }}
data.examples = "{examples}"
run = {{ dir = "{out}", steps = 2 }}
""")
    trained = run("sft", good)
    assert trained.returncode == 0, trained.stderr
    again = run("sft", good)
    assert again.returncode == 0, again.stderr
    records = (out / "steps.jsonl").read_bytes()

    def sft(*settings, config=good):
        return run("sft", config, *(each for setting in settings for each in ("--set", setting)))

    def elsewhere(*settings):
        return sft(f"run.dir={folder / 'nowhere'}", *settings)

    misspelt, broken = folder / "misspelt.toml", folder / "broken.toml"
    misspelt.write_text("[optimizer]\nlearnin_rate = 1\n")
    broken.write_text("[run]\nsteps = 3\ndir = \"x\n")
    cut = folder / "cut.jsonl"
    cut.write_bytes(examples.read_bytes()[:-20])
    cut_model = folder / "cut-model"
    shutil.copytree(model, cut_model)
    os.truncate(cut_model / "model.safetensors", 5000)
    foreign, taken = folder / "foreign", folder / "taken"
    foreign.mkdir()
    (foreign / "thesis.tex").write_text("x")
    rl = folder / "rl.toml"
    rl.write_text(f"""model = {{ path = "{model}", device = "cpu" }}
tasks.path = "{folder / 'no-tasks.jsonl'}"
run.dir = "{folder / 'nowhere'}"
""")
    checks = [
        refused("no config", run("sft", folder / "no.toml"), "no.toml"),
        refused("an unknown key", run("sft", misspelt), "misspelt.toml", "learnin_rate", "'optimizer.learning_rate'"),
        refused("a key of TRL", sft("num_train_epochs=3"), "num_train_epochs", "TRL's option is 'run.steps' here"),
        refused("a config that is no TOML", run("sft", broken), "broken.toml:3"),
        refused("a value of another type", elsewhere("run.steps=many"), "run.steps", "whole number"),
        refused("a directory without a run", run("rl", foreign), str(foreign / "config.toml")),
        refused("no examples", elsewhere(f"data.examples={folder / 'no.jsonl'}"), "no.jsonl"),
        refused("examples that were cut off", elsewhere(f"data.examples={cut}"), "cut.jsonl:4"),
        refused("weights that were cut off", elsewhere(f"model.path={cut_model}"), "model.safetensors", "truncated"),
        refused("no model", elsewhere("model.path=none"), "model.path: none"),
        refused("a run of another config", sft("optimizer.beta1=0.5"), str(out), "optimizer.beta1 is 0.9 there, 0.5"),
        refused("a directory that is no run", sft(f"run.dir={foreign}"), str(foreign), "thesis.tex"),
        refused("a path that is taken", sft(f"run.dir={taken}"), str(taken)),
        refused("no tasks", run("rl", rl), "no-tasks.jsonl"),
        refused("a group of one", run("rl", rl, "--set", "rollout.samples=1"), "rollout.samples"),
        refused("rewards that need references", run("rl", rl, "--set", "reward.similarity=1"), "tasks.references"),
        refused("a judge in a directory that is no run",
                run("rl", rl, "--set", f"tasks.path={TASKS}", "--set", f"run.dir={foreign}"), "thesis.tex"),
    ]
    assert (out / "steps.jsonl").read_bytes() == records, "a refused call changed the records"
    assert [each.name for each in foreign.iterdir()] == ["thesis.tex"], "a refused call wrote into a foreign directory"
    dry = run("sft", good, "--dry-run", "--set", f"run.dir={folder / 'dry'}", "--set", "run.steps=7")
    assert dry.returncode == 0 and "run.steps = 7" in dry.stdout and "nothing was started" in dry.stderr, dry
    assert not (folder / "dry").exists(), "a dry run wrote something"
    return checks


def main():
    with tempfile.TemporaryDirectory(prefix="tritonsmith-bad-input-") as name:
        folder = pathlib.Path(name)
        task, kernel = folder / "task.py", folder / "kernel.py"
        task.write_text(GOOD_TASK)
        kernel.write_text("import torch\n")
        taken = folder / "taken"
        taken.write_text("a file where a directory is wanted")
        damaged = folder / "damaged"
        damaged.mkdir()
        (damaged / "steps.jsonl").write_text('{"step": 1}\n{"step": \n{"step": 3}\n')
        model = folder / "model"
        model.mkdir()
        (model / "config.json").write_text("{")
        records = folder / "tasks.jsonl"
        records.write_text(json.dumps({"id": "a", "source": GOOD_TASK}) + '\n{"id": "b", "sour')
        suite = folder / "suite"
        suite.mkdir()
        (suite / "7_None.py").write_text("print('no module here')\n")
        truncated = folder / "truncated"
        truncated.mkdir()
        (truncated / "config.json").write_text(json.dumps(TINY_SHAPE))
        header = json.dumps({"model.embed_tokens.weight": {"dtype": "F32", "shape": [16, 8], "data_offsets": [0, 512]}})
        (truncated / "model.safetensors").write_bytes(struct.pack("<Q", len(header)) + header.encode() + b"0" * 100)
        out = folder / "out"

        checks = [
            refused("a task that is not there", run("judge", "--task", folder / "no.py", "--kernel", kernel), "no.py"),
            refused("a kernel that is not there", run("judge", "--task", task, "--kernel", folder / "no.py"), "no.py"),
            refused("a directory as task", run("judge", "--task", folder, "--kernel", kernel), "directory"),
            refused("no records", run("report", folder / "nothing"), "nothing"),
            refused("a damaged record", run("report", damaged), "steps.jsonl:2"),
            refused("a path that is taken", run("quickstart", "--out", taken), str(taken)),
            refused("an unknown setting", run("quickstart", "--out", out, "--set", "sft.run.step=3"),
                    "sft.run.step", "sft.run.steps"),
            refused("a setting out of range", run("quickstart", "--out", out, "--set", "samples=0"), "samples"),
            refused("a damaged model", run("eval", "--suite", task, "--model", model, "--out", out), "config.json"),
            refused("no model", run("write", task, "--model", folder / "none"), "none"),
            refused("no such command", run("no-such-command"), "no-such-command", "--help"),
            refused("an unknown option", run("quickstart", "--sed", 3), "--sed", "quickstart --help"),
            refused("no such suite", run("tasks", "list", "no-such-suite"), "no-such-suite", "folder"),
            refused("an unknown option of a suite", run("tasks", "list", "curriculum:sed=2"), "'sed'", "'seed'"),
            refused("an import that is cut off", run("tasks", "import", records, "--out", out), "tasks.jsonl:2", "cut off"),
            refused("an import of what is no task", run("tasks", "import", suite, "--out", out), "7_None.py"),
            refused("a folder in a file's place", run("tasks", "make", "--train", 3, "--out", suite), str(suite)),
            refused("a store that is taken", run("judge", "--task", task, "--kernel", kernel, "--store", taken), str(taken)),
            refused("a Python without torch", run("judge", "--task", task, "--kernel", kernel, "--no-store",
                                                  TRITONSMITH_PYTHON="/nowhere/python"), "/nowhere/python", "doctor", code=3),
            refused("truncated weights", run("score", "--model", truncated, "--ids", "1,2", "--json"),
                    "model.safetensors", "truncated"),
            refused("a truncated task list", run("eval", "--suite", records, "--model", model, "--out", out),
                    "tasks.jsonl", "2"),
            refused("a file that is no task", run("eval", "--suite", suite, "--model", model, "--out", out),
                    "7_None.py"),
            *full_disk_checks(folder / "full"),
        ]
        checks += training_checks(folder)
    print(f"{sum(checks)} of {len(checks)} kinds of bad input are refused in one clear line")
    sys.exit(0 if all(checks) else 1)


main()
