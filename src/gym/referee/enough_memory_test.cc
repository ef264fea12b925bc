#include "gym/referee/enough_memory.h"

#include <gtest/gtest.h>

#include "gym/referee/report_entries.h"

namespace tritonsmith::gym::referee {
namespace {

struct FakeMemory final : device::SharedMemory {
  bool has_all() const override { return is_alone; }
  bool was_refused() const override { return !is_alone && refuses; }
  void take_all() override { is_alone = true; }
  bool is_alone = false, refuses = false;
};

RefereeReport right() {
  RefereeReport report;
  report.correct = true;
  return report;
}
bool never() { return false; }

class EnoughMemoryTest : public ::testing::Test {
 protected:
  // Judges a job that reports `first` beside others, and `then` alone.
  RefereeReport judge(const RefereeReport& first, const RefereeReport& then,
                      const std::function<bool()>& is_spent = never) {
    return judge_with_enough_memory(
        memory,
        [&] {
          ++calls;
          return memory.is_alone ? then : first;
        },
        is_spent);
  }
  FakeMemory memory;
  int calls = 0;
};

TEST_F(EnoughMemoryTest, JudgesOnceWhereMemorySufficed) {
  EXPECT_TRUE(judge(right(), ended(ErrorClass::wrong_value, "", Fault::candidate)).correct);
  EXPECT_EQ(calls, 1);
  EXPECT_FALSE(memory.is_alone);
}

TEST_F(EnoughMemoryTest, JudgesAgainAloneWhereTheNeighboursMemoryWasLacking) {
  const RefereeReport too_large = ended(ErrorClass::too_large_to_evaluate, "", Fault::none);
  EXPECT_TRUE(judge(too_large, right()).correct);
  EXPECT_EQ(calls, 2);
}

// cuDNN takes another algorithm if it gets no workspace, and LibTorch tells nobody.
TEST_F(EnoughMemoryTest, JudgesAgainAloneWhereARefusalWasCaught) {
  memory.refuses = true;
  EXPECT_FALSE(judge(right(), ended(ErrorClass::wrong_value, "", Fault::candidate)).correct);
  EXPECT_EQ(calls, 2);
}

TEST_F(EnoughMemoryTest, BlamesNoCandidateForALaunchWithoutMemory) {
  const RefereeReport refused = ended(
      ErrorClass::bad_launch, "the launch was refused: CUDA_ERROR_OUT_OF_MEMORY", Fault::candidate);
  EXPECT_TRUE(judge(refused, right()).correct);
  const RefereeReport other = ended(
      ErrorClass::bad_launch, "the launch was refused: CUDA_ERROR_INVALID_VALUE", Fault::candidate);
  EXPECT_FALSE(tells_of_memory(other));
}

TEST_F(EnoughMemoryTest, ReadsWhatThePythonReferenceSaysInAFinding) {
  RefereeReport without_oracle = right();
  without_oracle.findings.push_back(missing_oracle_note("in float64: CUDA out of memory"));
  EXPECT_TRUE(judge(without_oracle, right()).findings.empty());
  EXPECT_EQ(calls, 2);
}

TEST_F(EnoughMemoryTest, BelievesAJobThatHadAllMemory) {
  memory.is_alone = true;
  const RefereeReport too_large = ended(ErrorClass::too_large_to_evaluate, "", Fault::none);
  EXPECT_EQ(judge(right(), too_large).error->error_class, ErrorClass::too_large_to_evaluate);
  EXPECT_EQ(calls, 1);
}

TEST_F(EnoughMemoryTest, RunsNothingMoreInALostContext) {
  memory.refuses = true;
  const RefereeReport lost = ended(ErrorClass::timeout, "", Fault::candidate);
  EXPECT_EQ(judge(lost, right(), [] { return true; }).error->error_class, ErrorClass::timeout);
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace tritonsmith::gym::referee
