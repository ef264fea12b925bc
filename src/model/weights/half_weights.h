// HalfWeights: the 16-bit copy of a model's weights for our CUDA kernels, in one flat buffer with
// FlatLayout's layout. Projections with the same input lie next to each other and form one matrix.
// Training and decoding use this one copy. The optimizer writes it together with the masters, so no
// transfer is needed. Norms are used as float32 from the masters.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "model/weights/model_weights.h"

namespace tritonsmith::model {

struct HalfLayer {
  at::Tensor qkv;       // [(heads + 2 kv_heads) D, H]
  at::Tensor qkv_bias;  // undefined without biases
  at::Tensor o;         // [H, heads D]
  at::Tensor gate_up;   // [2 I, H]
  at::Tensor down;      // [H, I]
};

class HalfWeights {
 public:
  // Tells whether this build has the kernels and they support a model of this shape.
  static bool serve(const ModelConfig& config);

  // The buffer's length is a multiple of `unit`, which is a multiple of FlatLayout::kRow.
  HalfWeights(const ModelWeights& weights, at::ScalarType type, std::int64_t unit);
  // Rounds the masters again if other code than the optimizer has changed them.
  void refresh(const ModelWeights& weights);
  // Afterwards only the optimizer writes the copy, because the masters are no longer whole.
  void stop_following() { follows_ = false; }
  bool follows() const { return follows_; }

  const at::Tensor& flat() const { return flat_; }  // [P]
  // views into `flat`, by parameter
  const std::vector<at::Tensor>& parts() const { return parts_; }
  const std::vector<HalfLayer>& layers() const { return layers_; }
  const at::Tensor& head() const { return head_; }  // [V, H]

 private:
  at::Tensor flat_;
  std::vector<at::Tensor> parts_;  // views into flat_, one for each parameter of the model
  std::vector<HalfLayer> layers_;
  at::Tensor head_;
  std::int64_t version_ = -1;
  bool follows_ = true;
};

}  // namespace tritonsmith::model
