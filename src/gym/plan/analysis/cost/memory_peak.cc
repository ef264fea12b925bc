#include "gym/plan/analysis/cost/memory_peak.h"

#include <algorithm>
#include <map>
#include <set>

namespace tritonsmith::gym::plan::analysis {
namespace {

std::vector<int> tensors_of(const PlanStep& step) {
  std::vector<int> tensors;
  if (const auto* call = std::get_if<AtenCall>(&step.action)) {
    for (const Value& value : call->args) append_tensors(value, tensors);
    for (const auto& [name, value] : call->kwargs) append_tensors(value, tensors);
    tensors.insert(tensors.end(), call->outputs.begin(), call->outputs.end());
  } else if (const auto* launch = std::get_if<LaunchStep>(&step.action)) {
    for (const LaunchChoice& choice : launch->choices)
      for (const Value& value : choice.arguments) append_tensors(value, tensors);
  } else {
    tensors.push_back(std::get<ConstantStep>(step.action).output);
  }
  std::erase(tensors, -1);
  return tensors;
}

}  // namespace

double peak_bytes(const Plan& plan) {
  struct Life {
    std::size_t first = 0, last = 0;
    double bytes = 0;
  };
  std::map<int, Life> lives;  // by storage
  const std::size_t end = plan.steps.size();
  const auto use = [&](int tensor, std::size_t first, std::size_t last) {
    const PlanTensor& what = plan.tensors.at(static_cast<std::size_t>(tensor));
    Life& life =
        lives.try_emplace(what.storage, Life{first, last, static_cast<double>(what.storage_bytes)})
            .first->second;
    life.first = std::min(life.first, first);
    life.last = std::max(life.last, last);
  };
  std::vector<int> lasting;
  for (const Value& input : plan.inputs) append_tensors(input, lasting);
  for (const PlanParameter& parameter : plan.parameters) lasting.push_back(parameter.tensor);
  for (const int tensor : lasting) use(tensor, 0, end);
  std::set<int> earlier;  // storages that were there before forward began
  for (std::size_t i = 0; i < end; ++i)
    for (const int tensor : tensors_of(plan.steps[i])) {
      const int storage = plan.tensors.at(static_cast<std::size_t>(tensor)).storage;
      if (plan.steps[i].phase != Phase::forward)
        earlier.insert(storage);
      else if (earlier.contains(storage))
        use(tensor, 0, end);
      else
        use(tensor, i, i);
    }
  std::vector<int> outputs;
  append_tensors(plan.outputs, outputs);
  for (const int tensor : outputs) use(tensor, end, end);
  std::vector<double> change(end + 2, 0);
  for (const auto& [storage, life] : lives) {
    change[life.first] += life.bytes;
    change[life.last + 1] -= life.bytes;
  }
  double now = 0, peak = 0;
  for (const double step : change) peak = std::max(peak, now += step);
  return peak;
}

}  // namespace tritonsmith::gym::plan::analysis
