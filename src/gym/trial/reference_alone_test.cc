#include "gym/trial/reference_alone.h"

#include <gtest/gtest.h>

#include "gym/language/testing/fake_executor.h"
#include "gym/plan/testing/plan_builder.h"

namespace tritonsmith::gym::trial {
namespace {

using plan::Phase;
using plan::PlanBuilder;
using plan::PlanRole;

// The task is a binary cross entropy, whose first input must be probabilities.
plan::Plan cross_entropy() {
  PlanBuilder task(PlanRole::task);
  const int p = task.tensor({8, 4}), y = task.tensor({8, 4}), loss = task.tensor({});
  for (const int drawn : {p, y})
    task.aten(Phase::inputs, "aten::rand", {plan::ints({8, 4})}, {drawn});
  task.input(plan::t(p))
      .input(plan::t(y))
      .aten(Phase::forward, "aten::binary_cross_entropy", {plan::t(p), plan::t(y)}, {loss})
      .returns(plan::t(loss));
  return task.plan();
}

Answer answer_to(Perturbation kind, bool within_bounds) {
  const plan::Plan task = cross_entropy();
  language::FakeExecutor executor;
  return ask_reference({.task = task,
                        .candidate = task,
                        .secret = "secret",
                        .kind = kind,
                        .within_bounds = within_bounds,
                        .memory_bytes = 1 << 20},
                       executor, device::cpu_device());
}

TEST(ReferenceAlone, RefusesWhatLiesBeyondItsDomain) {
  EXPECT_EQ(answer_to(Perturbation::plain, false), Answer::takes);
  EXPECT_EQ(answer_to(Perturbation::shifted, false), Answer::refuses);
  EXPECT_EQ(answer_to(Perturbation::lowered, false), Answer::refuses);
}

TEST(ReferenceAlone, TakesWhatStaysWithinTheBoundsOfADraw) {
  for (const Perturbation kind : {Perturbation::uneven, Perturbation::ragged, Perturbation::above})
    EXPECT_EQ(answer_to(kind, true), Answer::takes);
}

}  // namespace
}  // namespace tritonsmith::gym::trial
