#include "algorithm/kl.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "algorithm/log_ratio.h"
#include "base/check.h"

namespace tritonsmith::algorithm {

KlTokens kl_of_tokens(const at::Tensor& logprob, const at::Tensor& reference,
                      KlEstimator estimator) {
  const at::Tensor x = (reference - logprob).clamp(-kLargestLogRatio, kLargestLogRatio);  // [N]
  switch (estimator) {
    case KlEstimator::k1:
      return {.value = -x, .derivative = at::ones_like(x)};
    case KlEstimator::k2:
      return {.value = x * x / 2, .derivative = -x};
    case KlEstimator::k3:
      break;
  }
  const at::Tensor ratio = x.exp();
  return {.value = ratio - x - 1, .derivative = 1 - ratio};
}

double kl_of_completion(std::span<const float> logprobs, std::span<const float> reference,
                        KlEstimator estimator) {
  CHECK(logprobs.size() == reference.size(), "{} against {} tokens", logprobs.size(),
        reference.size());
  const auto row = [](std::span<const float> values) {
    return at::tensor(at::ArrayRef<float>(values.data(), values.size()), at::kFloat)
        .to(at::kDouble);
  };
  return kl_of_tokens(row(logprobs), row(reference), estimator).value.sum().item<double>();
}

std::vector<double> distillation_advantages(std::span<const float> logprobs,
                                            std::span<const float> teacher) {
  CHECK(logprobs.size() == teacher.size(), "{} against {} tokens", logprobs.size(), teacher.size());
  std::vector<double> advantages;
  for (std::size_t i = 0; i < logprobs.size(); ++i)
    advantages.push_back(std::clamp(static_cast<double>(teacher[i]) - logprobs[i],
                                    -kLargestLogRatio, kLargestLogRatio));
  return advantages;
}

}  // namespace tritonsmith::algorithm
