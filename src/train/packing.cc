#include "train/packing.h"

#include <numeric>

#include "base/check.h"
#include "base/rng.h"

namespace tritonsmith::train {

std::int64_t TrainingSequence::trained() const {
  std::int64_t count = 0;
  for_each_trained([&](std::size_t) { ++count; });
  return count;
}

std::vector<std::vector<std::size_t>> pack_in_order(std::span<const std::int64_t> lengths,
                                                    std::int64_t budget) {
  std::vector<std::vector<std::size_t>> batches;
  std::int64_t filled = 0;
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    if (batches.empty() || filled + lengths[i] > budget) {
      batches.emplace_back();
      filled = 0;
    }
    batches.back().push_back(i);
    filled += lengths[i];
  }
  return batches;
}

EpochOrder::EpochOrder(std::uint64_t seed, std::string_view purpose, std::size_t examples)
    : seed_(seed), purpose_(purpose), order_(examples) {
  CHECK(examples > 0, "an order of no examples");
  shuffle_for(0);
}

std::size_t EpochOrder::at(std::uint64_t place) {
  if (const std::uint64_t epoch = place / order_.size(); epoch != epoch_) shuffle_for(epoch);
  return order_[place % order_.size()];
}

void EpochOrder::shuffle_for(std::uint64_t epoch) {
  epoch_ = epoch;
  std::iota(order_.begin(), order_.end(), std::size_t{0});
  Rng(seed_, purpose_, epoch).shuffle(order_);
}

}  // namespace tritonsmith::train
