// With the real Python and torch, on the CPU.
#include "gym/schedule/reference_shell.h"

#include <gtest/gtest.h>

#include "gym/schedule/baseline_referee.h"
#include "gym/schedule/testing/fake_pool.h"

namespace tritonsmith::gym {
namespace {

constexpr const char* kTask = R"(
import torch

class Model(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.linear = torch.nn.Linear(width, width)

    def forward(self, x):
        return self.linear(x) if x.sum() > 0 else self.linear(-x)  # no plan has that

def get_inputs():
    return [torch.randn(4, 8)]

def get_init_inputs():
    return [8]
)";

const ReferenceShellOptions kOptions = {.python = TRITONSMITH_PYTHON, .device = "cpu"};

TEST(ReferenceShell, TimesATaskAsItIsWrittenAndSaysWhatFails) {
  ReferenceShell shell(kOptions);
  const auto timing = shell.time(kTask, "eager");
  ASSERT_TRUE(timing) << timing.error().message;
  EXPECT_EQ(timing->n, 100);
  EXPECT_GT(timing->p10, 0);
  EXPECT_LE(timing->p10, timing->median);
  EXPECT_LE(timing->median, timing->p90);
  EXPECT_EQ(*shell.time(kTask, "eager"), *timing) << "told again, not measured again";
  const auto broken = shell.time("raise ValueError('of the task')", "eager");
  ASSERT_FALSE(broken);
  EXPECT_NE(broken.error().message.find("of the task"), std::string::npos);
  const auto gone = shell.time("import os; os._exit(3)", "eager");
  EXPECT_FALSE(gone);
  EXPECT_TRUE(shell.time(fmt::format("{}#", kTask), "eager")) << "it is started again";
  shell.interrupt();
  EXPECT_FALSE(shell.time(fmt::format("{}##", kTask), "eager"));
}

TEST(BaselineReferee, AddsWhatTheTaskTakesOtherwiseToATimedReport) {
  RefereeReport report{.ran = true, .correct = true};
  BaselineReferee referee(
      std::make_unique<FakeReferee>([&](const RefereeJob&) -> RefereeOutcome { return report; }),
      kOptions, {"eager", "no such way"});
  const RefereeJob job{.task_source = kTask};
  EXPECT_FALSE(std::get<RefereeReport>(referee.judge(job, "")).timing) << "it was not timed";
  report.timing = PlanTiming{};
  const auto told = std::get<RefereeReport>(referee.judge(job, ""));
  ASSERT_EQ(told.findings.size(), 2U);
  EXPECT_EQ(told.findings[0].rule, "baseline_eager");
  EXPECT_NE(told.findings[0].message.find("median of 100"), std::string::npos);
  EXPECT_EQ(told.findings[1].rule, "baseline_failed");
}

}  // namespace
}  // namespace tritonsmith::gym
