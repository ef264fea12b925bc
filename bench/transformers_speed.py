#!/usr/bin/env python3
"""Does the same work as bench/model_speed with `transformers`, in the usual way: `generate`, and a training loop with torch's
fused AdamW in bfloat16. The model has Qwen2.5-Coder-3B's shape and random weights. Each measurement prints one line: name,
value, unit.

    transformers_speed.py decode ROWS CONTEXT [NEW]
    transformers_speed.py train SEQUENCES LENGTH [checkpointing]
"""
import sys
import time

import torch
from transformers import AutoModelForCausalLM, Qwen2Config


def random_model():
    config = Qwen2Config(
        vocab_size=151936, hidden_size=2048, intermediate_size=11008, num_hidden_layers=36, num_attention_heads=16,
        num_key_value_heads=2, max_position_embeddings=32768, rope_theta=1e6, tie_word_embeddings=True)
    torch.manual_seed(1)
    with torch.device("cuda"):
        return AutoModelForCausalLM.from_config(config, dtype=torch.bfloat16)


def decode(rows, context, new):
    """Measures decoding as the difference of a long and a short run, because both also compute the prompts."""
    model = random_model().eval()
    prompts = torch.randint(151936, (rows, context - new // 2), device="cuda")

    def seconds(tokens):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        model.generate(prompts, max_new_tokens=tokens, min_new_tokens=tokens, do_sample=True, temperature=1.0,
                       top_k=0, top_p=1.0, pad_token_id=0)
        torch.cuda.synchronize()
        return time.perf_counter() - begin

    seconds(2)
    step = (seconds(8 + new) - seconds(8)) / new
    print(f"decode_{rows}x{context}\t{rows / step:.0f}\ttokens/s")
    print(f"decode_{rows}x{context}_step\t{1e3 * step:.3f}\tms")


def train(count, length, checkpointing):
    model = random_model().train()
    if checkpointing:
        model.gradient_checkpointing_enable()
        model.config.use_cache = False
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-6, fused=True)
    tokens = torch.randint(151936, (count, length), device="cuda")
    costs = []
    for _ in range(5):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        model(input_ids=tokens, labels=tokens, use_cache=False).loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        torch.cuda.synchronize()
        costs.append(time.perf_counter() - begin)
    median = sorted(costs[2:])[1]
    parameters = sum(each.numel() for each in model.parameters())
    flops = count * length * (6 * parameters + 6 * 36 * 2048 * length)
    name = f"train_{count}x{length}" + ("_checkpointed" if checkpointing else "")
    print(f"{name}\t{count * length / median:.0f}\ttokens/s")
    print(f"{name}_of_peak\t{100 * flops / median / 989e12:.1f}\t%")
    print(f"{name}_memory\t{torch.cuda.max_memory_reserved() / 1e9:.1f}\tGB")


def main():
    numbers = [int(each) for each in sys.argv[2:4]]
    if sys.argv[1] == "decode":
        decode(*numbers, int(sys.argv[4]) if len(sys.argv) > 4 else 32)
    else:
        train(*numbers, len(sys.argv) > 4)


if __name__ == "__main__":
    main()
