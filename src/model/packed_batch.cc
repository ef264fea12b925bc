#include "model/packed_batch.h"

#include <ATen/ATen.h>

#include <algorithm>

namespace tritonsmith::model {

std::int64_t PackedBatch::longest() const {
  std::int64_t longest = 0;
  for (std::size_t b = 0; b + 1 < offsets.size(); ++b)
    longest = std::max(longest, offsets[b + 1] - offsets[b]);
  return longest;
}

PackedBatch pack(std::span<const std::vector<TokenId>> sequences, c10::Device device) {
  PackedBatch batch{.offsets = {0}};
  for (const auto& sequence : sequences)
    batch.offsets.push_back(batch.offsets.back() + static_cast<std::int64_t>(sequence.size()));
  batch.tokens = at::empty({batch.length()}, at::TensorOptions().dtype(at::kLong));
  auto* out = batch.tokens.mutable_data_ptr<std::int64_t>();
  for (const auto& sequence : sequences) out = std::copy(sequence.begin(), sequence.end(), out);
  batch.tokens = batch.tokens.to(device);
  return batch;
}

}  // namespace tritonsmith::model
