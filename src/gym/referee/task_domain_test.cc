#include "gym/referee/task_domain.h"

#include <gtest/gtest.h>

#include "gym/language/testing/fake_executor.h"
#include "gym/plan/testing/plan_builder.h"
#include "gym/trial/reference_alone.h"

namespace tritonsmith::gym::referee {
namespace {

using trial::Perturbation;

// The cross entropy of few probabilities. Whether changed ones still lie between 0 and 1 depends on the draw.
plan::PlanBuilder cross_entropy() {
  const std::int64_t n = 3;
  plan::PlanBuilder task(plan::PlanRole::task);
  const int p = task.tensor({n}), y = task.tensor({n}), loss = task.tensor({n});
  task.aten(plan::Phase::inputs, "aten::rand", {plan::ints({n})}, {p}, {language::kOnGpu})
      .aten(plan::Phase::inputs, "aten::rand", {plan::ints({n})}, {y}, {language::kOnGpu})
      .input(plan::t(p))
      .input(plan::t(y))
      .aten(plan::Phase::forward, "aten::binary_cross_entropy",
            {plan::t(p), plan::t(y), plan::Value{}, plan::i(0)}, {loss})
      .returns(plan::t(loss));
  return task;
}

// What a GPU would be given here is taken by the CPU, whatever other trials of the kind were given before.
TEST(TaskDomain, TheReferenceTakesWhateverATrialGivesIt) {
  const plan::PlanBuilder built = cross_entropy();
  const trial::CandidateNumbers numbers{.real = {-100, 0.5, 7}, .whole = {1}};
  int taken = 0, refused = 0;
  for (const Perturbation kind : {Perturbation::scaled, Perturbation::sparse, Perturbation::shifted,
                                  Perturbation::small, Perturbation::above, Perturbation::uneven})
    for (const bool within_bounds : {false, true}) {
      Equipment equipment(make_evaluator());
      equipment.evaluator = std::make_unique<Equipment>(make_evaluator());
      for (int number = 0; number < 12; ++number) {
        trial::TrialConfig config{.task = built.plan(),
                                  .candidate = built.plan(),
                                  .secret = "secret",
                                  .task_key = "task",
                                  .trial = number,
                                  .kind = kind,
                                  .within_bounds = within_bounds,
                                  .numbers = &numbers};
        config.memory_bytes = std::int64_t{1} << 30;
        if (refused_by_reference(equipment, config)) {
          ++refused;
          continue;
        }
        ++taken;
        EXPECT_EQ(trial::ask_reference(config, *equipment.executor, equipment.device),
                  trial::Answer::takes)
            << static_cast<int>(kind) << ", trial " << number;
      }
    }
  EXPECT_GT(taken, 0);
  EXPECT_GT(refused, 0);
}

}  // namespace
}  // namespace tritonsmith::gym::referee
