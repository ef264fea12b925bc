// These tests run the real Python and PyTorch on the CPU.
#include "gym/judge/python_reference.h"

#include <gtest/gtest.h>

#include "gym/judge/referee_process.h"
#include "gym/judge/referee_with_python.h"
#include "gym/judge/testing/fake_pool.h"

namespace tritonsmith::gym::judge {
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

const PythonReferenceOptions kOptions = {.python = TRITONSMITH_PYTHON, .device = "cpu"};

TEST(ReferenceShell, TimesATaskAsItIsWrittenAndSaysWhatFails) {
  PythonReference reference(kOptions);
  const auto timing = reference.time(kTask, "eager");
  ASSERT_TRUE(timing) << timing.error().message;
  EXPECT_EQ(timing->n, 100);
  EXPECT_GT(timing->p10, 0);
  EXPECT_LE(timing->p10, timing->median);
  EXPECT_LE(timing->median, timing->p90);
  EXPECT_EQ(*reference.time(kTask, "eager"), *timing) << "told again, not measured again";
  const auto broken = reference.time("raise ValueError('of the task')", "eager");
  ASSERT_FALSE(broken);
  EXPECT_NE(broken.error().message.find("of the task"), std::string::npos);
  const auto gone = reference.time("import os; os._exit(3)", "eager");
  EXPECT_FALSE(gone);
  EXPECT_TRUE(reference.time(fmt::format("{}#", kTask), "eager")) << "it is started again";
  reference.interrupt();
  EXPECT_FALSE(reference.time(fmt::format("{}##", kTask), "eager"));
}

TEST(RefereeWithShell, AddsWhatTheTaskTakesOtherwiseToATimedReport) {
  referee::RefereeReport report{.ran = true, .correct = true};
  RefereeWithPython referee(
      [&](PythonReference&) {
        return std::make_unique<FakeReferee>(
            [&](const referee::RefereeJob&) -> RefereeOutcome { return report; });
      },
      kOptions, {"eager", "no such way"});
  const referee::RefereeJob job{.task_source = kTask};
  EXPECT_FALSE(std::get<referee::RefereeReport>(referee.judge(job, "")).timing)
      << "it was not timed";
  report.timing = referee::PlanTiming{};
  const auto told = std::get<referee::RefereeReport>(referee.judge(job, ""));
  ASSERT_EQ(told.baselines.size(), 1U);
  EXPECT_EQ(told.baselines[0].first, "eager");
  EXPECT_EQ(told.baselines[0].second.n, 100);
  EXPECT_EQ(told.timing->reference.n, 0) << "the referee's to say, where the plan was replayed";
  ASSERT_EQ(told.findings.size(), 1U);
  EXPECT_EQ(told.findings[0].rule, "baseline_failed");
  referee::RefereeJob asks = job;
  asks.baselines = {"eager", "nor such"};
  const auto asked = std::get<referee::RefereeReport>(referee.judge(asks, ""));
  EXPECT_EQ(asked.baselines.size(), 1U) << "what all jobs get is not timed twice";
  EXPECT_EQ(asked.findings.size(), 2U) << "what the job asks for is tried as well";
  report.reference = ReferenceKind::python;
  const auto by_shell = std::get<referee::RefereeReport>(referee.judge(job, ""));
  EXPECT_EQ(by_shell.timing->reference, told.baselines[0].second);
}

constexpr const char* kDataDependent = R"(
import torch

class Model(torch.nn.Module):
    def forward(self, x):
        return x / x.abs().max().item()

def get_inputs():
    return [torch.randn(4)]
)";

// Asks through a referee that asks during a job (testing/fake_referee.py), beside a real Python
// reference or none.
std::string told_by(const std::string& task, PythonReference* reference) {
  RefereeProcess referee({.argv = {TRITONSMITH_PYTHON, "-S", "-E", TRITONSMITH_FAKE_REFEREE}},
                         reference);
  const referee::RefereeJob job{
      .task_key = "t", .task_source = task, .candidate_plan = "ask", .budget = {.seconds = 0.5}};
  const auto outcome = referee.judge(job, "the task");
  const auto* report = std::get_if<referee::RefereeReport>(&outcome);
  return report != nullptr ? report->findings.at(0).message
                           : std::get<RefereeFailure>(outcome).message;
}

TEST(RelayToShell, BringsWhatForwardMakesOfTheDrawnInputs) {
  PythonReference reference(kOptions);
  EXPECT_EQ(told_by(kDataDependent, &reference),
            R"({"ending": null, "outputs": {"t": 0}, "prepare": {"mode": "train"}, )"
            R"("values": [[-1.0, 0.125, 0.25, 0.5], [-1.0, 0.125, 0.25, 0.5]]})")
      << "float32, and then float64; on the reference's own time, however long it takes to start";
}

constexpr const char* kNormAndDropout = R"(
import torch

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = torch.nn.BatchNorm1d(4, affine=False, track_running_stats=False)
        self.dropout = torch.nn.Dropout()

    def forward(self, x):
        return torch.full_like(self.dropout(x), float(self.norm.training))

def get_inputs():
    return [torch.randn(4)]
)";

TEST(RelayToShell, SwitchesOffWhatDrawsAndNothingElse) {
  PythonReference reference(kOptions);
  EXPECT_EQ(told_by(kNormAndDropout, &reference),
            R"({"ending": null, "outputs": {"t": 0}, "prepare": {"mode": "eval"}, )"
            R"("values": [[1.0, 1.0, 1.0, 1.0], [1.0, 1.0, 1.0, 1.0]]})");
}

TEST(RelayToShell, MakesAnAnswerOfWhateverGoesWrong) {
  PythonReference reference(kOptions);
  EXPECT_NE(told_by("raise ValueError('of the task')", &reference).find("ValueError: of the task"),
            std::string::npos);
  const std::string exits = told_by("import os; os._exit(3)", &reference);
  EXPECT_NE(exits.find("task_failed"), std::string::npos) << exits;
  EXPECT_NE(exits.find("its process exited with code 3"), std::string::npos) << exits;
  const std::string writes = told_by("import os; os.write(3, b'garbage!' * 99)", &reference);
  EXPECT_NE(writes.find("task_failed"), std::string::npos) << writes;
  const std::string kill = "import os, signal; os.kill(os.getpid(), signal.SIGKILL)";
  EXPECT_NE(told_by(kill, &reference).find("it broke off"), std::string::npos)
      << "the machine may lack memory";
  EXPECT_NE(told_by(kill, &reference).find("task_failed"), std::string::npos) << "the task does it";
  const std::string draws =
      fmt::format("{}\nModel.forward = lambda self, x: x + torch.rand(4)\n", kDataDependent);
  EXPECT_NE(told_by(draws, &reference).find("nondeterministic_reference"), std::string::npos);
  EXPECT_NE(told_by(kDataDependent, nullptr).find("there is no Python reference here"),
            std::string::npos);
  EXPECT_NE(told_by(kDataDependent, &reference).find("0.125"), std::string::npos) << "it goes on";
}

}  // namespace
}  // namespace tritonsmith::gym::judge
