#include "algorithm/aggregation.h"

#include "base/check.h"

namespace tritonsmith::algorithm {

std::vector<double> token_weights(std::span<const std::int64_t> lengths, Aggregation aggregation,
                                  std::int64_t horizon) {
  CHECK(aggregation != Aggregation::fixed_length || horizon > 0, "horizon is {}", horizon);
  double tokens = 0, sequences = 0;
  for (const std::int64_t length : lengths) {
    tokens += static_cast<double>(length);
    sequences += length > 0 ? 1 : 0;
  }
  std::vector<double> weights;
  weights.reserve(lengths.size());
  for (const std::int64_t length : lengths) {
    double divisor = tokens;
    if (aggregation == Aggregation::sequence_mean)
      divisor = sequences * static_cast<double>(length);
    else if (aggregation == Aggregation::fixed_length)
      divisor = sequences * static_cast<double>(horizon);
    weights.push_back(length > 0 ? 1.0 / divisor : 0.0);
  }
  return weights;
}

}  // namespace tritonsmith::algorithm
