#include "gym/timing/new_inputs.h"

#include <gtest/gtest.h>

namespace tritonsmith::gym::timing {
namespace {

TEST(NewInputs, AKernelThatRemembersDiffersFromOneWhoseTimeFollowsFromData) {
  EXPECT_FALSE(judge_new_inputs(1.0, {.first_ms = {1.04}, .again_ms = {}}));
  EXPECT_FALSE(judge_new_inputs(1.0, {.first_ms = {2.0, 2.0, 1.0}, .again_ms = {2.0, 2.0}}));
  const auto remembers = judge_new_inputs(1.0, {.first_ms = {2.0, 2.1}, .again_ms = {1.0, 1.0}});
  ASSERT_TRUE(remembers);
  EXPECT_EQ(remembers->rule, "remembered_results");
  EXPECT_EQ(remembers->severity, Severity::reject);
  const auto depends = judge_new_inputs(1.0, {.first_ms = {2.0, 3.0}, .again_ms = {2.0, 3.1}});
  ASSERT_TRUE(depends);
  EXPECT_EQ(depends->rule, "time_depends_on_data");
  EXPECT_EQ(depends->severity, Severity::note);
}

}  // namespace
}  // namespace tritonsmith::gym::timing
