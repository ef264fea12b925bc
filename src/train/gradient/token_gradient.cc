#include "train/gradient/token_gradient.h"

#include <ATen/ATen.h>

#include "model/layers/head_gradient.h"

namespace tritonsmith::train {

void add_token_gradient(const model::Transformer& model, const MicroBatch& batch,
                        double temperature, Dependence dependence,
                        const Coefficients& coefficients) {
  const at::Tensor hidden = predicting_states(model, batch);  // [N, H]
  const model::HeadWeights head = model.head();
  if (dependence == Dependence::token && model::serves_head_gradient(head, hidden)) {
    const auto ask = [&](std::int64_t begin,
                         const model::LogprobAndEntropy& now) -> model::LogprobAndEntropy {
      const TokenGradient gradient = coefficients(
          {.batch = batch, .begin = begin, .logprob = now.logprob, .entropy = now.entropy});
      return {.logprob = gradient.logprob, .entropy = gradient.entropy};
    };
    hidden.backward(model::head_gradient(head, hidden.detach(), batch.targets, temperature, ask));
    return;
  }
  const auto now = model::linear_logprob(hidden, model.head_weight(), batch.targets, temperature);
  const TokenGradient gradient = coefficients(
      {.batch = batch, .logprob = now.logprob.detach(), .entropy = now.entropy.detach()});
  at::Tensor loss = (now.logprob * gradient.logprob).sum();
  if (gradient.entropy.defined()) loss = loss + (now.entropy * gradient.entropy).sum();
  loss.backward();
}

}  // namespace tritonsmith::train
