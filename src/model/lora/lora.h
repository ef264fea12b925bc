// LoraAdapter: low-rank changes of a model's linear weights (Hu et al. 2021, arXiv 2106.09685),
//   W = W0 + scale * B A      A [r, in], B [out, r], scale = alpha / r
// in the layout of the package PEFT. The model's own tensors hold W. Trainer, engine and kernels
// therefore compute with merged weights and need no code for adapters. The adapter keeps W0 exactly
// as it was loaded, in bfloat16 if that is exact.
//
// The gradients of A and B follow from that of W: dA = scale B^T dW, dB = scale dW A^T. This costs
// a dense gradient for each adapted weight, but saves the optimizer its two moments. One thread
// uses the adapter.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/config.h"
#include "model/transformer/transformer.h"

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
  // Makes an adapter with PEFT's initial values: A is uniform within 1 / sqrt(in), B is zero, so
  // that the model is unchanged. The result depends on (config, seed) alone. Fails if a target is
  // not a linear weight of a layer. The model must outlive the adapter; it may be moved.
  static Result<LoraAdapter> make(const Transformer& model, const LoraConfig& config,
                                  std::uint64_t seed);
  // Reads adapter_config.json and adapter_model.safetensors, as PEFT or save() writes them, and
  // merges them into the model. The model must have the weights that the adapter was made for.
  // Fails in one line that names the file if it needs another formula than above, or does not fit
  // the model.
  static Result<LoraAdapter> load(const Transformer& model, const std::filesystem::path& directory);
  // `base` names the model that the adapter belongs to, for the record.
  Status save(const std::filesystem::path& directory, const std::string& base) const;

  // Returns the adapter's current state for save() and merged(). The copy shares W0 and has no
  // model.
  LoraAdapter copy() const;
  // Returns W0 + scale B A of the weight with this name, or an undefined tensor if it is not
  // adapted.
  at::Tensor merged(const std::string& name) const;

  // Returns all A and B under PEFT's names, fp32 on the model's device. A trainer allocates their
  // gradients.
  std::vector<NamedTensor> parameters() const;
  // Writes W0 + scale B A into the model.
  void merge();
  // Computes the gradients of A and B from those of the model's weights. The caller must have
  // allocated them.
  void take_gradients();

 private:
  struct Module {
    std::string name;         // the name in the model's files, without ".weight"
    at::Tensor weight, base;  // [out, in], the model's own tensor and the loaded value W0
    at::Tensor a, b;          // [r, in] and [out, r]
  };
  LoraAdapter() = default;
  LoraAdapter(const Transformer& model, const LoraConfig& config);
  at::Tensor product(const Module& module) const;
  double scale() const { return config_.alpha / static_cast<double>(config_.rank); }

  LoraConfig config_;
  std::vector<Module> modules_;
};

// Tells whether the directory holds an adapter rather than a model.
bool is_adapter(const std::filesystem::path& directory);

}  // namespace tritonsmith::model
