// Plans over one vector, and what their kernel "k" may compute: most of what a test of the judging
// needs. Kernels are run by FakeExecutor.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "gym/referee/testing/fake_executor.h"
#include "gym/referee/testing/plan_builder.h"

namespace tritonsmith::gym {

inline constexpr int kLength = 64;  // of the vectors
inline const std::pair<std::string, Value> kOnGpu = {"device", Value{DeviceKind::cuda}};

// A task over one fp32 input drawn by randn: forward is `op(x, more...)`.
inline PlanBuilder task_of(const std::string& op, const std::vector<Value>& more = {}) {
  PlanBuilder task(PlanRole::task);
  const int x = task.tensor({kLength}), y = task.tensor({kLength});
  std::vector<Value> arguments = {t(x)};
  arguments.insert(arguments.end(), more.begin(), more.end());
  task.aten(Phase::inputs, "aten::randn", {ints({kLength})}, {x}, {kOnGpu})
      .input(t(x))
      .aten(Phase::forward, op, arguments, {y})
      .returns(t(y));
  return task;
}

// A candidate that allocates y like x, launches `k(x, y)` and returns y.
inline PlanBuilder candidate_of_kernel() {
  PlanBuilder candidate(PlanRole::candidate);
  const int x = candidate.tensor({kLength}), y = candidate.tensor({kLength});
  const int kernel = candidate.kernel("k", {"*fp32", "*fp32"});
  candidate.input(t(x))
      .aten(Phase::forward, "aten::empty_like", {t(x)}, {y})
      .launch(kernel, {t(x), t(y)})
      .returns(t(y));
  return candidate;
}

inline float relu(float x) { return std::max(x, 0.0F); }
inline FakeExecutor::Body relu_kernel() { return elementwise(kLength, relu); }
inline FakeExecutor::Body copy_kernel() {
  return elementwise(kLength, [](float x) { return x; });
}

}  // namespace tritonsmith::gym
