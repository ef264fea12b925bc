// Finds the truth values in a task's forward that follow from the elements of inputs, each from those at
// its position: the trials can make a row of them true or false. Pure.
#pragma once

#include <set>

#include "gym/plan/plan.h"

namespace tritonsmith::gym::plan::analysis {

// It follows forward step by step, and refers to the task.
class TruthValues {
 public:
  explicit TruthValues(const Plan& task);

  // Says whether the value is a tensor of such truth values, or of such as numbers.
  bool is_one(const Value& value) const;
  void follow(const AtenCall& call);

 private:
  const Plan& task_;
  std::set<int> by_element_, truths_;
};

// Says whether the operator asks all elements of a row, and one of them may decide.
bool asks_of_all(const AtenCall& call);

}  // namespace tritonsmith::gym::plan::analysis
