#include "gym/plan/analysis/cost/convolution_work.h"

#include <algorithm>
#include <vector>

namespace tritonsmith::gym::plan::analysis {
namespace {

// aten::convolution(input, weight, bias, stride, padding, dilation, transposed,
// output_padding, groups)
constexpr std::size_t kInput = 0, kWeight = 1, kStride = 3, kPadding = 4, kDilation = 5,
                      kTransposed = 6, kOutputPadding = 7, kArguments = 9;

// One of the dimensions that the filter moves along. All lengths are in elements.
struct Axis {
  std::int64_t input = 0, taps = 0, output = 0, stride = 1, padding = 0, dilation = 1;
  std::int64_t output_padding = 0;
};

const PlanTensor* operand_at(const Plan& task, const Value& value) {
  const auto* ref = std::get_if<TensorRef>(&value.data);
  return ref != nullptr ? &task.tensors.at(static_cast<std::size_t>(ref->index)) : nullptr;
}

// Returns the number for an axis. A list of one number stands for all axes.
std::optional<std::int64_t> number_at(const Value& value, std::size_t axis) {
  const auto* list = std::get_if<List>(&value.data);
  if (list == nullptr || list->items.empty()) return std::nullopt;
  const Value& item = list->items.size() == 1     ? list->items.front()
                      : axis < list->items.size() ? list->items[axis]
                                                  : list->items.back();
  const auto* number = std::get_if<std::int64_t>(&item.data);
  return number != nullptr ? std::optional(*number) : std::nullopt;
}

std::optional<std::vector<Axis>> axes_of(const AtenCall& call, const PlanTensor& input,
                                         const PlanTensor& weight, const PlanTensor& output) {
  const std::size_t rank = weight.shape.size();
  if (rank < 3 || input.shape.size() != rank || output.shape.size() != rank) return std::nullopt;
  std::vector<Axis> axes;
  for (std::size_t k = 0; k + 2 < rank; ++k) {
    const auto stride = number_at(call.args[kStride], k),
               padding = number_at(call.args[kPadding], k),
               dilation = number_at(call.args[kDilation], k),
               output_padding = number_at(call.args[kOutputPadding], k);
    if (!stride || !padding || !dilation || !output_padding) return std::nullopt;
    axes.push_back({.input = input.shape[k + 2],
                    .taps = weight.shape[k + 2],
                    .output = output.shape[k + 2],
                    .stride = *stride,
                    .padding = *padding,
                    .dilation = *dilation,
                    .output_padding = *output_padding});
  }
  return axes;
}

// Says whether every output uses at least one element of the input.
bool has_no_empty_window(const Axis& axis) {
  return axis.padding == 0 || (axis.dilation == 1 && axis.padding < axis.taps);
}

bool reads_whole_input(const Axis& axis) {
  return axis.dilation == 1 && axis.stride <= axis.taps &&
         (axis.output - 1) * axis.stride - axis.padding + axis.taps >= axis.input;
}

// Says whether some window lies within the input as a whole.
bool uses_every_tap(const Axis& axis) {
  return axis.padding == 0 || (axis.dilation == 1 && axis.input - axis.taps + 1 >= axis.stride);
}

// Checks a transposed convolution: each input element reaches outputs of its own, and no
// output is left out.
bool spreads_over_all(const Axis& axis) {
  return axis.padding == 0 && axis.output_padding == 0 && axis.dilation == 1 &&
         axis.taps >= axis.stride;
}

}  // namespace

std::optional<ConvolutionWork> work_of_convolution(const Plan& task, const AtenCall& call) {
  if (call.args.size() != kArguments || call.outputs.size() != 1 || call.outputs[0] < 0)
    return std::nullopt;
  const PlanTensor* input = operand_at(task, call.args[kInput]);
  const PlanTensor* weight = operand_at(task, call.args[kWeight]);
  const auto* transposed = std::get_if<bool>(&call.args[kTransposed].data);
  if (input == nullptr || weight == nullptr || transposed == nullptr) return std::nullopt;
  const PlanTensor& output = task.tensors.at(static_cast<std::size_t>(call.outputs[0]));
  const auto axes = axes_of(call, *input, *weight, output);
  if (!axes) return std::nullopt;
  // The weight of each group has the shape [outputs, inputs / groups, taps...], or for a transposed
  // convolution [inputs, outputs / groups, taps...].
  const auto channels = static_cast<double>(weight->shape[1]);
  if (*transposed) {
    if (!std::ranges::all_of(*axes, spreads_over_all)) return std::nullopt;
    return ConvolutionWork{.flops = 2 * channels * static_cast<double>(elements_of(*input)),
                           .needs_input = true,
                           .needs_weight = true};
  }
  if (!std::ranges::all_of(*axes, has_no_empty_window)) return std::nullopt;
  return ConvolutionWork{.flops = 2 * channels * static_cast<double>(elements_of(output)),
                         .needs_input = std::ranges::all_of(*axes, reads_whole_input),
                         .needs_weight = std::ranges::all_of(*axes, uses_every_tap)};
}

}  // namespace tritonsmith::gym::plan::analysis
