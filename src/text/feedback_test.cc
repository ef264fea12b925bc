// Golden texts: the feedback that a model gets for each kind of verdict.
#include "text/feedback.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tritonsmith::text {
namespace {

std::string full(const Verdict& verdict) { return feedback_text(verdict, PromptStyle::full); }
std::string compact(const Verdict& verdict) { return feedback_text(verdict, PromptStyle::compact); }

Verdict failed(Stage stage, VerdictError error) {
  Verdict verdict{.stage = stage, .compiled = stage >= Stage::compiled, .fault = Fault::candidate};
  verdict.error = std::move(error);
  return verdict;
}

Verdict timed() {
  Verdict verdict{.stage = Stage::timed, .compiled = true, .correct = true, .accepted = true};
  verdict.numerics = {.max_abs = 1e-7, .max_rel = 1e-6, .trials = 5};
  verdict.time_ms = {.median = 0.412, .mean = 0.413, .p10 = 0.41, .p90 = 0.42, .n = 50};
  verdict.reference_ms = {.median = 0.5397, .mean = 0.54, .p10 = 0.53, .p90 = 0.55, .n = 50};
  verdict.speedup = 1.31;
  verdict.coverage = 0.86;
  verdict.peak_bytes = 402.5e6;
  verdict.reference_peak_bytes = 268e6;
  verdict.kernels = {{.name = "scale_kernel", .launches = 1, .device_us = 20.25, .registers = 16},
                     {.name = "softmax_kernel",
                      .launches = 2,
                      .device_us = 330,
                      .registers = 48,
                      .spills = 3,
                      .shared_bytes = 16384},
                     {.name = "other_config", .launches = 0}};
  verdict.aten = {{.op = "aten::mm", .calls = 1, .device_us = 57}};
  return verdict;
}

TEST(Feedback, OfACompileErrorNamesTheLine) {
  EXPECT_EQ(full(failed(Stage::captured, {.error_class = ErrorClass::compile_error,
                                          .message = "cannot add [128] and [64]\n  more",
                                          .excerpt = "    y = a + b",
                                          .line = 12})),
            "Your kernel does not compile.\n"
            "compile_error: cannot add [128] and [64]...\n"
            "  line 12: y = a + b\n"
            "\nFind the mistake and mend it. Answer in the same form as before, with the whole "
            "file.\n");
}

TEST(Feedback, OfAWrongResultSaysByHowMuch) {
  Verdict verdict = failed(Stage::ran, {.error_class = ErrorClass::wrong_value,
                                        .message = "output 0 differs at [3, 7]: 0.5 for 0.25"});
  verdict.numerics = {.max_abs = 0.25, .max_rel = 1, .trials = 1};
  verdict.kernels = {{.name = "k", .launches = 1, .registers = 20}};
  EXPECT_EQ(full(verdict),
            "Your kernel runs, but its result is wrong.\n"
            "wrong_value: output 0 differs at [3, 7]: 0.5 for 0.25\n"
            "Largest difference: 0.25 absolute, 1 relative.\n"
            "- kernel `k`: 1 launch, 20 registers, 0 spills, 0 bytes of shared memory\n"
            "\nFind the mistake and mend it. Answer in the same form as before, with the whole "
            "file.\n");
  EXPECT_EQ(compact(verdict), "wrong_value");
}

TEST(Feedback, OfAnAcceptedKernelSaysWhereTheTimeWent) {
  EXPECT_EQ(full(timed()),
            "Your kernel is right.\n"
            "It takes 0.412 ms, the reference 0.5397 ms: speed-up 1.31.\n"
            "Its tensors take 402.5 MB at their peak, the reference's 268 MB.\n"
            "86.0 % of the device time is in your own kernels.\n"
            "- kernel `softmax_kernel`: 2 launches, 330.0 us (81 %), 48 registers, 3 spills, "
            "16,384 bytes of shared memory\n"
            "- torch `aten::mm`: 1 call, 57.0 us (14 %)\n"
            "- kernel `scale_kernel`: 1 launch, 20.2 us (5 %), 16 registers, 0 spills, 0 bytes of "
            "shared memory\n"
            "\nMake it faster, and keep it right. Answer in the same form as before, with the "
            "whole file.\n");
  EXPECT_EQ(compact(timed()), "right, speed-up 1.31, faster please");
}

TEST(Feedback, OfARefusedKernelNamesTheRule) {
  Verdict verdict{.stage = Stage::correct, .compiled = true, .correct = true};
  verdict.findings = {{"unused_result", Severity::note, 3, "not shown"},
                      {"torch_compute", Severity::reject, 21, "forward calls torch.matmul"}};
  EXPECT_EQ(full(verdict),
            "Your kernel is refused.\n"
            "torch_compute, line 21: forward calls torch.matmul\n"
            "\nFind the mistake and mend it. Answer in the same form as before, with the whole "
            "file.\n");
  EXPECT_EQ(compact(verdict), "torch_compute in line 21");
}

TEST(Feedback, OfAnAnswerWithoutKernelSaysSo) {
  EXPECT_THAT(
      full(failed(Stage::none, {.error_class = ErrorClass::no_kernel, .message = "no code block"})),
      ::testing::StartsWith("There is no kernel in your answer.\nno_kernel: no code block"));
}

TEST(Feedback, StaysShortWhateverACandidateDoes) {
  Verdict verdict = failed(Stage::inspected, {.error_class = ErrorClass::exception,
                                              .message = std::string(100000, 'x'),
                                              .excerpt = std::string(100000, 'y'),
                                              .line = 1});
  for (int i = 0; i < 500; ++i) {
    verdict.findings.push_back({"rule", Severity::reject, i, std::string(9000, 'z')});
    verdict.kernels.push_back({.name = std::string(5000, 'k'), .launches = 1});
  }
  verdict.compiled = true;
  EXPECT_LT(full(verdict).size(), 5000U);
  EXPECT_LT(compact(verdict).size(), 200U);
}

TEST(Feedback, CutsBetweenCharacters) {
  EXPECT_EQ(one_line("abc", 3), "abc");
  EXPECT_EQ(one_line("  abcd", 3), "abc...");
  EXPECT_EQ(one_line("ab\xC3\xA9", 3), "ab...");
  EXPECT_EQ(one_line("ab\xC3\xA9", 4), "ab\xC3\xA9");
  EXPECT_EQ(one_line("one\n\n", 9), "one");
  EXPECT_EQ(one_line("one\ntwo", 9), "one...");
}

}  // namespace
}  // namespace tritonsmith::text
