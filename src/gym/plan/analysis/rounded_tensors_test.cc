#include "gym/plan/analysis/rounded_tensors.h"

#include <gtest/gtest.h>

#include "gym/plan/testing/plan_builder.h"

namespace tritonsmith::gym::plan::analysis {
namespace {

// The largest size of a row, a scale of it, a quotient by the scale, its code, and twice the code.
TEST(RoundedTensors, AreQuotientsAndWhatIsChosenAmongThem) {
  PlanBuilder task(PlanRole::task);
  const int x = task.tensor({4, 8}), size = task.tensor({4, 8}), largest = task.tensor({4, 1}),
            scale = task.tensor({4, 1}), bounded = task.tensor({4, 1}),
            quotient = task.tensor({4, 8}), code = task.tensor({4, 8}), twice = task.tensor({4, 8});
  task.input(t(x))
      .aten(Phase::forward, "aten::abs", {t(x)}, {size})
      .aten(Phase::forward, "aten::amax", {t(size), ints({-1}), Value{true}}, {largest})
      .aten(Phase::forward, "aten::div.Tensor", {t(largest), f(127)}, {scale})
      .aten(Phase::forward, "aten::clamp", {t(scale), f(1e-5)}, {bounded})
      .aten(Phase::forward, "aten::div.Tensor", {t(x), t(bounded)}, {quotient})
      .aten(Phase::forward, "aten::round", {t(quotient)}, {code})
      .aten(Phase::forward, "aten::mul.Tensor", {t(code), f(2)}, {twice})
      .returns(t(twice));
  const std::vector<bool> rounded = rounded_tensors(task.plan());
  for (const int kept : {x, size, largest, code, twice})
    EXPECT_FALSE(rounded.at(static_cast<std::size_t>(kept))) << kept;
  for (const int made : {scale, bounded, quotient})
    EXPECT_TRUE(rounded.at(static_cast<std::size_t>(made))) << made;
}

}  // namespace
}  // namespace tritonsmith::gym::plan::analysis
