#!/usr/bin/env python3
"""Trains a model of Qwen3-8B's shape: adapters on one GPU, or all weights on two with a sharded optimizer (ZeRO-1).

  bench/eight_billion.py                        two GPUs, about four minutes
  bench/eight_billion.py --parts lora           one GPU
  bench/eight_billion.py --device cpu --shape tiny      any machine, two minutes on two cores; proves the script
  bench/eight_billion.py --folder DIR           keeps model and runs there; a call that was cut off resumes with the first
                                                unfinished run

The model has random weights and all of Qwen3's 151,936 rows of embedding and head (8.19 billion parameters). Its tokenizer
of 4,096 tokens is learnt from the teacher's examples. Every tenth task of the teacher is held out with all its examples.

For each run this prints the loss on the held-out examples before and after, the entropy of their tokens' frequencies, the
speed, and the largest memory on a GPU. A model that has learnt nothing of the context cannot have a loss below the entropy.
Only the initial model is written (16 GB), so 20 GB of disk suffice. A folder in memory (TMPDIR=/dev/shm) is quicker than a
slow disk.

The learning rate for all weights comes from a model of the same scale of weights, but 512 wide, on a CPU (9.9 to 1.2 nats in
48 steps). For adapters, the rate of a narrow model (256 wide, 2e-3) was too high at a width of 4,096: the loss rose to 13
nats before it fell. So the rate is half of that, and there are three times as many steps.
"""
import argparse
import json
import pathlib
import subprocess
import threading
import time

from several_ranks import TRITONSMITH, begin_run, call, call_ranks, folder_of, is_made, make_model, median_of, say, steps_of, write_config, written

SHAPES = {
    "tiny": {"vocabulary": 600, "family": "qwen3", "hidden_size": 128, "intermediate_size": 256, "num_hidden_layers": 3,
             "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 32, "initializer_range": 0.1, "tie_word_embeddings": "false"},
    "8b": {"vocabulary": 4096, "vocab_size": 151936, "family": "qwen3", "hidden_size": 4096, "intermediate_size": 12288,
           "num_hidden_layers": 36, "num_attention_heads": 32, "num_key_value_heads": 8, "head_dim": 128,
           "max_position_embeddings": 40960, "rope_theta": 1000000, "tie_word_embeddings": "false"},
}
PARTS = {
    "lora": {"ranks": 1, "steps": 180, "step_tokens": 8192,
             "settings": {"lora.rank": 64, "lora.alpha": 128, "optimizer.learning_rate": 1e-3, "optimizer.warmup_updates": 20,
                          "optimizer.micro_batch_tokens": 4096}},
    "full": {"ranks": 2, "steps": 48, "step_tokens": 16384,
             "settings": {"optimizer.learning_rate": 2e-4, "optimizer.warmup_updates": 8, "model.recompute": "layers", "optimizer.micro_batch_tokens": 9216}},
}


class PeakMemory:
    """Measures the largest memory in use on any GPU of this machine, in GB, twice a second."""

    def __enter__(self):
        self.gigabytes, self.ends = 0.0, threading.Event()
        self.thread = threading.Thread(target=self.watch)
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.ends.set()
        self.thread.join()

    def watch(self):
        while not self.ends.wait(0.5):
            try:
                told = subprocess.run(["nvidia-smi", "--query-gpu=memory.used", "--format=csv,noheader,nounits"], capture_output=True,
                                      text=True, check=True).stdout
            except (OSError, subprocess.CalledProcessError):
                return
            self.gigabytes = max([self.gigabytes] + [float(line) * 2**20 / 1e9 for line in told.split()])


def make_data(folder, tasks):
    examples = folder / "all.jsonl"
    call(TRITONSMITH, "tasks", "teach", "--set", f"curriculum.train={tasks}", "--set", "teacher.repairs=0", "--out",
         examples)
    lines = examples.read_text().splitlines(keepends=True)
    names = sorted({json.loads(line)["task"] for line in lines})
    unseen = set(names[::10])
    for name, is_unseen in (("examples", False), ("heldout", True)):
        chosen = [line for line in lines if (json.loads(line)["task"] in unseen) == is_unseen]
        (folder / f"{name}.jsonl").write_text("".join(chosen))


def train(folder, part, options):
    """Trains, unless an earlier call has done so, and returns the row of the table."""
    row, run = folder / f"row-{part}.tsv", folder / f"run-{part}"
    if row.exists():
        return row.read_text()
    begin_run(run, None)
    config = write_config(run, options, {
        "run.steps": options.steps or PARTS[part]["steps"], "model.path": folder / "start", "data.examples": folder / "examples.jsonl",
        "data.heldout": folder / "heldout.jsonl", "data.step_tokens": options.step_tokens or PARTS[part]["step_tokens"],
        "data.max_tokens": 1024, "data.heldout_every": 20, "checkpoint.every": 0, **PARTS[part]["settings"]})
    began = time.monotonic()
    with PeakMemory() as memory:
        call_ranks(PARTS[part]["ranks"], TRITONSMITH, "sft", config)
    steps = steps_of(run)
    last = steps[-1]
    row.write_text("\t".join([part, str(PARTS[part]["ranks"]), f'{steps[0]["heldout/loss_at_start"]:.2f}', f'{last["heldout/loss"]:.2f}',
                     f'{last["heldout/unigram_entropy"]:.2f}', written(median_of(steps, "tokens_per_second"), ",.0f"),
                     written(median_of(steps, "seconds/step"), ".2f"), f"{memory.gigabytes:.1f}",
                     f"{time.monotonic() - began:.0f}"]))
    say(part, began)
    return row.read_text()


def learnt_something(row):
    loss, entropy = (float(each) for each in row.split("\t")[3:5])
    return loss < entropy


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--shape", choices=SHAPES, default="8b")
    parser.add_argument("--steps", type=int, help="180 with adapters, 48 in full")
    parser.add_argument("--step-tokens", type=int, help="8,192 with adapters, 16,384 in full")
    parser.add_argument("--tasks", type=int, default=400)
    parser.add_argument("--folder", type=pathlib.Path)
    options = parser.parse_args()
    if options.shape == "tiny":
        options.step_tokens, options.tasks = options.step_tokens or 2048, min(options.tasks, 60)
        PARTS["full"]["settings"]["optimizer.learning_rate"] = 2e-3
    with folder_of(options.folder, "tritonsmith-8b-") as folder:
        began = time.monotonic()
        if not is_made(folder):
            make_data(folder, options.tasks)
            make_model(folder, SHAPES[options.shape])
            (folder / "made").touch()
            size = (folder / "start/model.safetensors").stat().st_size / 1e9
            say(f"a model of {size:.1f} GB and its data", began)
        rows = [train(folder, part, options) for part in options.parts]
        print("part\tranks\tloss before\tafter\tunigram\ttrained/s\ts/step\tGB\ts", *rows, sep="\n", flush=True)
        assert all(learnt_something(row) for row in rows), "it learnt no more than frequencies"


if __name__ == "__main__":
    main()
