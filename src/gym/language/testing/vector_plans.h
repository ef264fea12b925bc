// Makes plans over one vector, and bodies for their kernel "k". They serve most tests of the
// judging. FakeExecutor runs the kernels.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "gym/language/testing/fake_executor.h"
#include "gym/plan/testing/plan_builder.h"

namespace tritonsmith::gym::language {

inline constexpr int kLength = 64;  // of the vectors
inline const std::pair<std::string, plan::Value> kOnGpu = {"device",
                                                           plan::Value{plan::DeviceKind::cuda}};

// A task with one fp32 input from randn, whose forward is `op(x, more...)`.
inline plan::PlanBuilder task_of(const std::string& op, const std::vector<plan::Value>& more = {}) {
  plan::PlanBuilder task(plan::PlanRole::task);
  const int x = task.tensor({kLength}), y = task.tensor({kLength});
  std::vector<plan::Value> arguments = {plan::t(x)};
  arguments.insert(arguments.end(), more.begin(), more.end());
  task.aten(plan::Phase::inputs, "aten::randn", {plan::ints({kLength})}, {x}, {kOnGpu})
      .input(plan::t(x))
      .aten(plan::Phase::forward, op, arguments, {y})
      .returns(plan::t(y));
  return task;
}

// A candidate that allocates y like x, launches `k(x, y)` and returns y.
inline plan::PlanBuilder candidate_of_kernel() {
  plan::PlanBuilder candidate(plan::PlanRole::candidate);
  const int x = candidate.tensor({kLength}), y = candidate.tensor({kLength});
  const int kernel = candidate.kernel("k", {"*fp32", "*fp32"});
  candidate.input(plan::t(x))
      .aten(plan::Phase::forward, "aten::empty_like", {plan::t(x)}, {y})
      .launch(kernel, {plan::t(x), plan::t(y)})
      .returns(plan::t(y));
  return candidate;
}

inline float relu(float x) { return std::max(x, 0.0F); }
inline FakeExecutor::Body relu_kernel() { return elementwise(kLength, relu); }
inline FakeExecutor::Body copy_kernel() {
  return elementwise(kLength, [](float x) { return x; });
}

}  // namespace tritonsmith::gym::language
