#include "gym/plan/analysis/input_draws.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "gym/plan/analysis/random_origin.h"
#include "gym/plan/operators/operator_traits.h"

namespace tritonsmith::gym::plan::analysis {
namespace {

double number_or(const AtenCall& call, std::size_t position, double otherwise) {
  if (call.args.size() <= position) return otherwise;
  if (const auto* real = std::get_if<double>(&call.args[position].data)) return *real;
  if (const auto* whole = std::get_if<std::int64_t>(&call.args[position].data))
    return static_cast<double>(*whole);
  return otherwise;
}

DrawKind kind_of(std::string_view op) {
  using plan::operators::Trait;
  if (plan::operators::is(op, Trait::draws_normal)) return DrawKind::normal;
  if (plan::operators::is(op, Trait::draws_uniform)) return DrawKind::uniform;
  if (plan::operators::is(op, Trait::draws_order)) return DrawKind::order;
  if (plan::operators::is(op, Trait::draws_whole)) return DrawKind::whole;
  return DrawKind::other;
}

std::pair<double, double> bounds_of(const AtenCall& call) {
  if (!plan::operators::aten_base_name(call.op).starts_with("uniform")) return {0, 1};
  return {number_or(call, 1, 0), number_or(call, 2, 1)};
}

// Returns the least and the largest number that a draw of whole numbers may give, or the largest
// below the least if the call does not tell.
std::pair<double, double> whole_bounds_of(const AtenCall& call) {
  constexpr std::pair<double, double> unknown = {0, -1};
  if (plan::operators::aten_base_name(call.op) != "randint" || call.args.size() < 2) return unknown;
  const bool has_low = std::holds_alternative<std::int64_t>(call.args[1].data);
  return {has_low ? number_or(call, 0, 0) : 0, number_or(call, has_low ? 1 : 0, 0) - 1};
}

// Says whether no two elements share memory and no gap lies between them.
bool is_dense(const PlanTensor& tensor) {
  std::vector<std::pair<std::int64_t, std::int64_t>> steps;  // stride and size
  for (std::size_t d = 0; d < tensor.shape.size(); ++d)
    if (tensor.shape[d] != 1) steps.emplace_back(tensor.stride[d], tensor.shape[d]);
  std::ranges::sort(steps);
  std::int64_t elements = 1;
  for (const auto& [stride, size] : steps) {
    if (stride != elements) return false;
    elements *= size;
  }
  return elements > 0;
}

bool has_usual_distribution(const Plan& task, int input) {
  const int storage = storage_of(task, input);
  return std::ranges::none_of(task.steps, [&](const PlanStep& step) {
    const auto* call = std::get_if<AtenCall>(&step.action);
    return call != nullptr && step.phase == Phase::inputs && !call->outputs.empty() &&
           call->outputs[0] >= 0 && storage_of(task, call->outputs[0]) == storage &&
           bounds_of(*call) != std::pair{0.0, 1.0};
  });
}

}  // namespace

std::vector<int> input_tensors(const Plan& plan) {
  std::vector<int> all, distinct;
  for (const Value& input : plan.inputs) append_tensors(input, all);
  for (const int index : all)
    if (std::ranges::find(distinct, index) == distinct.end()) distinct.push_back(index);
  return distinct;
}

bool is_drawn_directly(const Plan& task, int input) {
  const PlanTensor& tensor = task.tensors.at(static_cast<std::size_t>(input));
  const bool is_floating = tensor.dtype == DType::float16 || tensor.dtype == DType::bfloat16 ||
                           tensor.dtype == DType::float32 || tensor.dtype == DType::float64;
  return is_floating && is_dense(tensor) &&
         random_origin_of(task, input) == RandomOrigin::as_drawn &&
         has_usual_distribution(task, input);
}

std::vector<InputDraw> input_draws(const Plan& task) {
  std::vector<InputDraw> draws;
  const std::vector<int> inputs = input_tensors(task);
  for (std::size_t k = 0; k < task.steps.size(); ++k) {
    const auto* call = std::get_if<AtenCall>(&task.steps[k].action);
    if (call == nullptr || task.steps[k].phase != Phase::inputs ||
        !plan::operators::is_random_operator(call->op) || call->outputs.empty() ||
        call->outputs[0] < 0)
      continue;
    const DrawKind kind = kind_of(call->op);
    const auto [low, high] = kind == DrawKind::whole ? whole_bounds_of(*call) : bounds_of(*call);
    InputDraw draw{.step = k, .tensor = call->outputs[0], .kind = kind, .low = low, .high = high};
    const int storage = storage_of(task, draw.tensor);
    Sources sources = sources_of(task, Phase::inputs, {storage});
    for (const int input : inputs) {
      if (storage_of(task, input) != storage && sources[storage_of(task, input)].empty()) continue;
      draw.inputs.push_back(input);
      const RandomOrigin origin = random_origin_of(task, input);
      draw.is_affine = draw.is_affine && origin != RandomOrigin::none;
      draw.is_as_drawn = draw.is_as_drawn && origin == RandomOrigin::as_drawn &&
                         has_usual_distribution(task, input);
    }
    if (!draw.inputs.empty()) draws.push_back(std::move(draw));
  }
  return draws;
}

bool draws_whole_numbers(const Plan& task) {
  return std::ranges::any_of(input_draws(task), [](const InputDraw& draw) {
    return draw.kind == DrawKind::whole && draw.low < draw.high;
  });
}

}  // namespace tritonsmith::gym::plan::analysis
