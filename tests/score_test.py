"""Tests `tritonsmith score`, `model merge` and `model export` from outside.

`transformers`, `tokenizers` and `peft` write the models, tiny random ones of each family. Token ids and log-probabilities
must be the same as theirs.

usage: score_test.py PATH_OF_TRITONSMITH
"""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

import peft
import torch
from transformers import AutoModelForCausalLM, PreTrainedTokenizerFast, logging

SOURCES = pathlib.Path(__file__).resolve().parent.parent / "src"
sys.path += [str(SOURCES / "model/compare"), str(SOURCES / "text/compare")]
from compare_tokenizers import llama_like, qwen_like, source_files
from families import FAMILIES, model_of

BINARY = sys.argv[1]
TEXT = ("import triton\n\n@triton.jit\ndef kernel(x_ptr, n, BLOCK: tl.constexpr):\n    at = tl.program_id(0) * BLOCK\n"
        "# gro\u0308\u00dfer, \u6f22\u5b57, 12345 \U0001f600 it's <|im_end|><|eot_id|>\n")
TOLERANCE = 1e-4
logging.disable_progress_bar()


def tritonsmith(*words):
    return subprocess.run([BINARY, *map(str, words)], capture_output=True, text=True)


def score(directory, *words):
    done = tritonsmith("score", "--model", directory, "--device", "cpu", "--json", *words)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("\n") == 1, done.stdout
    answer = json.loads(done.stdout)
    assert list(answer) == ["ids", "logprobs"], answer.keys()
    return answer["ids"], answer["logprobs"]


def logprobs_by(model, ids):
    with torch.no_grad():
        logprobs = model(torch.tensor([ids])).logits[0].float().log_softmax(-1)[:-1]
    return logprobs.gather(1, torch.tensor(ids[1:])[:, None])[:, 0].tolist()


class Score(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        corpus = source_files()[:10]
        makers = {"qwen": qwen_like(corpus)[0], "llama": llama_like(corpus)[0]}
        cls.tokenizers = {family: makers["llama" if family == "llama" else "qwen"] for family in FAMILIES}
        torch.manual_seed(3)
        for family in FAMILIES:
            tokenizer = PreTrainedTokenizerFast(tokenizer_object=cls.tokenizers[family])
            tokenizer.save_pretrained(cls.path(family))
            model = model_of(family, vocab_size=len(tokenizer) + 5, tie_word_embeddings=family != "llama")
            model.to(torch.bfloat16).save_pretrained(cls.path(family), max_shard_size="200KB")
            assert (cls.path(family) / "model.safetensors.index.json").exists()
        (cls.path("text")).write_text(TEXT)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    @classmethod
    def path(cls, name):
        return pathlib.Path(cls.folder.name) / name

    def assert_close(self, ours, theirs):
        self.assertIsNone(ours[0])
        self.assertEqual(len(ours), len(theirs) + 1)
        self.assertLess(max(abs(a - b) for a, b in zip(ours[1:], theirs)), TOLERANCE)

    def test_of_a_text_gives_the_ids_and_logprobs_of_transformers(self):
        for family in FAMILIES:
            model = AutoModelForCausalLM.from_pretrained(self.path(family), dtype=torch.float32)
            ids, logprobs = score(self.path(family), "--text", self.path("text"))
            self.assertEqual(ids, self.tokenizers[family].encode(TEXT).ids)
            self.assert_close(logprobs, logprobs_by(model, ids))
            self.assertEqual(score(self.path(family), "--ids", ",".join(map(str, ids))), (ids, logprobs))

    def test_of_one_token_has_nothing_to_say(self):
        self.assertEqual(score(self.path("qwen3"), "--ids", "7"), ([7], [None]))

    def test_of_an_adapter_gives_the_logprobs_of_peft_and_so_does_the_merged_model(self):
        for family in FAMILIES:
            base = AutoModelForCausalLM.from_pretrained(self.path(family), dtype=torch.float32)
            model = peft.get_peft_model(base, peft.LoraConfig(r=4, lora_alpha=10, task_type="CAUSAL_LM",
                                                              target_modules=["q_proj", "o_proj", "gate_proj"]))
            with torch.no_grad():
                for parameter in model.parameters():
                    if parameter.requires_grad:
                        parameter.uniform_(-0.3, 0.3)
            adapter, merged = self.path(f"{family}-adapter"), self.path(f"{family}-merged")
            model.save_pretrained(adapter)
            ids = list(range(3, 60))
            expected = logprobs_by(model, ids)
            plain = logprobs_by(AutoModelForCausalLM.from_pretrained(self.path(family), dtype=torch.float32), ids)
            self.assertGreater(max(abs(a - b) for a, b in zip(expected, plain)), 0.1)
            words = ("--ids", ",".join(map(str, ids)))
            self.assert_close(score(self.path(family), "--adapter", adapter, *words)[1], expected)
            done = tritonsmith("model", "merge", "--model", self.path(family), "--adapter", adapter, "--out", merged)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assert_close(score(merged, *words)[1], expected)
            again = AutoModelForCausalLM.from_pretrained(merged, dtype=torch.float32)
            self.assert_close([None, *logprobs_by(again, ids)], expected)
            self.assertEqual((merged / "tokenizer.json").read_bytes(),
                             (self.path(family) / "tokenizer.json").read_bytes())

    def test_of_an_exported_model_is_what_transformers_says_of_it(self):
        for family in FAMILIES:
            exported = self.path(f"{family}-exported")
            done = tritonsmith("model", "export", "--model", self.path(family), "--out", exported, "--file-gb", "0.0002")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertGreater(len(list(exported.glob("model-*-of-*.safetensors"))), 1)
            before = AutoModelForCausalLM.from_pretrained(self.path(family), dtype="auto").state_dict()
            model = AutoModelForCausalLM.from_pretrained(exported, dtype="auto")
            self.assertEqual(model.dtype, torch.bfloat16)
            after = model.state_dict()
            self.assertEqual(before.keys(), after.keys())
            for name in before:
                self.assertTrue(torch.equal(before[name], after[name]), name)
            ids = list(range(3, 60))
            theirs = logprobs_by(model.float(), ids)
            self.assert_close(score(exported, "--ids", ",".join(map(str, ids)))[1], theirs)

    def test_of_a_model_that_we_made_is_what_transformers_says_of_its_chat(self):
        made, examples = self.path("made"), self.path("examples.jsonl")
        lines = [{"prompt": f"Add {i} to x.", "completion": f"```python\ny = x + {i}\n```"} for i in range(40)]
        examples.write_text("".join(json.dumps(line) + "\n" for line in lines))
        done = tritonsmith("model", "make", "--examples", examples, "--out", made, "--set", "vocabulary=400")
        self.assertEqual(done.returncode, 0, done.stderr)
        tokenizer = PreTrainedTokenizerFast.from_pretrained(made)  # AutoTokenizer gives every qwen2 Qwen's own rules
        conversation = [{"role": "user", "content": "Add 3 to x."}]
        text = tokenizer.apply_chat_template(conversation, tokenize=False, add_generation_prompt=True)
        self.assertEqual(text, "<|im_start|>user\nAdd 3 to x.<|im_end|>\n<|im_start|>assistant\n")
        self.path("chat").write_text(text)
        ids, logprobs = score(made, "--text", self.path("chat"))
        self.assertEqual(ids, tokenizer(text)["input_ids"])
        model = AutoModelForCausalLM.from_pretrained(made, dtype=torch.float32)
        self.assert_close(logprobs, logprobs_by(model, ids))
        self.assertEqual(model.generation_config.eos_token_id, tokenizer.eos_token_id)

    def refused(self, what_to_do, *words):
        """Checks that the command fails with one line, which says what to do."""
        done = tritonsmith(*words)
        self.assertNotEqual(done.returncode, 0)
        self.assertEqual(done.stdout, "")
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertIn(what_to_do, done.stderr)
        self.assertLess(len(done.stderr), 400)

    def test_errors_are_one_line_that_says_what_to_do(self):
        model, none = self.path("qwen2"), self.path("none")
        run, bare, pickled, adapter = (self.path(name) for name in ("run", "bare", "pickled", "lone-adapter"))
        for folder in (run / "checkpoints", bare, pickled, adapter):
            folder.mkdir(parents=True, exist_ok=True)
        (adapter / "adapter_config.json").write_text("{}")
        for folder in (bare, pickled):
            (folder / "config.json").write_bytes((model / "config.json").read_bytes())
        (pickled / "pytorch_model.bin").write_bytes(b"x")
        (self.path("empty")).write_text("")
        (self.path("file")).write_text("x")
        commands = (("score", "--ids", "1,2", "--device", "cpu"), ("model", "export", "--out", self.path("out")),
                    ("model", "merge", "--adapter", adapter, "--out", self.path("out")))
        for words in commands:
            self.refused("name a model's directory", *words, "--model", none)
            self.refused("is no directory", *words, "--model", self.path("file"))
            self.refused("name one of its models", *words, "--model", run)
            self.refused("name a directory with weights", *words, "--model", bare)
            self.refused("safe_serialization=True", *words, "--model", pickled)
            self.refused("is a LoRA adapter", *words, "--model", adapter)
        score = ("score", "--model", model, "--device", "cpu", "--json")
        self.refused("its ids are 0 to", *score, "--ids", "1,99999")
        self.refused("score a shorter text", *score, "--ids", ",".join("1" * 600))
        self.refused("name a LoRA adapter", *score, "--ids", "1", "--adapter", model)
        self.refused("has no adapter_model.safetensors", *score, "--ids", "1", "--adapter", adapter)
        self.refused("the text is empty", *score, "--text", self.path("empty"))
        self.refused(str(none), *score, "--text", none)
        self.refused("give either --ids or --text", *score)
        self.refused("give either --ids or --text", *score, "--ids", "1", "--text", none)
        self.refused("is in the way", "model", "export", "--model", model, "--out", self.path("file"))
        self.refused("name another directory", "model", "merge", "--model", model, "--adapter", adapter, "--out", model)
        self.refused("name another directory", "model", "export", "--model", model, "--out", model)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
