// PackedBatch: several sequences end to end, without padding. Each token attends to the earlier
// ones of its own sequence only, and positions begin at 0 in each.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>
#include <vector>

#include "data/completion.h"

namespace tritonsmith::model {

struct PackedBatch {
  at::Tensor tokens;                  // [T] int64, on the model's device
  std::vector<std::int64_t> offsets;  // [B + 1]: sequence b is tokens [offsets[b], offsets[b + 1])

  std::int64_t sequences() const { return static_cast<std::int64_t>(offsets.size()) - 1; }
  std::int64_t length() const { return offsets.back(); }
  std::int64_t longest() const;
};

PackedBatch pack(std::span<const std::vector<TokenId>> sequences, c10::Device device);

}  // namespace tritonsmith::model
