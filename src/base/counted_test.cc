#include "base/counted.h"

#include <gtest/gtest.h>

namespace tritonsmith {
namespace {

TEST(Counted, GivesTheNounTheFormThatTheNumberAsksFor) {
  EXPECT_EQ(counted(1, "task"), "1 task");
  EXPECT_EQ(counted(2, "task"), "2 tasks");
  EXPECT_EQ(counted(0, "launch"), "0 launches");
  EXPECT_EQ(counted(3, "try"), "3 tries");
  EXPECT_EQ(counted(3, "day"), "3 days");
  EXPECT_EQ(counted_or_no(0, "spill"), "no spills");
  EXPECT_EQ(counted_or_no(1, "spill"), "1 spill");
}

TEST(Counted, GivesTheVerbTheFormThatTheNumberAsksFor) {
  EXPECT_EQ(counted_are(1, "job"), "1 job is");
  EXPECT_EQ(counted_are(0, "job"), "0 jobs are");
  EXPECT_EQ(counted_were(1, "attempt"), "1 attempt was");
  EXPECT_EQ(counted_were(2000, "attempt"), "2,000 attempts were");
}

TEST(Counted, SeparatesThousands) {
  EXPECT_EQ(counted(999, "job"), "999 jobs");
  EXPECT_EQ(counted(12000, "job"), "12,000 jobs");
  EXPECT_EQ(counted(1234567, "byte"), "1,234,567 bytes");
  EXPECT_EQ(counted(-100, "byte"), "-100 bytes");
}

}  // namespace
}  // namespace tritonsmith
