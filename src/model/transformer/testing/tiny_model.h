// Makes a model with a few thousand random weights whose sizes match no block size of a kernel. It
// serves tests that move weights around and do not check the model's results.
#pragma once

#include "model/transformer/transformer.h"

namespace tritonsmith::model {

inline Transformer tiny_model() {
  return Transformer::random({.vocab_size = 31,
                              .hidden_size = 24,
                              .intermediate_size = 40,
                              .num_hidden_layers = 2,
                              .num_attention_heads = 4,
                              .num_key_value_heads = 2,
                              .head_dim = 6,
                              .max_position_embeddings = 64},
                             3);
}

}  // namespace tritonsmith::model
