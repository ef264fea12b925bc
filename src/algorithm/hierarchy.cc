#include "algorithm/hierarchy.h"

#include <algorithm>

#include "base/check.h"

namespace tritonsmith::algorithm {

std::size_t plan_length(const Kernel& kernel, std::size_t tokens) {
  return kernel.plan_tokens.empty() ? 0 : std::min(kernel.plan_tokens.end, tokens);
}

std::vector<float> hierarchical_advantages(std::size_t plan_tokens, std::size_t tokens,
                                           const ClassAdvantages& advantages, double alpha) {
  CHECK(plan_tokens <= tokens, "a plan of {} tokens among {}", plan_tokens, tokens);
  std::vector<float> values(tokens, static_cast<float>(advantages.code));
  std::fill_n(values.begin(), plan_tokens, static_cast<float>(alpha * advantages.plan));
  return values;
}

}  // namespace tritonsmith::algorithm
