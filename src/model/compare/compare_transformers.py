"""Compares our decoder with `transformers`: it loads what we save, we load what it saves, and the logits agree.

    compare_transformers.py PROBE     PROBE is the built model_probe

Exits non-zero at the first disagreement, which it prints.
"""
import json
import os
import random
import subprocess
import sys
import tempfile

import torch
from transformers import AutoModelForCausalLM, logging

from families import FAMILIES, model_of

PROBE = sys.argv[1]
TOLERANCE = 1e-4
logging.disable_progress_bar()


def probe(*words):
    done = subprocess.run([PROBE, *map(str, words)], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"model_probe {words[0]} failed: {done.stderr}")
    return done.stdout


def compare(what, directory, ids):
    ours = json.loads(probe("logits", directory, json.dumps(ids)))
    theirs = AutoModelForCausalLM.from_pretrained(directory, dtype=torch.float32)
    with torch.no_grad():
        logits = theirs(torch.tensor([ids])).logits[0]
    difference = (torch.tensor(ours["logits"]).view_as(logits) - logits).abs().max().item()
    logprobs = logits.log_softmax(-1)[:-1].gather(1, torch.tensor(ids[1:])[:, None])[:, 0]
    of_logprobs = (torch.tensor(ours["logprobs"]) - logprobs).abs().max().item()
    print(f"{what}: {len(ids)} tokens, logits within {difference:.1e}, logprobs within {of_logprobs:.1e}")
    if not max(difference, of_logprobs) < TOLERANCE:
        sys.exit(f"{what}: our logits differ from those of transformers by {difference}")


def main():
    rng = random.Random(1)
    ids = [rng.randrange(151) for _ in range(400)]
    torch.manual_seed(1)
    with tempfile.TemporaryDirectory() as scratch:
        for family in FAMILIES:
            for tied in ("tied", "untied"):
                ours, theirs, again = (os.path.join(scratch, f"{who}-{family}-{tied}") for who in ("o", "t", "a"))
                probe("random", ours, 7, family, tied)
                compare(f"a {tied} {family} model of ours", ours, ids)
                model_of(family, tie_word_embeddings=tied == "tied").save_pretrained(theirs)
                compare(f"a {tied} {family} model of theirs", theirs, ids)
                probe("resave", theirs, again)
                compare(f"a {tied} {family} model of theirs, saved by us", again, ids)
            sharded = os.path.join(scratch, "sharded-" + family)
            model_of(family).to(torch.bfloat16).save_pretrained(sharded, max_shard_size="100KB")
            if not os.path.exists(os.path.join(sharded, "model.safetensors.index.json")):
                sys.exit("transformers did not shard the model")
            compare(f"a bfloat16 {family} model of theirs in several files", sharded, ids)


main()
