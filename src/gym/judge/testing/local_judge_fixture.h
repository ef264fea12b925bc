// LocalJudgeTest: a LocalJudge with a fake pool and fake referees. A test sets their answers before
// the first call of judge().
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "gym/judge/local_judge.h"
#include "gym/judge/testing/fake_pool.h"
#include "gym/plan/plan.h"

namespace tritonsmith::gym::judge {

inline std::string plan_json(plan::PlanRole role) {
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
    plan.kernels.push_back({.name = "k", .code = "module {}", .arguments = {"*fp32"}, .line = 2});
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

inline referee::RefereeReport good_report() {
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
      for (std::size_t k = 0; k < on_gpus.size(); ++k)
        parts.gpus.push_back({.uuid = fmt::format("GPU-{}", k)});
      parts.ceilings = ceilings;
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

  // Returns a referee that lints tasks with `look` and judges candidates with `judges`.
  std::unique_ptr<FakeReferee> referee_that(FakeReferee::Answer judges) {
    return std::make_unique<FakeReferee>(
        [this, judges = std::move(judges)](const referee::RefereeJob& asked) {
          if (!asked.candidate_plan.empty()) return judges(asked);
          EXPECT_EQ(asked.probe, referee::Probe::none) << "a look at a task is none";
          return look(asked);
        },
        [this] { return calibrate(); });
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
  std::optional<Ceilings> ceilings;  // of the GPUs
  FakeReferee::Answer look = [](const referee::RefereeJob&) {
    return referee::RefereeReport();
  };  // at a task
  FakeReferee::Calibrate calibrate = [] {
    return Calibration{.version = 1, .compute_ms = 2, .memory_ms = 1};
  };
  Inspect inspect = [](std::string_view, Policy) { return std::vector<Finding>(); };
  std::optional<VerdictStore> store;
  std::unique_ptr<LocalJudge> judge_;
};

}  // namespace tritonsmith::gym::judge
