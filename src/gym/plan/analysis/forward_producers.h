// Finds which call of forward made a tensor. Pure.
#pragma once

#include <map>

#include "gym/plan/plan.h"

namespace tritonsmith::gym::plan::analysis {

// By tensor of the plan. A tensor that several calls write in place has the last of them.
using ForwardProducers = std::map<int, const AtenCall*>;

inline ForwardProducers forward_producers(const Plan& task) {
  ForwardProducers producers;
  for (const PlanStep& step : task.steps) {
    const auto* call = std::get_if<AtenCall>(&step.action);
    if (call == nullptr || step.phase != Phase::forward) continue;
    for (const int output : call->outputs)
      if (output >= 0) producers[output] = call;
  }
  return producers;
}

}  // namespace tritonsmith::gym::plan::analysis
