"""Tests TRL's own GRPOTrainer with rewards from the gym: two steps of a tiny model, and the effect of a fault."""

import logging
import tempfile
import unittest

import torch
from datasets import Dataset
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast, Qwen3Config, Qwen3ForCausalLM
from trl import GRPOConfig, GRPOTrainer

import tritonsmith.trl
from fake_gym import FakeGymTest
from real_gym import KERNEL, RealGymTest, TASK

ANSWER = "<thinking>p</thinking><answer>\n```python\n%s```\n</answer>"


def byte_tokenizer():
    """Makes a tokenizer with one token per byte, so that a model can write any kernel."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer = Tokenizer(models.BPE({character: i for i, character in enumerate([*alphabet, "<end>"])}, []))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="<end>", pad_token="<end>")


def tiny_model(tokenizer):
    torch.manual_seed(1)
    return Qwen3ForCausalLM(Qwen3Config(
        vocab_size=len(tokenizer), hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=2,
        num_key_value_heads=1, head_dim=16, max_position_embeddings=8192, tie_word_embeddings=True))


class WritesWhatWeSay:
    """Makes a rollout function that returns the given completions for the group of each prompt."""

    def __init__(self, completions):
        self.completions = completions

    def __call__(self, prompts, trainer):
        tokenizer = trainer.processing_class
        end = [tokenizer.eos_token_id]
        said = [self.completions[i % len(self.completions)] for i in range(len(prompts))]
        return {"prompt_ids": [tokenizer(prompt)["input_ids"] for prompt in prompts],
                "completion_ids": [tokenizer(text)["input_ids"] + end for text in said], "logprobs": None}


def train(reward, completions=None, steps=2):
    """Returns the trainer after its steps, and how far the weights have moved."""
    tokenizer = byte_tokenizer()
    model = tiny_model(tokenizer)
    before = torch.cat([parameter.detach().flatten().clone() for parameter in model.parameters()])
    rows = Dataset.from_list([{"prompt": "Write a softmax.\n", "task": TASK}] * 4)
    with tempfile.TemporaryDirectory() as folder:
        config = GRPOConfig(
            output_dir=folder, max_steps=steps, num_generations=4, per_device_train_batch_size=4, max_completion_length=40, learning_rate=1e-2,
            logging_steps=1, report_to=[], use_cpu=True, bf16=False, save_strategy="no", disable_tqdm=True, gradient_checkpointing=False)
        trainer = GRPOTrainer(
            model, reward_funcs=reward, args=config, train_dataset=rows, processing_class=tokenizer,
            rollout_func=WritesWhatWeSay(completions) if completions else None)
        trainer.train()
    after = torch.cat([parameter.detach().flatten() for parameter in model.parameters()])
    return trainer, (after - before).abs().max().item()


def logged(trainer, name):
    return [entry[name] for entry in trainer.state.log_history if name in entry]


class WithTheRealGym(RealGymTest):
    def test_two_steps_are_paid_by_the_verdicts(self):
        wrong = ANSWER % KERNEL.replace("tl.exp(", "tl.sin(")
        trainer, moved = train(tritonsmith.trl.kernel_reward(**self.where), [ANSWER % KERNEL, wrong, "I cannot.", ANSWER % "no python ("])
        # A right kernel earns 0.1 + 0.2 + 1, one that compiles but is wrong 0.1 + 0.2, no kernel 0, and form alone 0.1.
        for mean in logged(trainer, "rewards/tritonsmith_kernel/mean"):
            self.assertAlmostEqual(mean, (1.3 + 0.3 + 0.0 + 0.1) / 4, places=5)
        self.assertEqual(len(logged(trainer, "rewards/tritonsmith_kernel/mean")), 2)
        self.assertGreater(moved, 0)

    def test_a_model_that_writes_for_itself_is_judged(self):
        trainer, _ = train(tritonsmith.trl.kernel_reward(**self.where))
        self.assertEqual(logged(trainer, "reward"), [0.0, 0.0])


class WithAGymThatFails(FakeGymTest):
    def reward(self):
        return tritonsmith.trl.kernel_reward(url=self.gym.url, patience=0.2)

    def test_a_fault_is_left_out_of_the_mean_and_teaches_nothing(self):
        logging.getLogger("trl").setLevel(logging.ERROR)
        trainer, moved = train(self.reward(), ["```good```", "```fault```", "```good 2```", "```good 3```"], steps=1)
        self.assertEqual(logged(trainer, "reward"), [1.0])  # This is the mean of three. A fault counted as 0 would give 0.75.
        self.assertEqual(logged(trainer, "reward_std"), [0.0])
        self.assertEqual(moved, 0)  # No sample has an advantage: neither the fault nor the others.


if __name__ == "__main__":
    unittest.main()
