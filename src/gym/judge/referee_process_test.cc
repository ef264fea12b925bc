#include "gym/judge/referee_process.h"

#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <thread>

#include "base/file.h"
#include "base/temp_dir.h"
#include "gym/wire/frame.h"

namespace tritonsmith::gym::judge {
namespace {

RefereeProgram fake_program() {
  const char* set = std::getenv("TRITONSMITH_PYTHON");
  return {.argv = {set != nullptr ? set : TRITONSMITH_PYTHON, "-S", "-E", TRITONSMITH_FAKE_REFEREE},
          .grace_seconds = 5};
}

referee::RefereeJob job(std::string plan) {
  return {
      .task_key = "t", .candidate_plan = std::move(plan), .secret = "s", .budget = {.seconds = 5}};
}

struct RefereeProcessTest : ::testing::Test {
  RefereeProcess referee{fake_program()};
  RefereeOutcome judge(const std::string& plan) { return referee.judge(job(plan), "the task"); }
  static const referee::RefereeReport& report(const RefereeOutcome& outcome) {
    return std::get<referee::RefereeReport>(outcome);
  }
};

TEST_F(RefereeProcessTest, HandsOverTheTaskWhenTheRefereeLacksItAndKeepsTheProcess) {
  const auto first = judge("ok");
  EXPECT_TRUE(report(first).correct);
  EXPECT_EQ(report(first).findings.at(0).message, "the task");
  EXPECT_TRUE(report(judge("ok")).correct);
  EXPECT_EQ(referee.starts(), 1);
}

TEST_F(RefereeProcessTest, CalibratesAGpuWithTheProcessThatJudgesThere) {
  EXPECT_FALSE(referee.calibrate()) << "it has no GPU";
  RefereeProgram program = fake_program();
  program.gpu = 0;
  RefereeProcess on_gpu(program);
  const auto calibration = on_gpu.calibrate();
  ASSERT_TRUE(calibration) << calibration.error().message;
  EXPECT_EQ(calibration->version, 3);
  EXPECT_DOUBLE_EQ(calibration->compute_ms, 2.5);
  const auto again = on_gpu.calibrate();
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().message, "the GPU is busy");
  EXPECT_TRUE(report(on_gpu.judge(job("ok"), "the task")).correct);
  EXPECT_EQ(on_gpu.starts(), 1);
}

TEST_F(RefereeProcessTest, DoesNotSendWhatARefereeWouldTakeForABrokenConnection) {
  const auto outcome = judge(std::string(wire::kMaxFrameBytes + 1, ' '));
  EXPECT_EQ(report(outcome).error->error_class, ErrorClass::too_large_to_evaluate);
  EXPECT_EQ(report(outcome).fault, Fault::none);
  EXPECT_TRUE(report(judge("ok")).correct);
  EXPECT_EQ(referee.starts(), 1);
}

TEST_F(RefereeProcessTest, ComesUpBeforeTheFirstJobWhereItIsToldTo) {
  EXPECT_EQ(referee.starts(), 0);
  RefereeProgram program = fake_program();
  program.early = true;
  RefereeProcess ready(program);
  EXPECT_EQ(ready.starts(), 1);
  EXPECT_TRUE(report(ready.judge(job("ok"), "the task")).correct);
  EXPECT_EQ(ready.starts(), 1);
}

// Returns the fake referees among this process's descendants.
std::vector<pid_t> referees_of_this_process() {
  std::vector<pid_t> found;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    const auto status = read_file(entry.path() / "status");
    const auto command = read_file(entry.path() / "cmdline");
    if (!status || !command || command->find(TRITONSMITH_FAKE_REFEREE) == std::string::npos)
      continue;
    if (status->find(fmt::format("\nPPid:\t{}\n", ::getpid())) != std::string::npos &&
        status->find("\nState:\tZ") == std::string::npos)
      found.push_back(std::stoi(name));
  }
  std::ranges::sort(found);
  return found;
}

RefereeProgram program_with_spare() {
  RefereeProgram program = fake_program();
  program.spares = 1;
  return program;
}

TEST_F(RefereeProcessTest, SpareReplacesTheKilledOneAndIsReplaced) {
  {
    RefereeProcess two(program_with_spare());
    EXPECT_TRUE(report(two.judge(job("ok"), "the task")).correct);
    EXPECT_EQ(two.starts(), 2);
    const auto first = referees_of_this_process();
    ASSERT_EQ(first.size(), 2u);
    EXPECT_EQ(::kill(first[0], SIGKILL), 0);
    EXPECT_TRUE(report(two.judge(job("ok"), "the task")).correct);
    EXPECT_EQ(two.starts(), 3);
    const auto second = referees_of_this_process();
    EXPECT_EQ(std::ranges::count(second, first[0]), 0);
    EXPECT_EQ(std::ranges::count(second, first[1]), 1) << "it judges now";
    EXPECT_EQ(second.size(), 2u);
  }
  EXPECT_EQ(referees_of_this_process(), std::vector<pid_t>{});
}

TEST_F(RefereeProcessTest, SpareThatWasKilledStandingByIsNotMissed) {
  RefereeProcess two(program_with_spare());
  EXPECT_TRUE(report(two.judge(job("ok"), "the task")).correct);
  for (const pid_t each : referees_of_this_process()) ::kill(each, SIGKILL);
  EXPECT_TRUE(report(two.judge(job("ok"), "the task")).correct);
  EXPECT_TRUE(report(two.judge(job("ok"), "the task")).correct);
  EXPECT_EQ(referees_of_this_process().size(), 2u);
}

TEST_F(RefereeProcessTest, SpareThatCannotComeUpIsNotTriedWithEveryJob) {
  const auto directory = TempDir::make("referee");
  const std::string mark = (directory->path() / "up").string();
  RefereeProgram program = program_with_spare();
  const std::string fake = fmt::format("{}", fmt::join(program.argv, " "));
  program.argv = {"/bin/sh", "-c",
                  fmt::format("test -e {0} && exit 1; touch {0}; exec {1}", mark, fake)};
  RefereeProcess alone(program);
  for (int k = 0; k < 50; ++k) EXPECT_TRUE(report(alone.judge(job("ok"), "the task")).correct);
  EXPECT_EQ(alone.starts(), 2);
}

TEST_F(RefereeProcessTest, TellsOfATimeoutBeforeTheHangingRefereeIsGone) {
  RefereeProgram impatient = program_with_spare();
  impatient.grace_seconds = 0.2;
  RefereeProcess quick(impatient);
  referee::RefereeJob hanging = job("hang");
  hanging.budget.seconds = 0.1;
  EXPECT_EQ(std::get<RefereeFailure>(quick.judge(hanging, "the task")).kind,
            RefereeFailure::Kind::timeout);
  const Stopwatch watch;
  EXPECT_TRUE(report(quick.judge(job("ok"), "the task")).correct);
  EXPECT_LT(watch.seconds(), 5);
  EXPECT_EQ(referees_of_this_process().size(), 2u);
}

TEST_F(RefereeProcessTest, BlamesThePlanThatKillsTwoRefereesAndJudgesTheNextAsBefore) {
  const auto outcome = judge("segfault");
  EXPECT_EQ(report(outcome).error->error_class, ErrorClass::crashed_referee);
  EXPECT_EQ(report(outcome).fault, Fault::candidate);
  EXPECT_TRUE(report(judge("ok")).correct);
  EXPECT_EQ(referee.starts(), 3);
}

TEST_F(RefereeProcessTest, ForgivesADeathThatDoesNotHappenAgain) {
  const auto directory = TempDir::make("referee");
  EXPECT_TRUE(report(judge("segfault-once " + (directory->path() / "died").string())).correct);
  EXPECT_EQ(referee.starts(), 2);
}

TEST_F(RefereeProcessTest, KillsARefereeThatDoesNotAnswerInTime) {
  RefereeProgram impatient = fake_program();
  impatient.grace_seconds = 0.2;
  RefereeProcess quick(impatient);
  referee::RefereeJob hanging = job("hang");
  hanging.budget.seconds = 0.1;
  const auto outcome = quick.judge(hanging, "the task");
  EXPECT_EQ(std::get<RefereeFailure>(outcome).kind, RefereeFailure::Kind::timeout);
  EXPECT_TRUE(std::holds_alternative<referee::RefereeReport>(quick.judge(job("ok"), "the task")));
}

// A referee process that has judged two probes, one right and one wrong.
struct ProbedRefereeTest : RefereeProcessTest {
  ProbedRefereeTest() {
    referee::RefereeJob right = job("ok"), wrong = job("wrong " + errs),
                        once = job("wrong-but-once " + erred);
    right.probe = referee::Probe::right;
    wrong.probe = once.probe = referee::Probe::wrong;
    for (const referee::RefereeJob& probe : {right, wrong, once}) EXPECT_FALSE(errs_at(probe));
  }
  bool errs_at(const referee::RefereeJob& probe) {
    return report(referee.judge(probe, "the task")).correct !=
           (probe.probe == referee::Probe::right);
  }
  static void kill_the_live_one() {
    for (const pid_t each : referees_of_this_process()) ::kill(each, SIGKILL);
  }

  std::optional<TempDir> directory = std::move(*TempDir::make("referee"));
  std::string errs = (directory->path() / "errs").string();
  std::string erred = (directory->path() / "once").string();
};

TEST_F(ProbedRefereeTest, AReplacementThatMisjudgesAProbeJudgesNothingElse) {
  kill_the_live_one();
  ASSERT_TRUE(write_file_atomic(erred, ""));
  EXPECT_TRUE(report(judge("ok")).correct);
  EXPECT_FALSE(std::filesystem::exists(erred)) << "one accepted what is wrong";
  EXPECT_EQ(referee.starts(), 3) << "and another took its place";
}

TEST_F(ProbedRefereeTest, StopsJudgingWhenEachReplacementErrs) {
  kill_the_live_one();
  ASSERT_TRUE(write_file_atomic(errs, ""));
  const auto outcome = judge("ok");
  EXPECT_EQ(std::get<RefereeFailure>(outcome).kind, RefereeFailure::Kind::misjudges);
  EXPECT_EQ(referee.starts(), 4);
  EXPECT_EQ(std::get<RefereeFailure>(judge("ok")).kind, RefereeFailure::Kind::misjudges);
  EXPECT_EQ(referee.starts(), 4);
  EXPECT_EQ(referees_of_this_process().size(), 0u);
}

TEST_F(ProbedRefereeTest, AsksTheLiveOneNoMore) {
  ASSERT_TRUE(write_file_atomic(errs, ""));
  EXPECT_TRUE(report(judge("ok")).correct);
}

TEST_F(ProbedRefereeTest, BlamesNoPlanForWhatAReplacementDiesOf) {
  const std::string died = (directory->path() / "died").string();
  ASSERT_TRUE(write_file_atomic(died, ""));
  referee::RefereeJob fragile = job("segfault-once " + died);
  fragile.probe = referee::Probe::right;
  EXPECT_FALSE(errs_at(fragile));
  std::filesystem::remove(died);
  kill_the_live_one();
  EXPECT_EQ(std::get<RefereeFailure>(judge("ok")).kind, RefereeFailure::Kind::infrastructure);
  EXPECT_TRUE(report(judge("ok")).correct);
}

TEST_F(RefereeProcessTest, ASpareIsAskedTheProbesToo) {
  const auto directory = TempDir::make("referee");
  const std::string errs = (directory->path() / "errs").string();
  RefereeProcess two(program_with_spare());
  referee::RefereeJob wrong = job("wrong " + errs);
  wrong.probe = referee::Probe::wrong;
  EXPECT_FALSE(report(two.judge(wrong, "the task")).correct);
  ASSERT_TRUE(write_file_atomic(errs, ""));
  ASSERT_EQ(::kill(referees_of_this_process().front(), SIGKILL), 0);
  EXPECT_EQ(std::get<RefereeFailure>(two.judge(job("ok"), "the task")).kind,
            RefereeFailure::Kind::misjudges);
}

TEST_F(RefereeProcessTest, EndsAtOnceWhenInterrupted) {
  referee::RefereeJob hanging = job("hang");
  hanging.budget.seconds = 600;
  std::jthread other([this] {
    while (!referee.is_live()) std::this_thread::yield();
    referee.interrupt();
  });
  const auto outcome = referee.judge(hanging, "the task");
  EXPECT_EQ(std::get<RefereeFailure>(outcome).kind, RefereeFailure::Kind::infrastructure);
  EXPECT_TRUE(std::holds_alternative<RefereeFailure>(judge("ok")));
}

TEST_F(RefereeProcessTest, CallsNonsenseAnInfrastructureFault) {
  EXPECT_EQ(std::get<RefereeFailure>(judge("garble")).kind, RefereeFailure::Kind::infrastructure);
}

TEST_F(RefereeProcessTest, SaysSoWhenThereIsNoProgramToStart) {
  RefereeProcess missing({.argv = {"/nowhere/referee"}});
  const auto outcome = missing.judge(job("ok"), "the task");
  EXPECT_NE(std::get<RefereeFailure>(outcome).message.find("/nowhere/referee"), std::string::npos);
}

}  // namespace
}  // namespace tritonsmith::gym::judge
