#include "algorithm/hierarchy.h"

#include <algorithm>

#include "base/check.h"

namespace tritonsmith::algorithm {

std::size_t thinking_length(const Kernel& kernel, std::size_t tokens) {
  return kernel.thinking_tokens.empty() ? 0 : std::min(kernel.thinking_tokens.end, tokens);
}

std::vector<float> hierarchical_advantages(std::size_t thinking_tokens, std::size_t tokens,
                                           const ClassAdvantages& advantages, double alpha) {
  CHECK(thinking_tokens <= tokens, "thinking of {} tokens among {}", thinking_tokens, tokens);
  std::vector<float> values(tokens, static_cast<float>(advantages.code));
  std::fill_n(values.begin(), thinking_tokens, static_cast<float>(alpha * advantages.thinking));
  return values;
}

}  // namespace tritonsmith::algorithm
