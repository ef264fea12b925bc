#include "gym/plan/analysis/cost/roofline.h"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "gym/plan/analysis/cost/convolution_work.h"
#include "gym/plan/analysis/cost/forward_values.h"
#include "gym/plan/analysis/cost/value_origins.h"
#include "gym/plan/operators/operator_traits.h"

namespace tritonsmith::gym::plan::analysis {
namespace {

using plan::operators::has_trait;
using plan::operators::Trait;

// `known`: all of a value's numbers must be computed. `read`: all drawn numbers behind it must be
// read.
struct Demand {
  bool known = false, read = false;
};

// Follows the demand for the outputs back to the drawn numbers, and counts the work on the way.
class Demands {
 public:
  explicit Demands(const Plan& task) : values_(task), origins_(values_), demands_(values_.size()) {}

  LeastWork measure() {
    find_outputs();
    const auto& steps = values_.steps();
    for (std::size_t k = steps.size(); k-- > 0;) demand(steps[k]);
    for (ValueId value = 0; value < demands_.size(); ++value)
      if (origins_.of(value).drawn && demands_[value].read) count_bytes(values_.tensor_of(value));
    return work_;
  }

 private:
  // Counts each memory once.
  void count_bytes(int tensor) {
    const PlanTensor& what = values_.declared(tensor);
    if (!counted_.insert(what.storage).second) return;
    work_.bytes += static_cast<double>(
        std::min(distinct_elements(what) * bytes_of(what.dtype), what.storage_bytes));
  }

  void find_outputs() {
    std::set<int> made, outside;
    for (const PlanStep& step : values_.task().steps)
      if (const auto* call = std::get_if<AtenCall>(&step.action))
        for (const int output : call->outputs)
          if (output >= 0)
            (step.phase == Phase::forward ? made : outside)
                .insert(values_.declared(output).storage);
    std::vector<int> outputs;
    append_tensors(values_.task().outputs, outputs);
    for (const int output : outputs) {
      demands_[values_.last(output)].known = true;
      const int storage = values_.declared(output).storage;
      if (made.contains(storage) && !outside.contains(storage)) count_bytes(output);
    }
  }

  void give(ValueId value, bool known) {
    demands_[value].read = true;
    demands_[value].known = demands_[value].known || known;
  }

  // Passes the demand for a value on to the values from which it is made.
  void demand(const ValueStep& step) {
    Demand wanted;
    for (const ValueId value : step.made) {
      wanted.known = wanted.known || demands_[value].known;
      wanted.read = wanted.read || demands_[value].read;
    }
    const ValueId made = step.made.front();
    const ValueOrigin& origin = origins_.of(made);
    if (origin.drawn || !(wanted.known || wanted.read)) return;
    if (origin.generic) return demand_of_generic(step, wanted.known);
    if (origin.normalised) {
      if (!wanted.known) return;
      if (origins_.is_normalisation(step) || origins_.is_combination(step))
        return give(step.given.front(), true);
    } else if (origin.reduced) {
      if (origins_.is_reduction(step)) return give(step.given.front(), false);
    } else {
      return;
    }
    for (const ValueId value : step.given)
      if (values_.elements(value) == values_.elements(made) || step.name == "expand")
        give(value, wanted.known);
  }

  // Counts the products if every number of the result must be known. Otherwise a kernel may sum the
  // operands first.
  void demand_of_generic(const ValueStep& step, bool known) {
    if (step.name == "convolution") return demand_of_convolution(step, known);
    const bool is_product = has_trait(step.name, Trait::matrix_product);
    const ValueId made = step.made.front();
    for (const ValueId value : step.given)
      if (is_product || values_.elements(value) == values_.elements(made)) give(value, known);
    if (!is_product || !known || step.given.size() < 2) return;
    const PlanTensor& left = values_.facts(step.given[step.given.size() - 2]);
    count_flops(left.dtype, 2.0 * static_cast<double>(values_.elements(made)) *
                                static_cast<double>(left.shape.empty() ? 1 : left.shape.back()));
  }

  void count_flops(DType type, double flops) {
    work_.flops += flops;
    work_.flops_by[type] += flops;
  }

  void demand_of_convolution(const ValueStep& step, bool known) {
    const auto work = work_of_convolution(values_.task(), *step.call);
    if (!work) return;
    if (known) count_flops(values_.facts(step.given[0]).dtype, work->flops);
    // the operands are input, weight, and perhaps a bias
    if (work->needs_input) give(step.given[0], known);
    if (work->needs_weight) give(step.given[1], known);
  }

  ForwardValues values_;
  ValueOrigins origins_;
  std::vector<Demand> demands_;  // by value
  LeastWork work_;
  std::set<int> counted_;  // storages
};

}  // namespace

LeastWork least_work(const Plan& task) { return Demands(task).measure(); }

UnavoidableWork unavoidable(const LeastWork& work) {
  UnavoidableWork result{.bytes = work.bytes};
  for (const auto& [type, flops] : work.flops_by) result.flops[std::string(name_of(type))] = flops;
  return result;
}

}  // namespace tritonsmith::gym::plan::analysis
