// LoraAdapter: low-rank changes of a model's linear weights (Hu et al. 2021, arXiv 2106.09685),
//   W = W0 + scale * B A      A [r, in], B [out, r], scale = alpha / r
// in the layout of the package PEFT. The model's own tensors hold W, so trainer, engine and every
// kernel compute with merged weights and know nothing of adapters; W0 is kept aside, exactly as it
// was loaded (in bfloat16 where that is exact). The gradients of A and B follow from that of W: dA
// = scale B^T dW, dB = scale dW A^T. It costs a dense gradient of each adapted weight, and spares
// the optimizer its two moments. One thread uses it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/config.h"
#include "model/transformer.h"

namespace tritonsmith::model {

struct LoraConfig {
  std::int64_t rank = 0;  // 0: no adapter
  double alpha = 16;
  std::vector<std::string> targets = {"q_proj",    "k_proj",  "v_proj",   "o_proj",
                                      "gate_proj", "up_proj", "down_proj"};
  static Fields<LoraConfig> fields();
};

class LoraAdapter {
 public:
  // As PEFT begins: A uniform within 1 / sqrt(in), B zero, so that the model is unchanged. A
  // function of (config, seed). Fails when a target is no linear weight of a layer. The model must
  // outlive the adapter; moving it is fine.
  static Result<LoraAdapter> make(const Transformer& model, const LoraConfig& config,
                                  std::uint64_t seed);
  // adapter_config.json and adapter_model.safetensors, as PEFT or save() wrote them; merged into
  // the model, whose weights are those that the adapter was made for. Fails in one line that names
  // the file when it asks for more than the formula above, or does not fit the model.
  static Result<LoraAdapter> load(const Transformer& model, const std::filesystem::path& directory);
  // `base` is recorded as the model that the adapter belongs to.
  Status save(const std::filesystem::path& directory, const std::string& base) const;

  // The adapter as it is now, for save() and merged(): it shares W0 and knows no model.
  LoraAdapter copy() const;
  // W0 + scale B A of the weight of this name; undefined where it is not adapted.
  at::Tensor merged(const std::string& name) const;

  // All A and B under PEFT's names, fp32 on the model's device. Who trains them allocates their
  // gradients.
  std::vector<NamedTensor> parameters() const;
  // Writes W0 + scale B A into the model.
  void merge();
  // Writes the gradients of A and B, which must be allocated, from those of the model's weights.
  void take_gradients();

 private:
  struct Module {
    std::string name;         // as in the model's files, without ".weight"
    at::Tensor weight, base;  // [out, in], the model's own and what it was loaded with
    at::Tensor a, b;          // [r, in] and [out, r]
  };
  LoraAdapter() = default;
  LoraAdapter(const Transformer& model, const LoraConfig& config);
  at::Tensor product(const Module& module) const;
  double scale() const { return config_.alpha / static_cast<double>(config_.rank); }

  LoraConfig config_;
  std::vector<Module> modules_;
};

// Does the directory hold an adapter rather than a model?
bool is_adapter(const std::filesystem::path& directory);

}  // namespace tritonsmith::model
