#include "gym/referee/protocol/referee_job.h"

#include <gtest/gtest.h>

namespace tritonsmith::gym::referee {
namespace {

TEST(RefereeJob, ComesBackFromItsHeadWithoutThePlans) {
  RefereeJob job{.task_key = "k",
                 .candidate_plan = "{}",
                 .adequacy_only = true,
                 .adequacy_secrets = 3,
                 .secret = "s",
                 .trials = 5,
                 .policy = Policy::open,
                 .comparison = Comparison::allclose,
                 .tolerance = 1e-5,
                 .budget = {3, 1024, 0.5}};
  const auto again = referee_job_from_json(to_json(job));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(to_json(*again), to_json(job));
  EXPECT_TRUE(again->candidate_plan.empty());
}

TEST(RefereeJob, CarriesEqualBinariesOnce) {
  const RefereeJob job{.task_key = "k",
                       .kernels = {{"AAAA", "a", 4, 0}, {"BB", "b", 8, 16}, {"AAAA", "c", 2, 1}},
                       .secret = "s"};
  const std::string joined = joined_binaries(job);
  EXPECT_EQ(joined, "AAAABB");
  auto again = referee_job_from_json(to_json(job));
  ASSERT_TRUE(again);
  ASSERT_TRUE(take_binaries(*again, to_json(job), joined));
  ASSERT_EQ(again->kernels.size(), 3U);
  EXPECT_EQ(again->kernels[1].cubin, "BB");
  EXPECT_EQ(again->kernels[2].cubin, "AAAA");
  EXPECT_EQ(again->kernels[2].name, "c");
  EXPECT_FALSE(take_binaries(*again, to_json(job), "AAAAB"));
}

TEST(RefereeReport, ComesBackFromItsJsonUnchanged) {
  RefereeReport report{
      .ran = true,
      .correct = false,
      .error = VerdictError{ErrorClass::wrong_value, "m", "", 3},
      .fault = Fault::candidate,
      .deadline_hit = true,
      .findings = {{"race", Severity::reject, 4, "why"}},
      .numerics = Numerics{1, 2, 3},
      .stage_ms = {{"draw", 1.5}},
      .timing = PlanTiming{.candidate = {1, 2, 3, 4, 5},
                           .reference = {6, 7, 8, 9, 10},
                           .coverage = 0.5,
                           .steps = {{0, "", 2, 3.5}, {-1, "aten::mm", 1, 4}},
                           .work = {.bytes = 6, .flops = {{"float32", 8}}},
                           .peak_bytes = 11,
                           .reference_peak_bytes = 12,
                           .clocks = Clocks{.sm_mhz = 1980, .memory_mhz = 3201}},
      .adequacy =
          Adequacy{.faults = {{.what = "relu left out", .kind = "left_out"}}, .variants = 2},
      .spent = true};
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
}  // namespace tritonsmith::gym::referee
