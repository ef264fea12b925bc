#include "gym/timing/output_archive.h"

#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>
#include <fmt/format.h>

#include <limits>

#include "gym/trial/perturb/perturbation.h"

namespace tritonsmith::gym::timing {
namespace {

constexpr std::int64_t kWord = 8;

at::Tensor as_bytes(const at::Tensor& contiguous) { return contiguous.view({-1}).view(at::kByte); }

}  // namespace

void OutputArchive::keep(std::span<const at::Tensor> outputs) {
  const c10::InferenceMode no_gradients(true);
  const std::size_t nth = rounds_.size();
  std::vector<StoredOutput>& round = rounds_.emplace_back();
  for (const at::Tensor& output : outputs) {
    const auto bytes = static_cast<std::int64_t>(output.nbytes());
    at::Tensor words =
        at::zeros({(bytes + kWord - 1) / kWord}, at::dtype(at::kLong).device(output.device()));
    if (bytes > 0) as_bytes(words).narrow(0, 0, bytes).copy_(as_bytes(output));
    mask(nth, round.size(), words);
    round.push_back({.dtype = output.scalar_type(),
                     .sizes = output.sizes().vec(),
                     .bytes = bytes,
                     .masked = std::move(words)});
  }
}

void OutputArchive::mask(std::size_t nth, std::size_t k, const at::Tensor& words) const {
  device_.seed(trial::trial_seed(secret_, fmt::format("archive/{}", k), static_cast<int>(nth)));
  at::Tensor key = at::empty_like(words);
  key.random_(std::numeric_limits<std::int64_t>::lowest(), std::optional<std::int64_t>());
  words.bitwise_xor_(key);
  device_.forget({&key, 1});
}

std::vector<at::Tensor> OutputArchive::masked(std::size_t nth) const {
  std::vector<at::Tensor> words;
  for (const StoredOutput& kept : rounds_.at(nth)) words.push_back(kept.masked);
  return words;
}

std::vector<at::Tensor> OutputArchive::read(std::size_t nth) const {
  const c10::InferenceMode no_gradients(true);
  std::vector<at::Tensor> outputs;
  for (std::size_t k = 0; k < rounds_.at(nth).size(); ++k) {
    const StoredOutput& kept = rounds_[nth][k];
    const at::Tensor words = kept.masked.clone();
    mask(nth, k, words);
    at::Tensor output = at::empty(kept.sizes, words.options().dtype(kept.dtype));
    if (kept.bytes > 0) as_bytes(output).copy_(as_bytes(words).narrow(0, 0, kept.bytes));
    outputs.push_back(std::move(output));
  }
  return outputs;
}

}  // namespace tritonsmith::gym::timing
