"""Compares our rendering of ChatML and Llama 3's format with chat templates applied by `transformers`: ids and
assistant mask.

    compare_chat.py PROBE     PROBE is the built tokenizer_probe

Exits non-zero at the first disagreement, which it prints.
"""
import json
import random
import struct
import subprocess
import sys
import tempfile

from tokenizers import Tokenizer
from transformers import PreTrainedTokenizerFast

PROBE = sys.argv[1]
CHAT_ML = dict(special=["<|endoftext|>", "<|im_start|>", "<|im_end|>"], template=(
    "{% for m in messages %}{% if m.role == 'assistant' %}<|im_start|>assistant\n"
    "{% generation %}{{ m.content }}<|im_end|>{% endgeneration %}{{ '\n' }}"
    "{% else %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endif %}{% endfor %}"))
LLAMA3 = dict(
    special=["<|begin_of_text|>", "<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>"], template=(
        "{{ bos_token }}{% for m in messages %}<|start_header_id|>{{ m.role }}<|end_header_id|>{{ '\n\n' }}"
        "{% if m.role == 'assistant' %}{% generation %}{{ m.content | trim }}<|eot_id|>{% endgeneration %}"
        "{% else %}{{ m.content | trim }}<|eot_id|>{% endif %}{% endfor %}"))
CORPUS = ["import triton\nimport triton.language as tl\n\n@triton.jit\ndef kernel(x_ptr, n):\n    pass\n",
          "Turn this PyTorch module into a Triton kernel, please. Thank you! 12345 größer 漢字\n"] * 3


def probe(mode, argument, frames):
    stdin = b"".join(struct.pack("<I", len(f)) + f for f in frames)
    done = subprocess.run([PROBE, mode, argument], input=stdin, capture_output=True)
    if done.returncode:
        sys.exit(f"the probe failed: {done.stderr.decode()}")
    answers, at = [], 0
    while at < len(done.stdout):
        (size,) = struct.unpack_from("<I", done.stdout, at)
        answers.append(done.stdout[at + 4:at + 4 + size])
        at += 4 + size
    return answers


def conversations(rng):
    words = ["\u3000", "\u00a0", "\x1c", "\t", "add", "two tensors", "\n",
             "def f(x):\n    return x", "12", "größer", "漢字", " ", "```python\n", "'ll"]
    for _ in range(500):
        roles = (["system"] if rng.random() < 0.5 else []) + ["user", "assistant"] * rng.randint(1, 4)
        yield [{"role": role, "content": "".join(rng.choices(words, k=rng.randint(1, 8)))} for role in roles]


def tidied(conversation):
    # After "assistant\n" the model writes its own first token. So text that merges with that newline cannot be a sampled
    # completion.
    return [dict(m, content=m["content"].lstrip() or "x") if m["role"] == "assistant" else m for m in conversation]


def main():
    rng = random.Random(20260103)
    given = [tidied(c) for c in conversations(rng)]
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/tokenizer.json"
        for name, format, pieces in (("ChatML", CHAT_ML, "qwen2"), ("ChatML", CHAT_ML, "lines"),
                                     ("Llama 3", LLAMA3, "qwen2")):
            settings = {"vocabulary_size": 500, "pieces": pieces, "special": format["special"]}
            (trained,) = probe("train", json.dumps(settings), [t.encode() for t in CORPUS])
            open(path, "wb").write(trained)
            theirs = PreTrainedTokenizerFast(tokenizer_object=Tokenizer.from_file(path), bos_token=format["special"][0],
                                             chat_template=format["template"])
            answers = probe("chat", path, [json.dumps(c).encode() for c in given])
            compared = 0
            for i, conversation in enumerate(given):
                ids = list(struct.unpack(f"<{len(answers[2 * i]) // 4}i", answers[2 * i]))
                mask = list(answers[2 * i + 1])
                other = theirs.apply_chat_template(conversation, return_assistant_tokens_mask=True, return_dict=True)
                if pieces == "lines" and ids != other["input_ids"]:
                    # A lines tokenizer may join "assistant\n" with the next text. The decoded text must still agree.
                    if theirs.decode(ids) != theirs.apply_chat_template(conversation, tokenize=False):
                        sys.exit(f"text: disagreement over {conversation!r}")
                    continue
                if ids != other["input_ids"] or mask != other["assistant_masks"]:
                    sys.exit(f"{name}, {pieces}: disagreement over {conversation!r}\n  ours   {ids} {mask}\n"
                             f"  theirs {other['input_ids']} {other['assistant_masks']}")
                compared += 1
            print(f"{name}, {pieces}: {len(given)} conversations agree, {compared} of them token by token")


if __name__ == "__main__":
    main()
