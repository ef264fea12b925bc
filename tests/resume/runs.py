"""Functions that the tests in this folder share: they start small runs and compare two of them."""
import json
import os
import pathlib
import subprocess

BUILD = pathlib.Path(__file__).resolve().parents[2] / "build"
TRITONSMITH = os.environ.get("TRITONSMITH_BINARY", str(BUILD / "tritonsmith"))
PROBE = os.environ.get("TRITONSMITH_PROBE", str(BUILD / "tests/resume/rl_probe"))


def call(*command):
    """Runs the command, which must succeed."""
    result = subprocess.run([str(each) for each in command], capture_output=True, text=True, timeout=600)
    assert result.returncode == 0, f"{command}:\n{result.stderr}"
    return result


def make_data(folder, tasks, **shape):
    """Writes a few tasks, the teacher's solutions and an untrained model of this shape to `folder`."""
    call(TRITONSMITH, "tasks", "make", "--quickstart", "--train", tasks, "--heldout", 0,
         "--out", folder / "tasks.jsonl")
    call(TRITONSMITH, "tasks", "teach", "--quickstart", "--set", f"curriculum.train={tasks}",
         "--out", folder / "examples.jsonl")
    settings = [each for key, value in shape.items() for each in ("--set", f"{key}={value}")]
    call(TRITONSMITH, "model", "make", "--examples", folder / "examples.jsonl", "--out", folder / "start", *settings)


def sft_command(folder, run, **settings):
    """Returns the command `tritonsmith sft` for the data of `folder`. Settings are written section__key=value."""
    config = folder / f"{run.name}.toml"
    values = {"run__dir": run, "model__path": folder / "start", "model__device": "cpu",
              "data__examples": folder / "examples.jsonl", **settings}
    lines = [f"{key.replace('__', '.')} = {json.dumps(value if isinstance(value, (int, float)) else str(value))}"
             for key, value in values.items()]
    config.write_text("\n".join(lines) + "\n")
    return [TRITONSMITH, "sft", config]


def last_checkpoint(run):
    return run / "checkpoints" / (run / "checkpoints/latest").read_text().strip()


def without_clocks(value):
    """Returns a record without members that depend on the clock or on whether a verdict came from the store."""
    if isinstance(value, dict):
        return {key: without_clocks(each) for key, each in value.items()
                if not key.startswith("seconds/") and "per_second" not in key
                and key not in ("stage_ms", "from_store", "environment")}
    return [without_clocks(each) for each in value] if isinstance(value, list) else value


def records(file):
    return [without_clocks(json.loads(line)) for line in file.read_text().splitlines()]


def assert_same_run(one, other):
    """Checks that two runs have the same weights and optimizer state, bit for bit, and the same records."""
    for name in ("model.safetensors", "optimizer.safetensors"):
        first, second = last_checkpoint(one) / name, last_checkpoint(other) / name
        assert first.read_bytes() == second.read_bytes(), f"{first} and {second} differ"
    for name in ("steps.jsonl", "samples.jsonl"):
        first, second = records(one / name), records(other / name)
        assert len(first) == len(second), f"{name}: {len(first)} and {len(second)} records"
        for number, pair in enumerate(zip(first, second), 1):
            assert pair[0] == pair[1], f"{name}:{number} differs:\n{pair[0]}\n{pair[1]}"
    assert len((one / "steps.jsonl").read_text().splitlines()) > 0
