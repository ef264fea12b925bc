// ForwardValues: the values that a task's forward computes, and the operators between them. A tensor
// holds another value after each operator in place. The roofline (roofline.h) follows these values.
// Pure; it refers to the task.
#pragma once

#include <set>
#include <string_view>
#include <vector>

#include "gym/plan/plan.h"

namespace tritonsmith::gym::plan::analysis {

// One content of a tensor.
using ValueId = std::size_t;

// An operator of forward. It makes at least one value.
struct ValueStep {
  std::string_view name;  // without the underscore of its form in place
  const AtenCall* call = nullptr;
  std::vector<ValueId> given, made;
};

class ForwardValues {
 public:
  explicit ForwardValues(const Plan& task);

  const Plan& task() const { return task_; }
  const std::vector<ValueStep>& steps() const { return steps_; }
  std::size_t size() const { return tensor_of_.size(); }
  // Returns the value that a tensor holds after forward.
  ValueId last(int tensor) const { return current_[static_cast<std::size_t>(tensor)]; }
  int tensor_of(ValueId value) const { return tensor_of_[value]; }
  const PlanTensor& declared(int tensor) const {
    return task_.tensors.at(static_cast<std::size_t>(tensor));
  }
  const PlanTensor& facts(ValueId value) const { return declared(tensor_of_[value]); }
  std::int64_t elements(ValueId value) const { return elements_of(facts(value)); }
  // Returns the number of elements in memory, at most. A tensor may show each of them many times.
  std::int64_t held(ValueId value) const;
  // Says whether only a random generator has written the value's memory.
  bool is_drawn(ValueId value) const { return drawn_.contains(value); }
  // Says whether a generator gave the memory a permutation.
  bool is_permutation(ValueId value) const { return permuted_.contains(facts(value).storage); }
  // Says whether the memory was filled with zeros before forward.
  bool is_zeroed(int tensor) const { return zeroed_.contains(declared(tensor).storage); }

 private:
  void find_drawn();
  void list_steps();
  void rewrite(ValueStep& step, int target);
  ValueId fresh(int tensor);

  const Plan& task_;
  std::vector<ValueStep> steps_;
  std::vector<int> tensor_of_;    // by value
  std::vector<ValueId> current_;  // by tensor
  std::set<ValueId> drawn_;
  std::set<int> zeroed_, permuted_;  // storages
};

// Returns a lower bound of the number of distinct elements that a tensor shows. A dimension counts
// if its stride is beyond all elements that the smaller strides reach.
std::int64_t distinct_elements(const PlanTensor& tensor);

// Says whether one of the call's arguments is the number 0.
bool has_a_zero(const AtenCall& call);

}  // namespace tritonsmith::gym::plan::analysis
