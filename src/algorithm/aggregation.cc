#include "algorithm/aggregation.h"

#include "base/check.h"

namespace tritonsmith::algorithm {

std::vector<double> token_weights(std::span<const std::int64_t> lengths, Aggregation aggregation,
                                  const AggregationScope& scope) {
  double tokens = 0, sequences = 0;
  for (const std::int64_t length : lengths) {
    tokens += static_cast<double>(length);
    sequences += length > 0 ? 1 : 0;
  }
  const auto horizon = static_cast<double>(scope.horizon);
  const auto divisor_of = [&](std::int64_t length) {
    switch (aggregation) {
      case Aggregation::token_mean:
        return tokens;
      case Aggregation::step_token_mean:
        CHECK(scope.step_tokens > 0, "the step has {} tokens", scope.step_tokens);
        return static_cast<double>(scope.step_tokens) / static_cast<double>(scope.updates);
      case Aggregation::sequence_mean:
        return sequences * static_cast<double>(length);
      case Aggregation::fixed_length:
        CHECK(horizon > 0, "horizon is {}", horizon);
        return sequences * horizon;
      case Aggregation::fixed_total:
        break;
    }
    CHECK(horizon > 0, "horizon is {}", horizon);
    return static_cast<double>(lengths.size()) * horizon;
  };
  std::vector<double> weights;
  weights.reserve(lengths.size());
  for (const std::int64_t length : lengths)
    weights.push_back(length > 0 ? 1.0 / divisor_of(length) : 0.0);
  return weights;
}

}  // namespace tritonsmith::algorithm
