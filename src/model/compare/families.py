"""Tiny random models of each family that we serve, made by `transformers`."""
import torch
from transformers import AutoModelForCausalLM, LlamaConfig, Qwen2Config, Qwen3Config

FAMILIES = ("qwen2", "qwen3", "llama")
SIZES = dict(vocab_size=151, hidden_size=60, intermediate_size=100, num_hidden_layers=2, num_attention_heads=6,
             num_key_value_heads=3, initializer_range=0.2, max_position_embeddings=512)
LLAMA_ROPE = dict(rope_type="llama3", factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0,
                  original_max_position_embeddings=64)


def model_of(family, **more):
    """Makes a random model of the family. Biases and norms are random, too."""
    sizes = {**SIZES, **more}
    config = {"qwen2": lambda: Qwen2Config(rope_theta=1e6, **sizes),
              # As in real models, a head is wider than its share of the hidden size.
              "qwen3": lambda: Qwen3Config(rope_theta=1e6, head_dim=20, **sizes),
              "llama": lambda: LlamaConfig(rope_theta=5e5, rope_scaling=LLAMA_ROPE, eos_token_id=[2, 3],
                                           **sizes)}[family]()
    model = AutoModelForCausalLM.from_config(config)
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() == 1:
                parameter.add_(torch.randn_like(parameter) * 0.3)
    return model
