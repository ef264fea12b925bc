// AtenDecoder: decoding in plain ATen, for GPUs that our own kernels do not serve. All slots up to
// the highest in use take part in a step, so that attention reads the cache in place. A slot
// without a step gets a token whose result is dropped.
#pragma once

#include <ATen/core/Tensor.h>

#include "generate/engine/decoder.h"
#include "model/layers/aten_layer.h"

namespace tritonsmith::generate::engine {

class AtenDecoder : public Decoder {
 public:
  AtenDecoder(const model::Transformer& model, int slots);
  void refresh() override;
  void reserve(int slot, std::int64_t length) override;
  void prefill(std::span<const Prompt> prompts, float* logits) override;
  void copy(int from, int to, std::int64_t length) override;
  void decode(std::span<const Step> steps, float* logits) override;

 private:
  at::Tensor attend_slots(const model::QueryKeyValue& qkv, std::size_t layer,
                          const at::Tensor& positions, std::int64_t longest);
  void write_logits(const at::Tensor& x, float* logits) const;

  const model::Transformer& model_;
  at::ScalarType dtype_;
  std::int64_t slots_;
  std::int64_t capacity_ = 0;
  std::vector<model::LayerWeights> layers_;  // in the compute dtype
  at::Tensor embedding_, head_;
  model::RopeTable rope_;
  std::vector<at::Tensor> keys_, values_;  // [slots, kv_heads, capacity, D] a layer
};

}  // namespace tritonsmith::generate::engine
