// Makes faults: plans that a lazy or mistaken kernel would compute in place of a task's own. Each
// fault changes one thing in the task's forward, such as an epsilon or the range of a sum, and says
// so in one sentence. A trial that accepts one of them would accept such a kernel. A fault may turn
// out not to run, or to compute the same as the reference; only a run shows that. Pure, and
// deterministic in the plan.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "gym/plan/faults/plan_editor.h"

namespace tritonsmith::gym::plan::faults {

// operand: an input or a weight is ignored. left_out: an operator is. constant: a number or a flag
// is another. range: a part of a range is not read. order: dimensions or arguments are exchanged.
// cheaper: a function stands for a similar one. special: equal values, repeated indices or
// overflows are treated otherwise. precision: a value has fewer digits.
enum class FaultKind { operand, left_out, constant, range, order, cheaper, special, precision };

struct Fault {
  FaultKind kind = FaultKind::left_out;
  std::string what;  // a plain sentence without its full stop
  std::size_t step = 0;
  std::function<void(PlanEditor&)> edit;
};

// Returns the faults of a task, in the order of its steps. If there are more than `most`, they are
// chosen evenly over the whole list.
std::vector<Fault> faults_of(const Plan& task, std::size_t most);

// Returns the plan of a candidate that has the fault.
Plan with_fault(const Plan& task, const Fault& fault);

// The parts of the catalogue. Each appends the faults of one step, which calls an operator of
// forward. `where` names the step.
struct Site {
  const Plan& plan;
  std::size_t step;
  std::string where;
  const AtenCall& call() const { return std::get<AtenCall>(plan.steps[step].action); }
};
// Appends the faults of ignored operands.
void add_operand_faults(const Plan& plan, std::vector<Fault>& faults);
void add_left_out_faults(const Site& site, std::vector<Fault>& faults);
void add_constant_faults(const Site& site, std::vector<Fault>& faults);
void add_range_faults(const Site& site, std::vector<Fault>& faults);
void add_order_faults(const Site& site, std::vector<Fault>& faults);
void add_function_faults(const Site& site, std::vector<Fault>& faults);
void add_precision_faults(const Site& site, std::vector<Fault>& faults);

// Returns the first tensor among the call's arguments, or null.
const PlanTensor* tensor_argument(const Plan& plan, const AtenCall& call, std::size_t position);
// Returns the call's operator without name space, overload and the underscore of its form in place.
std::string_view family_of(const AtenCall& call);
bool is_floating(DType dtype);
// Returns the distance from the front of a dimension that may be counted from the end.
std::int64_t from_front(std::int64_t dimension, std::size_t dimensions);

}  // namespace tritonsmith::gym::plan::faults

namespace tritonsmith {
template <>
inline constexpr auto enum_names<gym::plan::faults::FaultKind> =
    names<gym::plan::faults::FaultKind>({{gym::plan::faults::FaultKind::operand, "operand"},
                                         {gym::plan::faults::FaultKind::left_out, "left_out"},
                                         {gym::plan::faults::FaultKind::constant, "constant"},
                                         {gym::plan::faults::FaultKind::range, "range"},
                                         {gym::plan::faults::FaultKind::order, "order"},
                                         {gym::plan::faults::FaultKind::cheaper, "cheaper"},
                                         {gym::plan::faults::FaultKind::special, "special"},
                                         {gym::plan::faults::FaultKind::precision, "precision"}});
}  // namespace tritonsmith
