#include "gym/judge/local_judge.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>

#include "base/temp_dir.h"
#include "gym/judge/known_verdicts.h"
#include "gym/judge/testing/local_judge_fixture.h"

namespace tritonsmith::gym::judge {
namespace {

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
  // The captures show that both events were handled before anything is released.
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
  EXPECT_EQ(verdict.error->error_class, ErrorClass::refused);
  EXPECT_EQ(verdict.error->excerpt, "second");
  EXPECT_TRUE(pool->captures().empty());
}

TEST_F(LocalJudgeTest, NamesALineOnceThatInspectionNotesAndThePlanRejects) {
  const Finding other_line = {"torch_compute", Severity::note, 3, "computes"},
                other_rule = {"guarded_launch", Severity::note, 2, "may fail"},
                rejected = {"torch_compute", Severity::reject, 2, "forward computes"};
  inspect = [&](std::string_view, Policy) {
    return std::vector<Finding>{
        {"torch_compute", Severity::note, 2, "computes"}, other_line, other_rule};
  };
  referee = [&](const referee::RefereeJob&) {
    referee::RefereeReport report = good_report();
    report.findings = {rejected};
    return report;
  };
  EXPECT_EQ(verdict_of_one(job(1)).findings,
            (std::vector<Finding>{other_line, other_rule, rejected}));
}

TEST_F(LocalJudgeTest, TellsTheCandidatesOwnLineWhenCaptureFails) {
  pool->on_capture = [](const capture::CaptureRequest& request) {
    if (request.role == capture::CaptureRole::task)
      return captured(plan_json(plan::PlanRole::task));
    return capture_failure(Stage::parsed, ErrorClass::exception, 3);
  };
  const Verdict verdict = verdict_of_one(job(1));
  EXPECT_EQ(verdict.stage, Stage::parsed);
  EXPECT_EQ(verdict.fault, Fault::candidate);
  EXPECT_EQ(verdict.error->excerpt, "third");
}

TEST_F(LocalJudgeTest, CallsAKernelThatPtxasRefusesNotCompiledWhateverItComputes) {
  pool->on_compile = [](const compile::CompileRequest&) {
    return compile::CompileOutcome{
        .result =
            sandbox::CandidateFailure{Stage::captured, {.error_class = ErrorClass::compile_error}}};
  };
  const Verdict verdict = verdict_of_one(job(1));
  EXPECT_EQ(verdict.stage, Stage::captured);
  EXPECT_FALSE(verdict.compiled || verdict.correct);
  EXPECT_EQ(verdict.error->error_class, ErrorClass::compile_error);
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
    return {.result = sandbox::CandidateFailure{Stage::captured,
                                                {.error_class = ErrorClass::out_of_resources}}};
  };
  const Verdict verdict = verdict_of_one(job(1));
  EXPECT_TRUE(verdict.accepted);
  EXPECT_EQ(verdict.kernels.at(0).launches, 0);
  EXPECT_EQ(verdict.kernels.at(1).launches, 1);
  EXPECT_EQ(std::ranges::count(verdict.findings, "autotune_passed_over", &Finding::rule), 2);
  configs = 1;
  EXPECT_EQ(verdict_of_one(job(2, "other")).error->error_class, ErrorClass::out_of_resources);
}

struct StoppedCompilations : LocalJudgeTest {
  // Every candidate has four kernels, which `tuned` makes the configs of one launch.
  void judge_four_kernels(bool tuned) {
    pool->on_capture = [tuned](const capture::CaptureRequest& request) {
      if (request.role == capture::CaptureRole::task)
        return captured(plan_json(plan::PlanRole::task));
      plan::Plan plan = *plan::parse_plan(plan_json(plan::PlanRole::candidate));
      const plan::PlanStep launch = plan.steps.back();
      for (int k = 1; k < 4; ++k) {
        plan.kernels.push_back(plan.kernels.front());
        plan.kernels.back().num_stages = 3 + k;
        auto& last = std::get<plan::LaunchStep>(
            (tuned ? plan.steps.back() : plan.steps.emplace_back(launch)).action);
        if (tuned) last.choices.push_back(last.choices.front());
        last.choices.back().kernel = k;
      }
      return captured(plan::to_json(plan).dump());
    };
  }
  static compile::CompileOutcome failure(ErrorClass error_class) {
    return {.result = sandbox::CandidateFailure{Stage::captured, {.error_class = error_class}}};
  }
};

TEST_F(StoppedCompilations, EndAtTheFirstKernelThatDoesNotCompile) {
  judge_four_kernels(false);
  pool->on_compile = [](const compile::CompileRequest& request) -> compile::CompileOutcome {
    if (request.num_stages == 4) return failure(ErrorClass::compile_error);
    return {.result = compile::CompiledKernel{.cubin = "c", .registers = 24}};
  };
  pool->hangs = [](const compile::CompileRequest& request) { return request.num_stages > 4; };
  const Verdict verdict = verdict_of_one(job(1));
  EXPECT_EQ(verdict.error->error_class, ErrorClass::compile_error);
  EXPECT_EQ(verdict.kernels.at(0).registers, 24);
  EXPECT_FALSE(verdict.compiled);
  EXPECT_EQ(pool->cancelled(), (std::vector<std::uint64_t>{3, 4}));
}

TEST_F(StoppedCompilations, GoOnAfterAConfigThatDoesNotFitAsLongAsThereIsAnother) {
  judge_four_kernels(true);
  pool->on_compile = [](const compile::CompileRequest& request) -> compile::CompileOutcome {
    if (request.num_stages < 6) return failure(ErrorClass::out_of_resources);
    return {.result = compile::CompiledKernel{.cubin = "c", .registers = 24}};
  };
  EXPECT_TRUE(verdict_of_one(job(1)).accepted);
  EXPECT_TRUE(pool->cancelled().empty());
}

TEST_F(StoppedCompilations, EndOnceALaunchHasNoConfigThatFits) {
  judge_four_kernels(false);
  pool->on_compile = [](const compile::CompileRequest&) {
    return failure(ErrorClass::out_of_resources);
  };
  pool->hangs = [](const compile::CompileRequest& request) { return request.num_stages > 3; };
  EXPECT_EQ(verdict_of_one(job(1)).error->error_class, ErrorClass::out_of_resources);
  EXPECT_EQ(pool->cancelled(), (std::vector<std::uint64_t>{2, 3, 4}));
}

TEST_F(StoppedCompilations, EndWhenNobodyWantsTheVerdict) {
  judge_four_kernels(false);
  std::atomic<int> asked = 0;
  pool->hangs = [&](const compile::CompileRequest&) { return ++asked > 0; };
  ASSERT_TRUE(judge().submit(job(1)));
  while (asked < 4) std::this_thread::yield();
  judge().cancel(1);
  while (pool->cancelled().size() < 4) std::this_thread::yield();
  pool->hangs = [](const compile::CompileRequest&) { return false; };
  EXPECT_TRUE(verdict_of_one(job(2)).accepted);
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
  EXPECT_EQ(captures_of("a"), 1);  // it was used last whenever one plan had to go
  judge_task("b", ++id);
  EXPECT_EQ(captures_of("b"), 2);
}

TEST_F(LocalJudgeTest, SaysWhenTheTaskItselfCannotBeJudged) {
  pool->on_capture = [](const capture::CaptureRequest&) {
    return capture_failure(Stage::parsed, ErrorClass::syntax_error, 7);
  };
  const Verdict verdict = verdict_of_one(job(1));
  EXPECT_EQ(verdict.error->error_class, ErrorClass::task_failed);
  EXPECT_NE(verdict.error->message.find("(line 7"), std::string::npos);
  EXPECT_EQ(verdict.fault, Fault::none);
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

TEST_F(LocalJudgeTest, ComparesATimeWithTheSpeedOfLightWhereTheGpuWasMeasured) {
  on_gpus.assign(1, [](const referee::RefereeJob&) {
    referee::RefereeReport report = good_report();
    report.timing = referee::PlanTiming{.candidate = {.median = 2, .n = 9},
                                        .reference = {.median = 3, .n = 9},
                                        .work = {.bytes = 3e9},
                                        .peak_bytes = 5,
                                        .reference_peak_bytes = 7};
    return report;
  });
  ceilings = Ceilings{.gpu = "G", .date = "today", .bytes_per_second = 3e12, .launch_us = 2};
  const Verdict verdict = verdict_of_one(job(1));
  ASSERT_TRUE(verdict.speed_of_light);
  EXPECT_EQ(verdict.speed_of_light->bound, Bound::memory);
  EXPECT_DOUBLE_EQ(verdict.speed_of_light->share, 0.5);
  EXPECT_EQ(verdict.peak_bytes, 5);
  EXPECT_EQ(verdict.reference_peak_bytes, 7);
  const auto again = verdict_from_json(to_json(verdict));
  ASSERT_TRUE(again);
  EXPECT_EQ(again->speed_of_light, verdict.speed_of_light);
  EXPECT_EQ(again->reference_peak_bytes, 7);
  EXPECT_NE(judge().versions().replay.find("speed of light"), std::string::npos)
      << "a verdict of the store from before the measurement is not reused";
}

TEST_F(LocalJudgeTest, TellsOfTimedKernelsWithALowOccupancy) {
  int registers = 255;
  pool->on_compile = [&](const compile::CompileRequest&) -> compile::CompileOutcome {
    return {.result = compile::CompiledKernel{.cubin = "c", .registers = registers}};
  };
  on_gpus.assign(1, [](const referee::RefereeJob&) {
    referee::RefereeReport report = good_report();
    report.timing =
        referee::PlanTiming{.candidate = {.median = 2, .n = 9}, .reference = {.median = 3, .n = 9}};
    report.timing->steps = {{.kernel = 0, .launches = 1, .device_us = 2}};
    return report;
  });
  const Verdict verdict = verdict_of_one(job(1));
  const auto found = std::ranges::find(verdict.findings, "low_occupancy", &Finding::rule);
  ASSERT_NE(found, verdict.findings.end());
  EXPECT_NE(found->message.find("an occupancy of 12 %: a block of 4 warps takes 255 registers"),
            std::string::npos)
      << found->message;
  registers = 32;
  const Verdict other = verdict_of_one(job(2, "other"));
  EXPECT_EQ(std::ranges::count(other.findings, "low_occupancy", &Finding::rule), 0);
}

TEST_F(LocalJudgeTest, HasNoSpeedOfLightWithoutCeilings) {
  on_gpus.assign(1, [](const referee::RefereeJob&) {
    referee::RefereeReport report = good_report();
    report.timing = referee::PlanTiming{
        .candidate = {.median = 2}, .reference = {.median = 3, .n = 9}, .work = {.bytes = 3e9}};
    return report;
  });
  EXPECT_FALSE(verdict_of_one(job(1)).speed_of_light);
}

TEST_F(LocalJudgeTest, LaunchesEditedPtxAndStoresNoVerdictOnIt) {
  const auto directory = TempDir::make("store");
  ASSERT_TRUE(directory);
  store = VerdictStore::open(directory->path() / "verdicts.sqlite").value();
  on_gpus.assign(1, [](const referee::RefereeJob& asked) {
    EXPECT_EQ(asked.kernels.at(0).cubin, "edited");
    return good_report();
  });
  pool->on_compile = [](const compile::CompileRequest& request) {
    EXPECT_EQ(request.ptx, "text");
    return compile::CompileOutcome{
        .result = compile::CompiledKernel{.cubin = "edited", .ptx = "own", .instructions = "7"}};
  };
  for (const int id : {1, 2}) {
    api::JudgeJob edited = job(static_cast<std::uint64_t>(id));
    edited.ptx["k"] = "text";
    const Verdict verdict = verdict_of_one(edited);
    EXPECT_TRUE(verdict.accepted && !verdict.from_store);
    EXPECT_EQ(verdict.findings.at(0).rule, "edited_ptx");
    EXPECT_EQ(verdict.kernels.at(0).ptx, "") << "nobody asked for it";
  }
  api::JudgeJob other = job(3);
  other.ptx["other"] = "text";
  EXPECT_EQ(verdict_of_one(other).error->error_class, ErrorClass::bad_request);
  EXPECT_NE(verdict_of_one(other).error->message.find("no kernel is named other"),
            std::string::npos);
}

TEST_F(LocalJudgeTest, ShowsThePtxOfAJobThatAsksForIt) {
  pool->on_compile = [](const compile::CompileRequest& request) {
    return compile::CompileOutcome{
        .result = compile::CompiledKernel{.cubin = "c", .ptx = request.wants_ptx ? "own" : ""}};
  };
  EXPECT_EQ(verdict_of_one(job(1)).kernels.at(0).ptx, "");
  api::JudgeJob shown = job(2);
  shown.shows_ptx = true;
  const Verdict verdict = verdict_of_one(shown);
  EXPECT_EQ(verdict.kernels.at(0).ptx, "own");
  EXPECT_EQ(verdict.kernels.at(0).ptx_name, "k");
  EXPECT_EQ(verdict_from_json(to_json(verdict))->kernels, verdict.kernels);
}

TEST_F(LocalJudgeTest, CalibratesItsGpusBeforeTheirFirstPlanAndNamesTheGpuOfAVerdict) {
  config.calibration_seconds = 3600;
  config.referees = 1;
  std::atomic<int> asked = 0;
  calibrate = [&]() -> Result<Calibration> {
    if (++asked > 1) return fail("another process held the GPU's lease");
    return Calibration{.version = 7, .compute_ms = 2, .memory_ms = 1};
  };
  on_gpus.assign(1, [&](const referee::RefereeJob&) {
    EXPECT_EQ(asked, 1);
    return good_report();
  });
  ASSERT_TRUE(judge().submit(job(1)));
  const auto judged = judge().next(Deadline::after(std::chrono::seconds(10)));
  ASSERT_TRUE(judged && *judged);
  EXPECT_EQ((*judged)->gpu, "GPU-0");
  api::JudgeJob on_cpu = job(2, "on the CPU");
  on_cpu.backend = Backend::evaluate;
  ASSERT_TRUE(judge().submit(on_cpu));
  EXPECT_EQ((**judge().next(Deadline::after(std::chrono::seconds(10)))).gpu, "");
  const std::vector<api::DeviceUse> devices = judge().devices();
  ASSERT_EQ(devices.size(), 2U);
  EXPECT_EQ(devices[0].gpu, "");
  EXPECT_EQ(devices[0].calibrations, 0U);
  EXPECT_EQ(devices[1].gpu, "GPU-0");
  EXPECT_EQ(devices[1].calibrations, 1U);
  EXPECT_EQ(devices[1].calibration.version, 7);
}

TEST_F(LocalJudgeTest, CalibratesAGpuAgainAfterAnIntervalInWhichItJudged) {
  config.calibration_seconds = 1;
  std::atomic<int> asked = 0;
  calibrate = [&]() -> Result<Calibration> {
    ++asked;
    return Calibration{.version = 1, .compute_ms = 2, .memory_ms = 1};
  };
  on_gpus.assign(1, [&](const referee::RefereeJob&) { return good_report(); });
  verdict_of_one(job(1));
  const Deadline deadline = Deadline::in_seconds(10);
  while (judge().devices().back().calibrations < 2 && !deadline.passed()) std::this_thread::yield();
  EXPECT_EQ(asked, 2) << "one before its first plan, and one for the interval with that plan";
}

TEST_F(LocalJudgeTest, TellsWhatEachOfItsDevicesHasDone) {
  on_gpus.assign(2, [](const referee::RefereeJob&) { return good_report(); });
  config.referees = 1;
  look = [](const referee::RefereeJob&) { return referee::RefereeReport(); };
  api::JudgeJob on_cpu = job(1, "on the CPU");
  on_cpu.backend = Backend::evaluate;
  verdict_of_one(on_cpu);
  verdict_of_one(job(2, "on a GPU"));
  verdict_of_one(job(3, "on a GPU too"));
  const std::vector<api::DeviceUse> devices = judge().devices();
  ASSERT_EQ(devices.size(), 3U);
  EXPECT_EQ(devices[0].name, "cpu:0");
  EXPECT_EQ(devices[0].verdicts, 1U) << "a look at a task is no verdict";
  EXPECT_GT(devices[0].busy_seconds, 0);
  EXPECT_EQ(devices[1].verdicts + devices[2].verdicts, 2U);
}

}  // namespace
}  // namespace tritonsmith::gym::judge
