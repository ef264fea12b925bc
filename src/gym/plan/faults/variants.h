// Makes legitimate variants: plans that honest kernels compute in place of a task's own. They sum
// in another order or in tiles, in one pass or two, or by an equal formula, and work in float32
// where the task has 16 bits. Trials must accept all of them. Pure, and deterministic in the plan.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "gym/plan/faults/plan_editor.h"

namespace tritonsmith::gym::plan::faults {

struct Variant {
  std::string what;  // a plain sentence without its full stop
  Plan plan;
};

// If there are more than `most`, they are chosen evenly over the whole list.
std::vector<Variant> variants_of(const Plan& task, std::size_t most);

}  // namespace tritonsmith::gym::plan::faults
