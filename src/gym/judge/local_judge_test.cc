#include "gym/judge/local_judge.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>

#include "base/temp_dir.h"
#include "gym/judge/known_verdicts.h"
#include "gym/judge/start_check.h"
#include "gym/judge/testing/fake_pool.h"
#include "gym/plan/plan.h"

namespace tritonsmith::gym::judge {
namespace {

std::string plan_json(plan::PlanRole role) {
  plan::Plan plan{.role = role, .target = "sm_90"};
  plan.tensors.push_back({.shape = {4}, .stride = {1}, .storage = 0, .storage_bytes = 16});
  plan.tensors.push_back({.shape = {4}, .stride = {1}, .storage = 1, .storage_bytes = 16});
  plan.inputs.push_back(plan::Value{plan::TensorRef{0}});
  if (role == plan::PlanRole::task) {
    plan.steps.push_back(
        {.phase = plan::Phase::inputs,
         .action = plan::AtenCall{
             "aten::rand", {plan::Value{plan::List{{plan::Value{std::int64_t{4}}}}}}, {}, {0}}});
    plan.steps.push_back(
        {.phase = plan::Phase::forward,
         .action = plan::AtenCall{"aten::relu", {plan::Value{plan::TensorRef{0}}}, {}, {1}}});
  } else {
    plan.kernels.push_back({.name = "k", .ttir = "module {}", .arguments = {"*fp32"}, .line = 2});
    plan.steps.push_back(
        {.phase = plan::Phase::forward,
         .line = 3,
         .action = plan::AtenCall{"aten::empty_like", {plan::Value{plan::TensorRef{0}}}, {}, {1}}});
    plan.steps.push_back({.phase = plan::Phase::forward,
                          .line = 4,
                          .action = plan::LaunchStep{{plan::LaunchChoice{
                              .kernel = 0, .arguments = {plan::Value{plan::TensorRef{1}}}}}}});
  }
  plan.outputs = plan::Value{plan::TensorRef{1}};
  return plan::to_json(plan).dump();
}

referee::RefereeReport good_report() {
  return {.ran = true,
          .correct = true,
          .numerics = Numerics{.max_abs = 1e-6, .max_rel = 1e-6, .trials = 3}};
}

struct LocalJudgeTest : ::testing::Test {
  LocalJudgeTest() {
    pool->on_capture = [](const capture::CaptureRequest& request) {
      return captured(plan_json(request.role == capture::CaptureRole::task
                                    ? plan::PlanRole::task
                                    : plan::PlanRole::candidate));
    };
  }

  LocalJudge& judge() {
    if (!judge_) {
      LocalJudgeParts parts;
      parts.pool = std::move(owned_pool);
      parts.make_referee = [this] {
        return referee_that([this](auto& asked) { return referee(asked); });
      };
      parts.gpus.resize(on_gpus.size());
      parts.make_replay_referee = [this](int gpu) {
        return referee_that(on_gpus.at(static_cast<std::size_t>(gpu)));
      };
      parts.inspect = [this](std::string_view source, Policy policy) {
        return inspect(source, policy);
      };
      parts.store = std::move(store);
      parts.secret = "secret";
      judge_ = std::make_unique<LocalJudge>(config, std::move(parts));
    }
    return *judge_;
  }

  // Looks at tasks, and judges candidates so.
  std::unique_ptr<FakeReferee> referee_that(FakeReferee::Answer judges) {
    return std::make_unique<FakeReferee>(
        [this, judges = std::move(judges)](const referee::RefereeJob& asked) {
          if (!asked.candidate_plan.empty()) return judges(asked);
          EXPECT_EQ(asked.probe, referee::Probe::none) << "a look at a task is none";
          return look(asked);
        });
  }

  static api::JudgeJob job(std::uint64_t id,
                           std::string kernel = "first\nsecond\n  third\nfourth") {
    return {.id = id, .task = {.id = "t", .source = "task"}, .kernel = std::move(kernel)};
  }

  Verdict verdict_of_one(api::JudgeJob one) {
    EXPECT_TRUE(judge().submit(std::move(one)));
    const auto judged = judge().next(Deadline::after(std::chrono::seconds(10)));
    EXPECT_TRUE(judged && *judged);
    return judged && *judged ? (*judged)->verdict : Verdict{};
  }

  LocalJudgeConfig config;
  std::unique_ptr<FakePool> owned_pool = std::make_unique<FakePool>();
  FakePool* pool = owned_pool.get();
  FakeReferee::Answer referee = [](const referee::RefereeJob&) { return good_report(); };
  std::vector<FakeReferee::Answer> on_gpus;
  FakeReferee::Answer look = [](const referee::RefereeJob&) {
    return referee::RefereeReport();
  };  // at a task
  Inspect inspect = [](std::string_view, Policy) { return std::vector<Finding>(); };
  std::optional<VerdictStore> store;
  std::unique_ptr<LocalJudge> judge_;
};

TEST_F(LocalJudgeTest, PutsOneVerdictTogetherFromAllParts) {
  const Verdict verdict = verdict_of_one(job(1));
  EXPECT_EQ(verdict.stage, Stage::correct);
  EXPECT_TRUE(verdict.compiled && verdict.correct && verdict.accepted);
  EXPECT_EQ(verdict.kernels.at(0).registers, 24);
  EXPECT_EQ(verdict.kernels.at(0).launches, 1);
  EXPECT_EQ(verdict.aten.at(0).op, "aten::empty_like");
  EXPECT_EQ(verdict.environment.torch, "2");
  EXPECT_EQ(verdict.task_id, "t");
}

TEST_F(LocalJudgeTest, CapturesATaskOnceForAllItsCandidates) {
  for (std::uint64_t id = 1; id <= 3; ++id)
    ASSERT_TRUE(judge().submit(job(id, "kernel " + std::to_string(id))));
  for (int k = 0; k < 3; ++k) ASSERT_TRUE(*judge().next(Deadline::after(std::chrono::seconds(10))));
  EXPECT_EQ(pool->captures().size(), 4U);
}

TEST_F(LocalJudgeTest, JudgesEqualJobsInFlightOnce) {
  pool->hold();
  ASSERT_TRUE(judge().submit(job(1)));
  ASSERT_TRUE(judge().submit(job(2)));
  // The second is seen before anything is released only if both events were handled: captures tell.
  while (pool->captures().empty()) std::this_thread::yield();
  pool->release();
  for (int k = 0; k < 2; ++k)
    EXPECT_TRUE((*judge().next(Deadline::after(std::chrono::seconds(10))))->verdict.accepted);
}

TEST_F(LocalJudgeTest, EndsWhereInspectionRefuses) {
  inspect = [](std::string_view, Policy) {
    return std::vector<Finding>{{"file_access", Severity::reject, 2, "opens a file"}};
  };
  const Verdict verdict = verdict_of_one(job(1));
  EXPECT_EQ(verdict.stage, Stage::parsed);
  EXPECT_EQ(verdict.error->error_class, "refused");
  EXPECT_EQ(verdict.error->excerpt, "second");
  EXPECT_TRUE(pool->captures().empty());
}

TEST_F(LocalJudgeTest, TellsTheCandidatesOwnLineWhenCaptureFails) {
  pool->on_capture = [](const capture::CaptureRequest& request) {
    if (request.role == capture::CaptureRole::task)
      return captured(plan_json(plan::PlanRole::task));
    return capture_failure(Stage::parsed, "exception", 3);
  };
  const Verdict verdict = verdict_of_one(job(1));
  EXPECT_EQ(verdict.stage, Stage::parsed);
  EXPECT_EQ(verdict.fault, Fault::candidate);
  EXPECT_EQ(verdict.error->excerpt, "third");
}

TEST_F(LocalJudgeTest, CallsAKernelThatPtxasRefusesNotCompiledWhateverItComputes) {
  pool->on_compile = [](const compile::CompileRequest&) {
    return compile::CompileOutcome{
        .result = sandbox::CandidateFailure{Stage::captured, {.error_class = "compile_error"}}};
  };
  const Verdict verdict = verdict_of_one(job(1));
  EXPECT_EQ(verdict.stage, Stage::captured);
  EXPECT_FALSE(verdict.compiled || verdict.correct);
  EXPECT_EQ(verdict.error->error_class, "compile_error");
}

TEST_F(LocalJudgeTest, PassesOverConfigsThatDoNotFitTheChipAsTritonsTunerDoes) {
  const auto tuned = [](std::size_t configs) {
    plan::Plan plan = *plan::parse_plan(plan_json(plan::PlanRole::candidate));
    auto& launch = std::get<plan::LaunchStep>(plan.steps.back().action);
    for (std::size_t k = 1; k < configs; ++k) {
      plan.kernels.push_back(plan.kernels.front());
      plan.kernels.back().num_warps = 4 << k;
      launch.choices.push_back(launch.choices.front());
      launch.choices.back().kernel = static_cast<int>(k);
    }
    return plan::to_json(plan).dump();
  };
  std::size_t configs = 3;
  pool->on_capture = [&](const capture::CaptureRequest& request) {
    return captured(request.role == capture::CaptureRole::task ? plan_json(plan::PlanRole::task)
                                                               : tuned(configs));
  };
  pool->on_compile = [](const compile::CompileRequest& request) -> compile::CompileOutcome {
    if (request.num_warps == 8)
      return {.result = compile::CompiledKernel{.cubin = "c", .registers = 24}};
    return {.result =
                sandbox::CandidateFailure{Stage::captured, {.error_class = "out_of_resources"}}};
  };
  const Verdict verdict = verdict_of_one(job(1));
  EXPECT_TRUE(verdict.accepted);
  EXPECT_EQ(verdict.kernels.at(0).launches, 0);
  EXPECT_EQ(verdict.kernels.at(1).launches, 1);
  EXPECT_EQ(std::ranges::count(verdict.findings, "autotune_passed_over", &Finding::rule), 2);
  configs = 1;
  EXPECT_EQ(verdict_of_one(job(2, "other")).error->error_class, "out_of_resources");
}

TEST_F(LocalJudgeTest, RetriesADeadlineHitOnceAlone) {
  std::atomic<int> attempts = 0;
  pool->on_capture = [&](const capture::CaptureRequest& request) {
    if (request.role == capture::CaptureRole::task)
      return captured(plan_json(plan::PlanRole::task));
    return ++attempts == 1 ? capture_failure(Stage::inspected, "timeout")
                           : captured(plan_json(plan::PlanRole::candidate));
  };
  EXPECT_TRUE(verdict_of_one(job(1)).accepted);
  attempts = -10;  // now every attempt but the first of the next ten times out
  pool->on_capture = [&](const capture::CaptureRequest&) {
    return capture_failure(Stage::inspected, "timeout");
  };
  EXPECT_EQ(verdict_of_one(job(2, "other")).error->error_class, "timeout");
}

TEST_F(LocalJudgeTest, DoesNotRetryADeadlineHitThatNobodyElseCanHaveCaused) {
  std::atomic<int> attempts = 0;
  pool->on_capture = [&](const capture::CaptureRequest& request) -> capture::CaptureOutcome {
    if (request.role == capture::CaptureRole::task)
      return captured(plan_json(plan::PlanRole::task));
    ++attempts;
    return {.result = sandbox::CandidateFailure{.stage = Stage::inspected,
                                                .error = {.error_class = "timeout"},
                                                .undisturbed = true}};
  };
  EXPECT_EQ(verdict_of_one(job(1)).error->error_class, "timeout");
  EXPECT_EQ(attempts, 1);
}

TEST_F(LocalJudgeTest, ForgivesAGuestThatWasKilledTwice) {
  std::atomic<int> attempts = 0;
  std::atomic<int> kills = 2;
  pool->on_capture = [&](const capture::CaptureRequest& request) {
    if (request.role == capture::CaptureRole::task)
      return captured(plan_json(plan::PlanRole::task));
    return ++attempts <= kills ? capture_failure(Stage::inspected, "killed")
                               : captured(plan_json(plan::PlanRole::candidate));
  };
  EXPECT_TRUE(verdict_of_one(job(1)).accepted);
  attempts = 0;
  kills = 3;
  EXPECT_EQ(verdict_of_one(job(2, "kills itself")).error->error_class, "killed");
}

TEST_F(LocalJudgeTest, DoesNotBlameATaskWhoseGuestWasKilled) {
  std::atomic<int> attempts = 0;
  pool->on_capture = [&](const capture::CaptureRequest& request) {
    if (request.role == capture::CaptureRole::candidate)
      return captured(plan_json(plan::PlanRole::candidate));
    return ++attempts <= 2 ? capture_failure(Stage::inspected, "killed")
                           : captured(plan_json(plan::PlanRole::task));
  };
  EXPECT_TRUE(verdict_of_one(job(1)).accepted);
  EXPECT_TRUE(verdict_of_one(job(2, "another kernel")).accepted);
  EXPECT_EQ(attempts, 3);
}

TEST_F(LocalJudgeTest, KeepsNoMorePlansOfTasksThanItMay) {
  config.task_plans = 2;
  const auto judge_task = [&](const std::string& task, std::uint64_t id) {
    api::JudgeJob one = job(id, "kernel " + std::to_string(id));
    one.task.source = task;
    EXPECT_TRUE(verdict_of_one(one).accepted);
  };
  const auto captures_of = [&](const std::string& task) {
    return std::ranges::count(pool->captures(), task, &capture::CaptureRequest::source);
  };
  std::uint64_t id = 0;
  for (const char* task : {"a", "b", "a", "c", "a"}) judge_task(task, ++id);
  EXPECT_EQ(captures_of("a"), 1);  // used last whenever one had to go
  judge_task("b", ++id);
  EXPECT_EQ(captures_of("b"), 2);
}

TEST_F(LocalJudgeTest, RetriesAnInfrastructureFaultAndThenSaysSo) {
  std::atomic<int> asked = 0;
  referee = [&](const referee::RefereeJob&) -> RefereeOutcome {
    ++asked;
    return RefereeFailure{RefereeFailure::Kind::infrastructure, "no memory"};
  };
  const Verdict verdict = verdict_of_one(job(1));
  EXPECT_EQ(verdict.fault, Fault::infrastructure);
  EXPECT_EQ(verdict.error->message, "no memory");
  EXPECT_EQ(asked, 2);
}

TEST_F(LocalJudgeTest, SaysWhenTheTaskItselfCannotBeJudged) {
  pool->on_capture = [](const capture::CaptureRequest&) {
    return capture_failure(Stage::parsed, "syntax_error", 7);
  };
  const Verdict verdict = verdict_of_one(job(1));
  EXPECT_EQ(verdict.error->error_class, "task_failed");
  EXPECT_NE(verdict.error->message.find("syntax_error, line 7"), std::string::npos);
  EXPECT_EQ(verdict.fault, Fault::none);
}

referee::RefereeReport degenerate() {
  referee::RefereeReport report;
  report.findings = {{.rule = "task_zeros_pass", .severity = Severity::warn, .message = "m"}};
  return report;
}

TEST_F(LocalJudgeTest, LooksAtATaskOnceAndSaysWhatItFoundInEveryVerdictOfEitherBackend) {
  on_gpus.assign(2, [](const referee::RefereeJob&) { return good_report(); });
  std::atomic<int> looks = 0;
  look = [&](const referee::RefereeJob& asked) {
    ++looks;
    EXPECT_LT(asked.budget.seconds, config.referee_seconds);
    return degenerate();
  };
  pool->on_capture = [](const capture::CaptureRequest& request) {
    if (request.source == "fails") return capture_failure(Stage::parsed, "exception", 1);
    return captured(plan_json(request.role == capture::CaptureRole::task
                                  ? plan::PlanRole::task
                                  : plan::PlanRole::candidate));
  };
  const std::vector<std::string> kernels = {"one", "two", "three", "fails"};
  int expected = 0;
  for (const Backend backend : {Backend::replay, Backend::evaluate}) {
    for (std::size_t k = 0; k < kernels.size(); ++k) {
      api::JudgeJob one = job(k, kernels[k]);
      one.backend = backend;
      ASSERT_TRUE(judge().submit(one));
    }
    for (std::size_t k = 0; k < kernels.size(); ++k) {
      const auto judged = *judge().next(Deadline::after(std::chrono::seconds(10)));
      ASSERT_TRUE(judged);
      EXPECT_EQ(std::ranges::count(judged->verdict.findings, "task_zeros_pass", &Finding::rule), 1)
          << kernels[judged->id];
      EXPECT_EQ(judged->verdict.accepted, kernels[judged->id] != "fails") << "it is no rejection";
    }
    EXPECT_EQ(looks, ++expected);
  }
  api::JudgeJob otherwise = job(9);
  otherwise.comparison = Comparison::allclose;
  verdict_of_one(otherwise);
  EXPECT_EQ(looks, 3) << "another comparison lets other answers pass";
}

TEST_F(LocalJudgeTest, JudgesThoughATaskCouldNotBeLookedAt) {
  std::atomic<int> looks = 0;
  look = [&](const referee::RefereeJob&) -> RefereeOutcome {
    if (++looks > 2) return degenerate();
    return RefereeFailure{RefereeFailure::Kind::infrastructure, "it died"};
  };
  const Verdict first = verdict_of_one(job(1));
  EXPECT_TRUE(first.accepted);
  ASSERT_EQ(first.findings.size(), 1U);
  EXPECT_EQ(first.findings[0].rule, "task_not_linted");
  EXPECT_EQ(first.findings[0].message, "it died");
  EXPECT_EQ(looks, 2);
  EXPECT_EQ(verdict_of_one(job(2, "other")).findings.at(0).rule, "task_zeros_pass");
}

TEST_F(LocalJudgeTest, ForgetsACancelledJobThatWaitsForALookAtItsTask) {
  std::atomic<bool> may_end = false;
  look = [&](const referee::RefereeJob&) {
    while (!may_end) std::this_thread::yield();
    return degenerate();
  };
  config.referees = 2;
  ASSERT_TRUE(judge().submit(job(1)));
  ASSERT_TRUE(judge().submit(job(2, "other")));
  judge().cancel(1);
  may_end = true;
  EXPECT_EQ((*judge().next(Deadline::after(std::chrono::seconds(10))))->id, 2U);
  EXPECT_FALSE(judge().next(Deadline::after(std::chrono::seconds(10)))->has_value());
}

TEST_F(LocalJudgeTest, AnswersARepeatFromTheStoreWithoutJudging) {
  const auto directory = TempDir::make("store");
  ASSERT_TRUE(directory);
  auto opened = VerdictStore::open(directory->path() / "verdicts.sqlite");
  ASSERT_TRUE(opened) << opened.error().message;
  store = std::move(*opened);
  EXPECT_FALSE(verdict_of_one(job(1)).from_store);
  const std::size_t captures = pool->captures().size();
  const Verdict again = verdict_of_one(job(2));
  EXPECT_TRUE(again.from_store && again.accepted);
  EXPECT_EQ(pool->captures().size(), captures);
  const auto known = KnownVerdicts::open(directory->path() / "verdicts.sqlite");
  ASSERT_TRUE(known);
  (*known)->learn(judge().versions());
  EXPECT_TRUE((*known)->find(job(3))) << "who takes submissions finds it under the same key";
  api::JudgeJob anew = job(3);
  anew.use_store = false;
  EXPECT_FALSE(verdict_of_one(anew).from_store);
}

referee::RefereeReport wrong_report() {
  return {
      .ran = true, .error = VerdictError{.error_class = "wrong_value"}, .fault = Fault::candidate};
}

// Whose plans say by their kernel's name whether they are right.
struct SelfTestedJudgeTest : LocalJudgeTest {
  SelfTestedJudgeTest() {
    pool->on_capture = [](const capture::CaptureRequest& request) {
      plan::Plan plan = *plan::parse_plan(plan_json(request.role == capture::CaptureRole::task
                                                        ? plan::PlanRole::task
                                                        : plan::PlanRole::candidate));
      const auto one = std::ranges::find(self_test_cases(), request.source, &SelfTestCase::kernel);
      if (one != self_test_cases().end()) plan.kernels.at(0).name = one->honest ? "right" : "wrong";
      return captured(plan::to_json(plan).dump());
    };
  }
  static RefereeOutcome judge_rightly(const referee::RefereeJob& job) {
    const bool is_wrong = job.candidate_plan.find("\"wrong\"") != std::string::npos;
    return is_wrong ? wrong_report() : good_report();
  }
};

TEST_F(SelfTestedJudgeTest, PutsEveryCaseToTheRefereeOfEveryGpu) {
  std::vector<int> asked(3);
  for (int& count : asked)
    on_gpus.push_back([&count](const referee::RefereeJob& job) {
      ++count;
      return judge_rightly(job);
    });
  ASSERT_TRUE(self_test(judge(), {.referees = judge().referees()}, {}));
  EXPECT_EQ(asked, std::vector<int>(3, static_cast<int>(self_test_cases().size())));
}

TEST_F(SelfTestedJudgeTest, FailsWhereOneGpuOfSeveralErrs) {
  on_gpus = {judge_rightly, [](const referee::RefereeJob&) { return good_report(); },
             judge_rightly};
  const auto failed = self_test(judge(), {.referees = judge().referees()}, {});
  ASSERT_FALSE(failed);
  EXPECT_NE(failed.error().message.find("self-test of referee 1"), std::string::npos);
}

TEST_F(SelfTestedJudgeTest, TellsTheRefereeWhichKernelsAreProbes) {
  std::vector<referee::Probe> probes;
  referee = [&](const referee::RefereeJob& job) {
    probes.push_back(job.probe);
    return judge_rightly(job);
  };
  config.referees = 1;
  ASSERT_TRUE(self_test(judge(), {}, {}));
  verdict_of_one(job(1));
  EXPECT_EQ(std::ranges::count(probes, referee::Probe::right), 1);
  EXPECT_EQ(std::ranges::count(probes, referee::Probe::wrong), 2);
  EXPECT_EQ(probes.back(), referee::Probe::none);
}

TEST_F(LocalJudgeTest, BreaksDownWhenARefereeIsTrustedNoMore) {
  referee = [](const referee::RefereeJob&) -> RefereeOutcome {
    return RefereeFailure{RefereeFailure::Kind::misjudges, "GPU 1 errs"};
  };
  ASSERT_TRUE(judge().submit(job(1)));
  const auto judged = judge().next(Deadline::after(std::chrono::seconds(10)));
  ASSERT_FALSE(judged);
  EXPECT_EQ(judged.error().message, "GPU 1 errs");
  EXPECT_FALSE(judge().submit(job(2)));
}

TEST_F(LocalJudgeTest, GivesNothingWhenNoJobIsInFlight) {
  EXPECT_FALSE(judge().next(Deadline::never())->has_value());
}

TEST_F(LocalJudgeTest, ForgetsACancelledJob) {
  pool->hold();
  ASSERT_TRUE(judge().submit(job(1)));
  judge().cancel(1);
  EXPECT_FALSE(judge().next(Deadline::after(std::chrono::seconds(10)))->has_value());
}

TEST_F(LocalJudgeTest, EndsAtOnceThoughItNeverGotWarm) {
  pool->never_ready = true;
  for (std::uint64_t id = 1; id <= 3; ++id) ASSERT_TRUE(judge().submit(job(id)));
  const Stopwatch watch;
  judge_.reset();
  EXPECT_LT(watch.seconds(), 10);
}

TEST_F(LocalJudgeTest, RefusesABackendItHasNot) {
  api::JudgeJob replay = job(1);
  replay.backend = Backend::replay;
  EXPECT_FALSE(judge().submit(replay));
}

TEST(LocalJudge, NamesAGpuThatIsAskedForAndNotThere) {
  const auto inspect = [](std::string_view, Policy) { return std::vector<Finding>(); };
  const auto judge = LocalJudge::start({.only_gpus = {1000}}, inspect, {.argv = {"/bin/true"}});
  ASSERT_FALSE(judge);
  EXPECT_NE(judge.error().message.find("there is no GPU 1000 here"), std::string::npos);
}

TEST_F(LocalJudgeTest, GivesEachJobItsOwnSecretThatFollowsFromItsContent) {
  std::vector<std::string> secrets;
  referee = [&](const referee::RefereeJob& asked) {
    secrets.push_back(asked.secret);
    return good_report();
  };
  api::JudgeJob first = job(1), again = job(2), other = job(3, "other");
  first.use_store = again.use_store = false;
  verdict_of_one(first);
  verdict_of_one(again);
  verdict_of_one(other);
  EXPECT_EQ(secrets.at(0), secrets.at(1));
  EXPECT_NE(secrets.at(0), secrets.at(2));
}

}  // namespace
}  // namespace tritonsmith::gym::judge
