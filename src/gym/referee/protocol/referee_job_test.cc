#include "gym/referee/protocol/referee_job.h"

#include <gtest/gtest.h>

namespace tritonsmith::gym {
namespace {

TEST(RefereeJob, ComesBackFromItsHeadWithoutThePlans) {
  RefereeJob job{.task_key = "k",
                 .candidate_plan = "{}",
                 .secret = "s",
                 .trials = 5,
                 .policy = Policy::open,
                 .tolerance = 1e-5,
                 .budget = {3, 1024}};
  const auto again = referee_job_from_json(to_json(job));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(to_json(*again), to_json(job));
  EXPECT_TRUE(again->candidate_plan.empty());
}

TEST(RefereeReport, ComesBackFromItsJsonUnchanged) {
  RefereeReport report{.ran = true,
                       .correct = false,
                       .error = VerdictError{"wrong_value", "m", "", 3},
                       .fault = Fault::candidate,
                       .deadline_hit = true,
                       .findings = {{"race", Severity::reject, 4, "why"}},
                       .numerics = Numerics{1, 2, 3},
                       .stage_ms = {{"draw", 1.5}}};
  const auto again = referee_report_from_json(to_json(report));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(to_json(*again), to_json(report));
}

TEST(RefereeReport, RefusesAnUnknownFault) {
  Json json = to_json(RefereeReport{});
  json["fault"] = "nobody";
  EXPECT_FALSE(referee_report_from_json(json));
}

}  // namespace
}  // namespace tritonsmith::gym
