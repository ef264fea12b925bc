#include "gym/plan/analysis/asserts.h"

#include <algorithm>
#include <set>

#include "gym/plan/analysis/call_counters.h"
#include "gym/plan/analysis/random_origin.h"
#include "gym/plan/analysis/whole_inputs.h"
#include "gym/plan/operators/operator_traits.h"

namespace tritonsmith::gym::plan::analysis {
namespace {

using operators::Trait;

bool is_floating(DType dtype) { return dtype != DType::boolean && !holds_whole_numbers(dtype); }

// Follows whole numbers that were calculated from floating values, or count calls.
class CalculatedIndices {
 public:
  explicit CalculatedIndices(const Plan& task) : task_(task) {
    for (const CallCounter& counter : call_counters(task))
      storages_.insert(storage_of(task, counter.tensor));
  }

  bool holds(const AtenCall& call) const {
    return std::ranges::any_of(tensors_given_to(call), [&](int read) {
      return storages_.contains(storage_of(task_, read));
    });
  }

  void note(const AtenCall& call) {
    const bool casts = operators::is(call.op, Trait::arranges) &&
                       std::ranges::any_of(tensors_given_to(call), [&](int read) {
                         return is_floating(tensor(read).dtype);
                       });
    if (!casts && !holds(call)) return;
    for (const int output : call.outputs)
      if (output >= 0 && holds_whole_numbers(tensor(output).dtype))
        storages_.insert(storage_of(task_, output));
  }

 private:
  const PlanTensor& tensor(int index) const {
    return task_.tensors.at(static_cast<std::size_t>(index));
  }

  const Plan& task_;
  std::set<int> storages_;
};

bool reads_floats(const Plan& task, const AtenCall& call) {
  return std::ranges::any_of(tensors_given_to(call), [&](int read) {
    return is_floating(task.tensors.at(static_cast<std::size_t>(read)).dtype);
  });
}

}  // namespace

bool may_assert_on_gpu(const Plan& task) {
  CalculatedIndices indices(task);
  for (const PlanStep& step : task.steps) {
    const auto* call = std::get_if<AtenCall>(&step.action);
    if (call == nullptr || step.phase != Phase::forward) continue;
    if (operators::is(call->op, Trait::checks_values) && reads_floats(task, *call)) return true;
    if (operators::is(call->op, Trait::checks_indices) && indices.holds(*call)) return true;
    indices.note(*call);
  }
  return false;
}

}  // namespace tritonsmith::gym::plan::analysis
