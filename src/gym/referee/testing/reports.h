// Makes referee reports for tests without guests and compiled kernels, and reads them.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "gym/language/testing/fake_executor.h"
#include "gym/plan/testing/plan_builder.h"
#include "gym/referee/referee.h"

namespace tritonsmith::gym::referee {

inline std::string plan_json(const plan::PlanBuilder& plan) {
  return plan::to_json(plan.plan()).dump();
}

// Returns a referee that knows `task` by the key "task". Launches of the kernel "k" run `body`.
inline std::unique_ptr<Referee> referee_of(const plan::PlanBuilder& task,
                                           language::FakeExecutor::Body body) {
  auto executor = std::make_unique<language::FakeExecutor>();
  executor->define("k", std::move(body));
  auto referee = std::make_unique<Referee>(std::move(executor));
  const Status added = referee->add_task("task", plan_json(task));
  EXPECT_TRUE(added) << added.error().message;
  return referee;
}

inline std::string error_class(const RefereeReport& report) {
  return report.error ? class_name(*report.error) : "none";
}
inline std::string error_message(const RefereeReport& report) {
  return report.error ? report.error->message : "";
}

// Returns the first finding of that rule, or null.
inline const Finding* find_rule(const RefereeReport& report, std::string_view rule) {
  const auto at = std::ranges::find(report.findings, rule, &Finding::rule);
  return at == report.findings.end() ? nullptr : &*at;
}
inline bool has_rule(const RefereeReport& report, std::string_view rule) {
  return find_rule(report, rule) != nullptr;
}

}  // namespace tritonsmith::gym::referee
