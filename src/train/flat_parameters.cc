#include "train/flat_parameters.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>

#include "base/check.h"
#include "model/flat_layout.h"

namespace tritonsmith::train {

FlatParameters::FlatParameters(const std::vector<at::Tensor>& parameters, int shards) {
  CHECK(!parameters.empty(), "a model without parameters");
  for (const at::Tensor& tensor : parameters)
    CHECK(tensor.scalar_type() == at::kFloat, "master weights are fp32");
  const model::FlatLayout layout = model::flat_layout(parameters);
  decayed_ = layout.matrices;
  parameter_count_ = layout.parameter_count;
  saved_count_ = layout.total;
  const std::int64_t unit = model::FlatLayout::kRow * shards;
  const std::int64_t total = (layout.total + unit - 1) / unit * unit;
  const at::NoGradGuard no_grad;
  const auto options = parameters.front().options().requires_grad(false);
  values_ = at::zeros({total}, options);
  gradients_ = at::zeros({total}, options);
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    at::Tensor parameter = parameters[i];
    const auto part = [&](const at::Tensor& flat) {
      return flat.narrow(0, layout.offsets[i], parameter.numel()).view(parameter.sizes());
    };
    part(values_).copy_(parameter);
    parameter.set_data(part(values_));
    parameter.mutable_grad() = part(gradients_);
  }
}

FlatPart FlatParameters::part(std::int64_t begin, std::int64_t count) const {
  return {.values = values_.narrow(0, begin, count),
          .gradients = gradients_.narrow(0, begin, count),
          .decayed = std::clamp(decayed_ - begin, std::int64_t{0}, count)};
}

}  // namespace tritonsmith::train
