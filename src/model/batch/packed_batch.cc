#include "model/batch/packed_batch.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <numeric>

#include "base/check.h"

namespace tritonsmith::model {

std::int64_t PackedBatch::longest() const {
  std::int64_t longest = 0;
  for (std::int64_t b = 0; b < sequences(); ++b)
    longest = std::max(longest, before(b) + rows_of(b));
  return longest;
}

std::int64_t PackedBatch::longest_rows() const {
  std::int64_t longest = 0;
  for (std::int64_t b = 0; b < sequences(); ++b) longest = std::max(longest, rows_of(b));
  return longest;
}

bool PackedBatch::is_shared() const {
  return std::ranges::any_of(prefixes, [](const SharedPrefix& each) { return each.length > 0; });
}

std::vector<std::int64_t> PackedBatch::positions() const {
  std::vector<std::int64_t> positions(static_cast<std::size_t>(length()));
  for (std::int64_t b = 0; b < sequences(); ++b)
    std::iota(positions.begin() + offsets[static_cast<std::size_t>(b)],
              positions.begin() + offsets[static_cast<std::size_t>(b) + 1], before(b));
  return positions;
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

SharedKeys shared_keys(const PackedBatch& batch) {
  SharedKeys keys{.offsets = {0}, .longest = batch.longest()};
  for (std::int64_t b = 0; b < batch.sequences(); ++b) {
    if (const std::int64_t before = batch.before(b); before > 0) {
      const auto of = batch.prefixes[static_cast<std::size_t>(b)].sequence;
      CHECK(of >= 0 && of < b && before <= batch.before(of) + batch.rows_of(of),
            "sequence {} begins with {} tokens of sequence {}", b, before, of);
      for (std::int64_t t = 0; t < before; ++t)
        keys.rows.push_back(
            keys.rows[static_cast<std::size_t>(keys.offsets[static_cast<std::size_t>(of)] + t)]);
    }
    for (std::int64_t t = 0; t < batch.rows_of(b); ++t)
      keys.rows.push_back(batch.offsets[static_cast<std::size_t>(b)] + t);
    keys.offsets.push_back(std::ssize(keys.rows));
  }
  keys.use_offsets.assign(static_cast<std::size_t>(batch.length()) + 1, 0);
  for (const std::int64_t row : keys.rows) ++keys.use_offsets[static_cast<std::size_t>(row) + 1];
  std::partial_sum(keys.use_offsets.begin(), keys.use_offsets.end(), keys.use_offsets.begin());
  std::vector<std::int64_t> next(keys.use_offsets.begin(), keys.use_offsets.end() - 1);
  keys.uses.resize(keys.rows.size());
  for (std::size_t k = 0; k < keys.rows.size(); ++k)
    keys.uses[static_cast<std::size_t>(next[static_cast<std::size_t>(keys.rows[k])]++)] =
        static_cast<std::int64_t>(k);
  return keys;
}

}  // namespace tritonsmith::model
