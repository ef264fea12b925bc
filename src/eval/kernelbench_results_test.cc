#include "eval/kernelbench_results.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gym/api/testing/fake_judge.h"

namespace tritonsmith::eval {
namespace {

using nlohmann::ordered_json;

Verdict timed_verdict() {
  Verdict verdict = gym::api::accepted_verdict();
  verdict.stage = Stage::timed;
  verdict.backend = Backend::replay;
  verdict.environment.gpu = "NVIDIA H200";
  verdict.time_ms = Timing{.median = 0.5, .mean = 0.625, .p10 = 0.25, .p90 = 1, .n = 100};
  verdict.reference_ms = Timing{.median = 1, .mean = 1, .p10 = 1, .p90 = 1, .n = 100};
  verdict.speedup = 2;
  return verdict;
}

ordered_json sample_of(const Verdict& verdict) {
  const ProblemVerdict one[] = {{.problem = 19, .sample = 3, .verdict = &verdict}};
  return ordered_json::parse(kernelbench_results(one)).at("19").at(0);
}

TEST(KernelBenchResults, HaveTheMembersThatKernelBenchReads) {
  const ordered_json sample = sample_of(timed_verdict());
  std::vector<std::string> members;
  for (const auto& [name, value] : sample.items()) members.push_back(name);
  EXPECT_THAT(members, testing::ElementsAre("sample_id", "compiled", "correctness", "metadata",
                                            "runtime", "runtime_stats"));
  EXPECT_EQ(sample["sample_id"], 3);
  EXPECT_EQ(sample["compiled"], true);
  EXPECT_EQ(sample["correctness"], true);
  EXPECT_EQ(sample["runtime"], 0.625);
  EXPECT_EQ(sample["runtime_stats"]["mean"], 0.625);
  EXPECT_EQ(sample["runtime_stats"]["num_trials"], 100);
  EXPECT_EQ(sample["runtime_stats"]["hardware"], "NVIDIA H200");
  EXPECT_EQ(sample["metadata"]["hardware"], "NVIDIA H200");
  EXPECT_EQ(sample["metadata"]["correctness_trials"], "(3 / 3)");
  EXPECT_EQ(sample["metadata"]["tritonsmith"]["speedup"], 2);
}

TEST(KernelBenchResults, SayNothingOfTimeWhereNothingWasMeasured) {
  const ordered_json sample = sample_of(gym::api::accepted_verdict());
  EXPECT_EQ(sample["runtime"].dump(), "-1.0");
  EXPECT_EQ(sample["runtime_stats"], ordered_json::object());
}

TEST(KernelBenchResults, NameTheFailureByHowFarTheSampleCame) {
  const auto metadata = [](Stage stage, ErrorClass error_class) {
    return sample_of(gym::api::failed_verdict(stage, error_class))["metadata"];
  };
  const auto compile = metadata(Stage::captured, ErrorClass::compile_error);
  EXPECT_EQ(compile["compilation_error"], "as the test says");
  EXPECT_EQ(compile["tritonsmith"]["error"], "compile_error");
  EXPECT_TRUE(metadata(Stage::compiled, ErrorClass::out_of_bounds).contains("runtime_error"));
  const auto wrong = metadata(Stage::ran, ErrorClass::wrong_value);
  EXPECT_TRUE(wrong.contains("correctness_issue"));
  EXPECT_FALSE(wrong.contains("correctness_trials"));
}

TEST(KernelBenchResults, CountARefusedKernelAsIncorrectThoughItsValuesAgree) {
  Verdict hack = timed_verdict();
  hack.accepted = false;
  hack.findings = {{"kernel_output_ignored", Severity::reject, 0, "no kernel is needed"}};
  const ordered_json sample = sample_of(hack);
  EXPECT_EQ(sample["correctness"], false);
  EXPECT_EQ(sample["metadata"]["correctness_issue"],
            "refused by kernel_output_ignored: no kernel is needed");
  EXPECT_EQ(sample["metadata"]["tritonsmith"]["correct"], true);
}

TEST(KernelBenchResults, KeepTheOrderOfTheProblems) {
  const Verdict verdict = gym::api::accepted_verdict();
  const ProblemVerdict all[] = {{2, 0, &verdict}, {2, 1, &verdict}, {10, 0, &verdict}};
  const auto problems = ordered_json::parse(kernelbench_results(all));
  EXPECT_EQ(problems.begin().key(), "2");
  EXPECT_EQ(problems["2"].size(), 2U);
  EXPECT_EQ(problems["2"][1]["sample_id"], 1);
}

TEST(HasResult, IsFalseWhereNothingIsSaidAboutTheKernel) {
  EXPECT_TRUE(has_result(gym::api::accepted_verdict()));
  EXPECT_TRUE(has_result(gym::api::failed_verdict(Stage::ran, ErrorClass::wrong_value)));
  Verdict too_large = gym::api::failed_verdict(Stage::compiled, ErrorClass::too_large_to_evaluate);
  too_large.fault = Fault::none;
  EXPECT_FALSE(has_result(too_large));
  EXPECT_FALSE(has_result({.fault = Fault::infrastructure}));
}

}  // namespace
}  // namespace tritonsmith::eval
