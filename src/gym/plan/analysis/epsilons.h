// Finds the small numbers by which a task's forward keeps a norm or a divisor away from zero. A trial
// needs inputs so small that these numbers count. Pure.
#pragma once

#include <vector>

#include "gym/plan/plan.h"

namespace tritonsmith::gym::plan::analysis {

struct Epsilon {
  double value = 0;
  // The operator may add it to the elements themselves, or compare them with it. A norm adds it to
  // their squares alone.
  bool is_of_elements = false;
  bool operator==(const Epsilon&) const = default;
};

// Each number appears once, the largest first.
std::vector<Epsilon> epsilons(const Plan& task);

}  // namespace tritonsmith::gym::plan::analysis
