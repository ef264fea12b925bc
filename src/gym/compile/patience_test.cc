#include "gym/compile/patience.h"

#include <gtest/gtest.h>

namespace tritonsmith::gym::compile {
namespace {

using std::chrono::seconds;

TEST(CompilePatience, GrowsWithTheProgramsThatShareACore) {
  EXPECT_EQ(limit_under_load(seconds(60), 6, 2), seconds(180));
  EXPECT_EQ(limit_under_load(seconds(60), 3, 2), seconds(90));
}

TEST(CompilePatience, IsTheLimitOnAMachineWithAFreeCore) {
  for (const double load : {0.0, 0.5, 7.9})
    EXPECT_EQ(limit_under_load(seconds(60), load, 8), seconds(60));
}

TEST(CompilePatience, EndsHoweverBusyTheMachineIs) {
  EXPECT_EQ(limit_under_load(seconds(60), 1e6, 1), seconds(240));
}

TEST(CompilePatience, AsksTheSystemForTheLoad) { EXPECT_GE(load_of_machine(), 0); }

}  // namespace
}  // namespace tritonsmith::gym::compile
