// HalfWeights: the 16-bit copy of a model's weights that our CUDA kernels compute with, in one
// flat buffer laid out as FlatLayout says. Projections that read the same input lie behind each
// other and are one matrix here. Training and decoding use this one copy: the optimizer writes it
// with the master weights, so nothing is ever handed over. Norms are used as float32, from the
// masters.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "model/config.h"

namespace tritonsmith::model {

struct LayerWeights;
class Transformer;

struct HalfLayer {
  at::Tensor qkv;       // [(heads + 2 kv_heads) D, H]
  at::Tensor qkv_bias;  // undefined where there is none
  at::Tensor o;         // [H, heads D]
  at::Tensor gate_up;   // [2 I, H]
  at::Tensor down;      // [H, I]
};

class HalfWeights {
 public:
  // Whether the kernels are in this build and serve models of this shape.
  static bool serve(const ModelConfig& config);

  // The buffer's length is a multiple of `unit`, which is one of FlatLayout::kRow.
  HalfWeights(const Transformer& model, at::ScalarType type, std::int64_t unit);
  // Rounds the masters again if they have been changed since by anything but the optimizer.
  void refresh(const Transformer& model);
  // From now on the optimizer alone writes the copy: the masters are not whole any more.
  void stop_following() { follows_ = false; }
  bool follows() const { return follows_; }

  const at::Tensor& flat() const { return flat_; }                 // [P]
  const std::vector<at::Tensor>& parts() const { return parts_; }  // by parameter, in `flat`
  const std::vector<HalfLayer>& layers() const { return layers_; }
  const at::Tensor& head() const { return head_; }  // [V, H]

 private:
  at::Tensor flat_;
  std::vector<at::Tensor> parts_;  // of flat_, one for each parameter of the model
  std::vector<HalfLayer> layers_;
  at::Tensor head_;
  std::int64_t version_ = -1;
  bool follows_ = true;
};

}  // namespace tritonsmith::model
