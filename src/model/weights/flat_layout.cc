#include "model/weights/flat_layout.h"

namespace tritonsmith::model {
namespace {

// Every parameter begins on a cache line, for the vector instructions of the kernels.
constexpr std::int64_t kAlignment = 16;

std::int64_t padded(std::int64_t count, std::int64_t unit = kAlignment) {
  return (count + unit - 1) / unit * unit;
}

}  // namespace

FlatLayout flat_layout(const std::vector<at::Tensor>& parameters) {
  FlatLayout layout{.offsets = std::vector<std::int64_t>(parameters.size())};
  for (const bool matrices : {true, false}) {
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      if ((parameters[i].dim() >= 2) != matrices) continue;
      layout.offsets[i] = layout.total;
      layout.total += padded(parameters[i].numel());
      layout.parameter_count += parameters[i].numel();
    }
    if (matrices) layout.matrices = layout.total;
  }
  layout.total = padded(layout.total, FlatLayout::kRow);
  return layout;
}

}  // namespace tritonsmith::model
