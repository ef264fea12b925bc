// CpuDecoder: decoding in float32 with the kernels of model/cpu.
#pragma once

#include "generate/engine/decoder.h"
#include "model/cpu/attention.h"
#include "model/cpu/layer.h"
#include "model/cpu/scratch.h"

namespace tritonsmith::generate::engine {

class CpuDecoder : public Decoder {
 public:
  CpuDecoder(const model::Transformer& model, int slots);
  void refresh() override;
  void reserve(int slot, std::int64_t length) override;
  void prefill(std::span<const Prompt> prompts, float* logits) override;
  void copy(int from, int to, std::int64_t length) override;
  void decode(std::span<const Step> steps, float* logits) override;

 private:
  // Keys are stored transposed: a query's products with them are then rows.
  struct Slot {
    std::int64_t capacity = 0;
    std::vector<float> keys;    // [layers, kv_heads, D, capacity]
    std::vector<float> values;  // [layers, kv_heads, capacity, D]
  };
  float* keys(Slot& slot, std::size_t layer, std::int64_t kv_head) const;
  float* values(Slot& slot, std::size_t layer, std::int64_t kv_head) const;
  // Keys and values of a row of projections become position `at` of the slot.
  void append(Slot& slot, std::size_t layer, std::int64_t kv_head, const float* qkv,
              std::int64_t at) const;
  void embed(std::span<const TokenId> tokens, float* x) const;
  void decode_share(std::span<const Step> steps, float* logits);
  void attend_slots(std::size_t layer, std::span<const Step> steps, const float* qkv,
                    float* attended);
  model::cpu::Rope<float> rope() const;

  const model::Transformer& model_;
  model::cpu::LayerShape shape_;
  std::vector<model::cpu::TransposedLayer<float>> layers_;
  std::vector<float> transposed_head_;      // [H, V]
  std::vector<float> rope_cos_, rope_sin_;  // [positions, D / 2]
  std::vector<Slot> slots_;
};

}  // namespace tritonsmith::generate::engine
