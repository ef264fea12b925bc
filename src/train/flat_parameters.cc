#include "train/flat_parameters.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "base/check.h"

namespace tritonsmith::train {
namespace {

// Every parameter begins on a cache line, for the vector instructions of the kernels that read it.
constexpr std::int64_t kAlignment = 16;

std::int64_t padded(std::int64_t count, std::int64_t unit = kAlignment) {
  return (count + unit - 1) / unit * unit;
}

}  // namespace

FlatParameters::FlatParameters(const std::vector<at::Tensor>& parameters) {
  CHECK(!parameters.empty(), "a model without parameters");
  std::vector<at::Tensor> ordered = parameters;
  std::ranges::stable_partition(ordered, [](const at::Tensor& t) { return t.dim() >= 2; });
  std::int64_t total = 0;
  for (const at::Tensor& tensor : ordered) {
    CHECK(tensor.scalar_type() == at::kFloat, "master weights are fp32");
    total += padded(tensor.numel());
    parameter_count_ += tensor.numel();
    if (tensor.dim() >= 2) decayed_ = total;
  }
  adopt(ordered, padded(total, kRow));
}

void FlatParameters::adopt(const std::vector<at::Tensor>& ordered, std::int64_t total) {
  const at::NoGradGuard no_grad;
  const auto options = ordered.front().options().requires_grad(false);
  values_ = at::zeros({total}, options);
  gradients_ = at::zeros({total}, options);
  std::int64_t begin = 0;
  for (at::Tensor parameter : ordered) {
    const std::int64_t count = parameter.numel();
    const at::Tensor view = values_.narrow(0, begin, count).view(parameter.sizes());
    view.copy_(parameter);
    parameter.set_data(view);
    parameter.mutable_grad() = gradients_.narrow(0, begin, count).view(parameter.sizes());
    begin += padded(count);
  }
}

}  // namespace tritonsmith::train
