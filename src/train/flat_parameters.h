// FlatParameters: all weights of a model in one fp32 buffer, and all their gradients in another, so
// that an optimizer step is a few passes over contiguous memory instead of hundreds of small calls.
// The model's own tensors become views of these buffers. They lie as model::FlatLayout says:
// vectors (norms, biases) behind the matrices, so weight decay ends at `decayed`. Where several
// ranks share the optimizer, zeros at the end make the buffers as long as equal shards need.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace tritonsmith::train {

// A stretch of the buffers.
struct FlatPart {
  at::Tensor values, gradients;  // [N]
  std::int64_t decayed = 0;      // the first so many take weight decay
};

class FlatParameters {
 public:
  // Takes the parameters over: their storage moves into the flat buffer, their gradients are
  // allocated and zero. All fp32 and on one device; a tensor shared by two names comes once.
  explicit FlatParameters(const std::vector<at::Tensor>& parameters, int shards = 1);

  const at::Tensor& values() const { return values_; }        // [P]
  const at::Tensor& gradients() const { return gradients_; }  // [P]
  std::int64_t decayed() const { return decayed_; }           // the first so many take weight decay
  std::int64_t parameter_count() const { return parameter_count_; }  // without padding
  // Without the zeros for the shards: what is saved, whatever the number of ranks.
  std::int64_t saved_count() const { return saved_count_; }
  FlatPart part(std::int64_t begin, std::int64_t count) const;
  FlatPart whole() const { return part(0, values_.numel()); }
  void zero_gradients() { gradients_.zero_(); }

 private:
  at::Tensor values_, gradients_;
  std::int64_t decayed_ = 0;
  std::int64_t parameter_count_ = 0;
  std::int64_t saved_count_ = 0;
};

}  // namespace tritonsmith::train
