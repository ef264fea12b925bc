#include "gym/referee/task_domain.h"

#include <gtest/gtest.h>

#include "gym/language/testing/fake_executor.h"
#include "gym/plan/testing/plan_builder.h"
#include "gym/trial/reference_alone.h"

namespace tritonsmith::gym::referee {
namespace {

using trial::Perturbation;

// The cross entropy of probabilities with the truth of each.
plan::PlanBuilder cross_entropy() {
  const std::vector<std::int64_t> shape = {24, 70};
  plan::PlanBuilder task(plan::PlanRole::task);
  const int p = task.tensor(shape), drawn = task.tensor(shape),
            truth = task.tensor(shape, plan::DType::boolean), y = task.tensor(shape),
            loss = task.tensor(shape);
  task.aten(plan::Phase::inputs, "aten::rand", {plan::ints(shape)}, {p}, {language::kOnGpu})
      .aten(plan::Phase::inputs, "aten::rand", {plan::ints(shape)}, {drawn}, {language::kOnGpu})
      .aten(plan::Phase::inputs, "aten::gt.Scalar", {plan::t(drawn), plan::f(0.5)}, {truth})
      .aten(plan::Phase::inputs, "aten::mul.Scalar", {plan::t(truth), plan::f(1)}, {y})
      .input(plan::t(p))
      .input(plan::t(y))
      .aten(plan::Phase::forward, "aten::binary_cross_entropy",
            {plan::t(p), plan::t(y), plan::Value{}, plan::i(0)}, {loss})
      .returns(plan::t(loss));
  return task;
}

// The CPU takes what this trial would give a GPU, whatever other trials of the kind gave.
TEST(TaskDomain, TheReferenceTakesWhateverATrialGivesIt) {
  const plan::PlanBuilder built = cross_entropy();
  const trial::CandidateNumbers numbers{.real = {-100, 0.5, 0, 1}, .whole = {0, 1, 70, 128}};
  int taken = 0, refused = 0;
  for (const auto& [kind, name] : enum_names<Perturbation>)
    for (const bool within_bounds : {false, true}) {
      if (kind == Perturbation::plain) continue;
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
            << name << ", trial " << number;
      }
    }
  EXPECT_GT(taken, 0);
  EXPECT_GT(refused, 0);
}

}  // namespace
}  // namespace tritonsmith::gym::referee
