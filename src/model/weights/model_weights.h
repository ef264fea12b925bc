// ModelWeights: the tensors of a decoder of the Qwen2, Qwen3 or Llama 3 family, under Hugging
// Face's names. The optimizer and the rollout engine work on these same tensors. A Transformer owns
// them.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "model/config/config.h"
#include "model/weights/safetensors.h"

namespace tritonsmith::model {

// The weights of one decoder layer. Linear weights are [out, in], as Hugging Face stores them. A
// weight that the family does not have is undefined.
struct LayerWeights {
  at::Tensor input_norm;  // [H]
  // [heads * D, H] and [heads * D]; only Qwen2 has the biases
  at::Tensor q, q_bias, k, k_bias, v, v_bias;
  at::Tensor q_norm, k_norm;  // [D]; only Qwen3
  at::Tensor o;               // [H, heads * D]
  at::Tensor post_norm;       // [H]
  at::Tensor gate, up;        // [I, H]
  at::Tensor down;            // [H, I]
};

struct ModelWeights {
  // Allocates weights of zeros. The config must have passed check().
  ModelWeights(const ModelConfig& config, c10::Device device, c10::ScalarType dtype);

  // In the order of the file; each is a leaf that requires a gradient. A tied head is listed once,
  // as the embedding.
  std::vector<NamedTensor> parameters;
  at::Tensor embedding;   // [V, H]
  at::Tensor head;        // [V, H]; the embedding itself if tied
  at::Tensor final_norm;  // [H]
  std::vector<LayerWeights> layers;
};

}  // namespace tritonsmith::model
