#include "cli/judge_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tritonsmith::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kNoGpu = "this machine has no GPU";

Verdict evaluated(Stage stage) {
  Verdict verdict{.task_id = "relu", .stage = stage, .fault = Fault::candidate};
  verdict.compiled = stage >= Stage::compiled;
  verdict.environment.target = "sm_90";
  verdict.stage_ms = {{"queue", 1.0}, {"total", 1234.0}};
  return verdict;
}

Verdict accepted() {
  Verdict verdict = evaluated(Stage::correct);
  verdict.correct = verdict.accepted = true;
  verdict.fault = Fault::none;
  verdict.kernels = {{.name = "relu", .launches = 1, .registers = 20, .shared_bytes = 49152}};
  verdict.numerics = Numerics{.max_abs = 1e-6, .max_rel = 1e-5, .trials = 3, .tolerance = 0.01};
  return verdict;
}

TEST(JudgeText, OfAnAcceptedKernelSaysWhatWasTriedAndThatSpeedWasNotMeasured) {
  EXPECT_EQ(judge_text(accepted(), kNoGpu),
            "relu: accepted (policy strict; judged on a CPU, for the chip sm_90)\n"
            "  kernel `relu`: 1 launch, 20 registers, no spills, 49,152 bytes of shared memory\n"
            "  3 trials: the largest difference is 1e-06 absolute, 1e-05 relative; an element may "
            "differ by 0.01 and 0.01 of its value\n"
            "  Judged in 1.2 s. Speed was not measured: this machine has no GPU.\n");
}

TEST(JudgeText, OfATimedKernelHasBothTimesWithTheirIntervals) {
  Verdict verdict = accepted();
  verdict.stage = Stage::timed;
  verdict.backend = Backend::replay;
  verdict.environment.gpu = "H100";
  verdict.time_ms = Timing{.median = 0.05, .n = 30, .median_low = 0.049, .median_high = 0.051};
  verdict.reference_ms = Timing{.median = 0.1, .n = 30};
  verdict.speedup = 2;
  verdict.coverage = 0.75;
  const std::string text = judge_text(verdict, "");
  EXPECT_THAT(text, HasSubstr("judged on a GPU, for the chip sm_90"));
  EXPECT_THAT(text, HasSubstr("  0.0500 ms (0.0490 to 0.0510), the reference 0.1000 ms: 2.00 times "
                              "as fast\n"));
  EXPECT_THAT(text, HasSubstr("75 % of the time in own kernels"));
  EXPECT_THAT(text, HasSubstr(" Timed on H100."));
  EXPECT_THAT(text, Not(HasSubstr("not measured")));
}

TEST(JudgeText, OfASyntaxErrorNamesFileLineAndText) {
  Verdict verdict = evaluated(Stage::extracted);
  verdict.error = VerdictError{.error_class = ErrorClass::syntax_error,
                               .message = "this is not Python",
                               .excerpt = "def f(:",
                               .line = 7};
  verdict.findings = {{.rule = "syntax_error",
                       .severity = Severity::reject,
                       .line = 7,
                       .message = "this is not Python"}};
  EXPECT_THAT(judge_text(verdict, kNoGpu, "candidate.py"),
              HasSubstr("relu: failed (it was not parsed; policy strict)\n"
                        "  syntax_error: this is not Python\n"
                        "    candidate.py, line 7: def f(:\n"));
  EXPECT_THAT(judge_text(verdict, kNoGpu), HasSubstr("\n    line 7: def f(:\n"));
}

TEST(JudgeText, TellsTheFindingThatIsTheErrorOnce) {
  Verdict verdict = evaluated(Stage::parsed);
  verdict.error = VerdictError{.error_class = ErrorClass::refused,
                               .message = "forbidden_import: `os` may not be imported",
                               .excerpt = "import os",
                               .line = 1};
  verdict.findings = {{.rule = "forbidden_import",
                       .severity = Severity::reject,
                       .line = 1,
                       .message = "`os` may not be imported"},
                      {.rule = "torch_work", .severity = Severity::warn, .message = "a sum"}};
  const std::string text = judge_text(verdict, kNoGpu);
  EXPECT_EQ(text.find("may not be imported"), text.rfind("may not be imported"));
  EXPECT_THAT(text, HasSubstr("  warn torch_work: a sum\n"));
}

TEST(JudgeText, OfAWrongKernelLeavesTheNumbersOfTheOtherTrialsOut) {
  Verdict verdict = evaluated(Stage::ran);
  verdict.error = VerdictError{.error_class = ErrorClass::out_of_bounds,
                               .message = "reads 3 elements past `x` at line 14 (element 22 of 20)",
                               .excerpt = "x = tl.load(x_ptr + at)",
                               .line = 14};
  verdict.numerics = Numerics{.max_abs = 1, .trials = 1};
  const std::string text = judge_text(verdict, kNoGpu);
  EXPECT_THAT(text, HasSubstr("relu: wrong (it ran; policy strict; "));
  EXPECT_THAT(text, HasSubstr("  out_of_bounds: reads 3 elements past `x` at line 14 "));
  EXPECT_THAT(text, HasSubstr("    line 14: x = tl.load(x_ptr + at)\n"));
  EXPECT_THAT(text, Not(HasSubstr("largest difference")));
}

TEST(JudgeText, OfAFaultOfTheGymIsNoVerdict) {
  Verdict verdict = evaluated(Stage::compiled);
  verdict.fault = Fault::infrastructure;
  EXPECT_THAT(judge_text(verdict, kNoGpu), HasSubstr("relu: no verdict (it compiled; "));
}

TEST(JudgeText, OfAStoredVerdictSaysSo) {
  Verdict verdict = accepted();
  verdict.from_store = true;
  EXPECT_THAT(judge_text(verdict, kNoGpu),
              HasSubstr("This is a stored verdict; judging took 1.2 s."));
}

TEST(VerdictTable, HasARowForEachKernelAndCountsTheAccepted) {
  Verdict wrong = evaluated(Stage::ran);
  wrong.error = VerdictError{.error_class = ErrorClass::wrong_value, .message = "8 of 9 are wrong"};
  const std::vector<Verdict> verdicts = {accepted(), wrong};
  const std::vector<std::string> files = {"a.py", "b.py"};
  const std::string text = verdict_table(verdicts, files, kNoGpu);
  EXPECT_THAT(text, HasSubstr("wrong_value: 8 of 9 are wrong"));
  EXPECT_THAT(text, HasSubstr("1 of 2 accepted (policy strict). Judged in 1.2 s. Speed was not "
                              "measured: this machine has no GPU.\n"));
}

}  // namespace
}  // namespace tritonsmith::cli
