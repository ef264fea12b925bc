"""Compares a step of our trainer, our adapters and our greedy decoding with `transformers` and torch.optim.

    compare_learning.py PROBE     PROBE is the built learning_probe

For tiny random models of each family it compares the gradients of one SFT step and the weights after one AdamW step, the
same for a LoRA adapter of the package `peft`, and greedy continuations token by token. The exit code is not zero after the
first disagreement.
"""
import json
import os
import random
import subprocess
import sys
import tempfile

import peft
import torch
from safetensors.torch import load_file
from transformers import AutoModelForCausalLM, logging

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../model/compare"))
from families import FAMILIES, model_of

PROBE = sys.argv[1]
SETTINGS = {"learning_rate": 0.01, "schedule": "constant", "warmup_updates": 0, "weight_decay": 0.1, "epsilon": 1e-5,
            "max_grad_norm": 0.5, "micro_batch_tokens": 64}
# The first step moves a weight by its gradient over its gradient's size, at most by 0.01. If a gradient is near 0, this
# magnifies its rounding by learning_rate / epsilon = 1000.
STEPPED = 1e-4
RANK, ALPHA = 4, 10.0
TARGETS = ["q_proj", "v_proj", "o_proj", "up_proj", "down_proj"]
logging.disable_progress_bar()


def probe(*words):
    done = subprocess.run([PROBE, *map(str, words)], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"learning_probe {words[0]} failed: {done.stderr}")
    return done.stdout


def examples(rng):
    return [{"prompt_length": rng.randint(1, 9), "tokens": [rng.randrange(151) for _ in range(rng.randint(11, 50))]}
            for _ in range(6)]


def agree(what, ours, theirs, tolerance):
    if ours.keys() != theirs.keys():
        sys.exit(f"{what}: different tensors: {sorted(ours.keys() ^ theirs.keys())}")
    worst = max((ours[name] - theirs[name]).abs().max().item() for name in ours)
    moved = max(tensor.abs().max().item() for tensor in theirs.values())
    print(f"{what}: {len(ours)} tensors within {worst:.1e} of numbers up to {moved:.1e}")
    if not worst < tolerance:
        sys.exit(f"{what}: ours differ from those of transformers by {worst}")


def loss_of(model, sequences):
    total, count = 0, 0
    for sequence in sequences:
        ids, begin = torch.tensor([sequence["tokens"]]), sequence["prompt_length"]
        logprobs = model(ids).logits[0].log_softmax(-1)[begin - 1:-1]
        total = total - logprobs.gather(1, ids[0, begin:, None]).sum()
        count += len(sequence["tokens"]) - begin
    return total / count


def their_step(model, parameters, sequences):
    """Updates the parameters. Returns the gradients before clipping."""
    loss_of(model, sequences).backward()
    gradients = {name: p.grad.clone() for name, p in parameters.items()}
    torch.nn.utils.clip_grad_norm_(parameters.values(), SETTINGS["max_grad_norm"])
    matrices = [p for p in parameters.values() if p.dim() > 1]
    vectors = [p for p in parameters.values() if p.dim() == 1]
    torch.optim.AdamW([{"params": matrices, "weight_decay": SETTINGS["weight_decay"]},
                       {"params": vectors, "weight_decay": 0.0}],
                      lr=SETTINGS["learning_rate"], betas=(0.9, 0.95), eps=SETTINGS["epsilon"]).step()
    return gradients


def compare_step(family, directory, sequences, out):
    model = AutoModelForCausalLM.from_pretrained(directory, dtype=torch.float32)
    parameters = dict(model.named_parameters())
    gradients = their_step(model, parameters, sequences)
    probe("step", directory, json.dumps(sequences), json.dumps(SETTINGS), out)
    agree(f"{family}: gradients", load_file(f"{out}/gradients.safetensors"), gradients, 1e-5)
    agree(f"{family}: weights after AdamW", load_file(f"{out}/model.safetensors"),
          {name: p.detach() for name, p in parameters.items()}, STEPPED)


def adapted(directory, adapter):
    """Makes a model with random adapters that peft saves. Returns it and its trainable parameters by their names in the
    file."""
    base = AutoModelForCausalLM.from_pretrained(directory, dtype=torch.float32)
    model = peft.get_peft_model(base, peft.LoraConfig(r=RANK, lora_alpha=ALPHA, target_modules=TARGETS,
                                                      lora_dropout=0.0, task_type="CAUSAL_LM"))
    parameters = {name.replace(".default", ""): p for name, p in model.named_parameters() if p.requires_grad}
    with torch.no_grad():
        for parameter in parameters.values():
            parameter.uniform_(-0.3, 0.3)
    model.save_pretrained(adapter)
    return model, parameters


def compare_adapter(family, directory, sequences, scratch):
    adapter, out = f"{scratch}/adapter-{family}", f"{scratch}/adapted-{family}"
    model, parameters = adapted(directory, adapter)
    gradients = their_step(model, parameters, sequences)
    probe("adapt", directory, adapter, json.dumps(sequences), json.dumps(SETTINGS), out)
    agree(f"{family}: gradients of an adapter", load_file(f"{out}/gradients.safetensors"), gradients, 2e-5)
    agree(f"{family}: the adapter after AdamW", load_file(f"{out}/adapter/adapter_model.safetensors"),
          {name: p.detach() for name, p in parameters.items()}, STEPPED)
    ids = torch.tensor([sequences[0]["tokens"]])
    merged = AutoModelForCausalLM.from_pretrained(out, dtype=torch.float32)
    base = AutoModelForCausalLM.from_pretrained(directory, dtype=torch.float32)
    again = peft.PeftModel.from_pretrained(base, f"{out}/adapter")
    with torch.no_grad():
        expected = {"": model(ids).logits}
        agree(f"{family}: logits of our merged weights", {"": merged(ids).logits}, expected, 1e-4)
        agree(f"{family}: logits of our adapter in peft", {"": again(ids).logits}, expected, 1e-4)


def compare_greedy(family, directory, rng):
    model = AutoModelForCausalLM.from_pretrained(directory, dtype=torch.float32)
    for length in (1, 7, 60):
        prompt = [rng.randrange(151) for _ in range(length)]
        ours = json.loads(probe("greedy", directory, json.dumps(prompt), 40))
        ids = torch.tensor([prompt])  # its mask is needed, because `generate` would take token 0 for padding
        theirs = model.generate(ids, attention_mask=torch.ones_like(ids), do_sample=False, max_new_tokens=40,
                                eos_token_id=None, pad_token_id=0)[0, length:].tolist()
        if ours != theirs:
            sys.exit(f"{family}: greedy continuations differ\n  ours   {ours}\n  theirs {theirs}")
    print(f"{family}: greedy continuations agree token for token")


def main():
    rng = random.Random(2)
    torch.manual_seed(2)
    with tempfile.TemporaryDirectory() as scratch:
        for family in FAMILIES:
            directory = f"{scratch}/{family}"
            model_of(family, tie_word_embeddings=family == "qwen2").save_pretrained(directory)
            sequences = examples(rng)
            compare_step(family, directory, sequences, f"{scratch}/stepped-{family}")
            compare_adapter(family, directory, sequences, scratch)
            compare_greedy(family, directory, rng)


main()
