// ConstantNumbers: the numbers that small tensors of a task always hold, because they stand in its source.
// Such a tensor may be a buffer, or forward may make it: torch.tensor([777, 20011]). Pure.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "gym/plan/plan.h"

namespace tritonsmith::gym::plan::analysis {

// Returns the numbers of a contiguous tensor from its bytes, or nothing for other types than uint8, int8 to int64,
// float32 and float64.
std::vector<double> numbers_in(const std::string& bytes, DType dtype);

class ConstantNumbers {
 public:
  explicit ConstantNumbers(const Plan& task);

  // Returns the value itself if it is a number, and what a tensor holds. It returns nothing for other
  // values, for tensors of more than 64 elements, and for those that an operator computes.
  std::vector<double> of(const Value& value) const;

 private:
  void follow(const AtenCall& call);
  int storage_of(int tensor) const;

  const Plan& task_;
  std::map<int, std::vector<double>> held_;  // by storage; perhaps more than a view of it holds
};

}  // namespace tritonsmith::gym::plan::analysis
