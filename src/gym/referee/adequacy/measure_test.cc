// A task's adequacy, measured on small plans without guests.
#include "gym/referee/adequacy/measure.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gym/language/testing/vector_plans.h"
#include "gym/referee/testing/reports.h"

namespace tritonsmith::gym::referee {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr std::int64_t kRows = 8, kColumns = 32;

struct AdequacyTest : ::testing::Test {
  Adequacy measure(const plan::PlanBuilder& task) {
    RefereeJob job{.task_key = "task", .adequacy_secrets = 2, .secret = "secret"};
    job.budget.seconds = 300;
    return referee_of(task, {})->judge(job).adequacy.value();
  }
  static const FaultTest* find(const Adequacy& adequacy, std::string_view what) {
    const auto at = std::ranges::find_if(adequacy.faults, [&](const FaultTest& fault) {
      return fault.what.find(what) != std::string::npos;
    });
    return at == adequacy.faults.end() ? nullptr : &*at;
  }
};

// forward(x) = op(x, ...) over a matrix of normal numbers.
plan::PlanBuilder matrix_task(const char* op, std::vector<plan::Value> more) {
  plan::PlanBuilder task(plan::PlanRole::task);
  const int x = task.tensor({kRows, kColumns}), y = task.tensor({kRows, kColumns});
  std::vector<plan::Value> args = {plan::t(x)};
  args.insert(args.end(), more.begin(), more.end());
  task.aten(plan::Phase::inputs, "aten::randn", {plan::ints({kRows, kColumns})}, {x},
            {language::kOnGpu})
      .input(plan::t(x))
      .aten(plan::Phase::forward, op, args, {y})
      .returns(plan::t(y));
  return task;
}

TEST_F(AdequacyTest, TellsTheFaultsOfASoftmaxAndRefusesNoVariant) {
  const Adequacy adequacy =
      measure(matrix_task("aten::_softmax", {plan::i(-1), plan::Value{false}}));
  EXPECT_EQ(adequacy.why_not, "");
  EXPECT_EQ(adequacy.untried, 0);
  EXPECT_GE(adequacy.variants, 2);
  EXPECT_THAT(adequacy.refused, IsEmpty());
  for (const char* what : {"left out", "the maximum is not taken off", "along dimension 0",
                           "only the first half", "argument 1 taken for zeros"}) {
    const FaultTest* fault = find(adequacy, what);
    ASSERT_NE(fault, nullptr) << what;
    EXPECT_EQ(fault->end, FaultEnd::told) << what;
    EXPECT_NE(fault->trial, "") << what;
  }
  EXPECT_EQ(share_told(adequacy), 1.0) << summary_of(adequacy);
}

// The number added is far below what is allowed.
TEST_F(AdequacyTest, NamesTheFaultThatNoTrialTells) {
  const Adequacy adequacy = measure(matrix_task("aten::add.Scalar", {plan::f(1e-6)}));
  const FaultTest* fault = find(adequacy, "left out");
  ASSERT_NE(fault, nullptr);
  EXPECT_EQ(fault->end, FaultEnd::within_tolerance);
  EXPECT_LT(fault->margin.value(), 1);
  EXPECT_LT(*share_told(adequacy), 1);
  EXPECT_THAT(complaints_of(adequacy), Not(IsEmpty()));
  EXPECT_THAT(complaints_of(adequacy), Each(HasSubstr("not told: ")));
}

// The absolute value of a square is the square, whatever the input.
TEST_F(AdequacyTest, DoesNotCountAFaultThatNoInputTells) {
  plan::PlanBuilder task(plan::PlanRole::task);
  const int x = task.tensor({kRows, kColumns}), square = task.tensor({kRows, kColumns}),
            y = task.tensor({kRows, kColumns});
  task.aten(plan::Phase::inputs, "aten::randn", {plan::ints({kRows, kColumns})}, {x},
            {language::kOnGpu})
      .input(plan::t(x))
      .aten(plan::Phase::forward, "aten::square", {plan::t(x)}, {square})
      .aten(plan::Phase::forward, "aten::abs", {plan::t(square)}, {y})
      .returns(plan::t(y));
  const Adequacy adequacy = measure(task);
  const FaultTest* fault = find(adequacy, "`abs` of line");
  ASSERT_NE(fault, nullptr);
  EXPECT_EQ(fault->end, FaultEnd::equivalent);
  EXPECT_LT(tellable_faults(adequacy), std::ssize(adequacy.faults));
}

TEST_F(AdequacyTest, SaysThatItsTimeWasUp) {
  RefereeJob job{.task_key = "task", .adequacy_secrets = 2, .secret = "secret"};
  job.budget.seconds = 0;
  const auto task = matrix_task("aten::_softmax", {plan::i(-1), plan::Value{false}});
  EXPECT_NE(referee_of(task, {})->judge(job).adequacy.value().why_not, "");
}

TEST_F(AdequacyTest, SaysWhyATaskIsNotMeasured) {
  plan::PlanBuilder task(plan::PlanRole::task);
  const int x = task.tensor({4});
  task.aten(plan::Phase::inputs, "aten::randn", {plan::ints({4})}, {x}, {language::kOnGpu})
      .input(plan::t(x));
  task.plan().unplanned = "a loop over values";
  EXPECT_EQ(measure(task).why_not, "its forward has no plan");
}

}  // namespace
}  // namespace tritonsmith::gym::referee
