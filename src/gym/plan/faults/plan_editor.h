// PlanEditor: makes a copy of a task's plan in which one step of forward is followed by other
// operators, or is changed itself. The faults and the legitimate variants of a task are such copies.
// New tensors are declared as contiguous. A wrong declaration does no harm: the replay checks only
// tensors that inputs, weights and outputs name, and results have their real form. One thread uses
// an editor, and finish() ends its use.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gym/plan/plan.h"

namespace tritonsmith::gym::plan::faults {

using Keywords = std::vector<std::pair<std::string, Value>>;

inline Value tensor_value(int index) { return Value{TensorRef{index}}; }
inline Value number(double value) { return Value{value}; }
inline Value whole(std::int64_t value) { return Value{value}; }
inline Value flag(bool value) { return Value{value}; }
Value whole_list(const std::vector<std::int64_t>& values);

class PlanEditor {
 public:
  // Edits the plan around a step of forward that calls an operator.
  PlanEditor(const Plan& plan, std::size_t step);

  const Plan& plan() const { return plan_; }
  AtenCall& call() { return std::get<AtenCall>(plan_.steps[step_].action); }
  const PlanTensor& tensor(int index) const {
    return plan_.tensors.at(static_cast<std::size_t>(index));
  }
  int result() { return call().outputs.at(0); }

  // Returns the tensor that argument k is, as it was before the step. Returns -1 if it is none.
  int argument(std::size_t k);

  // Add an operator before or after the step, and return its result, declared with this shape.
  int before(std::string op, std::vector<Value> args, std::vector<std::int64_t> shape, DType dtype,
             Keywords keywords = {});
  int after(std::string op, std::vector<Value> args, std::vector<std::int64_t> shape, DType dtype,
            Keywords keywords = {});
  // The same, for a result like another tensor.
  int after_like(int like, std::string op, std::vector<Value> args, Keywords keywords = {});

  // Gives the step's first result these values. They are broadcast and cast to it.
  void overwrite_result(int values);
  // From now on, forward reads `with` where it read `tensor`.
  void replace_operand(int tensor, int with);

  Plan finish() &&;

 private:
  int declare(std::vector<std::int64_t> shape, DType dtype);
  static int make(std::vector<AtenCall>& calls, int made, std::string op, std::vector<Value> args,
                  Keywords keywords);

  Plan plan_;
  std::size_t step_;
  std::vector<AtenCall> before_, after_;
  std::map<int, int> snapshots_;  // copies of arguments that the step itself overwrites
};

// Replaces a tensor in a value, or in all that forward reads, makes and returns.
void replace_tensor(Value& value, int tensor, int with);
void replace_in_forward(Plan& plan, int tensor, int with);

// Returns the plan as a candidate's, which makes no inputs. Its operators then check their
// arguments as those of real candidates do.
Plan as_candidate(Plan plan);

// Returns the first step of forward that calls an operator, or the number of steps if none does.
std::size_t first_operator_of_forward(const Plan& plan);

}  // namespace tritonsmith::gym::plan::faults
