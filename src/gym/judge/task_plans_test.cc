#include "gym/judge/task_plans.h"

#include <gtest/gtest.h>

namespace tritonsmith::gym::judge {
namespace {

constexpr std::size_t kNoLimit = std::size_t{1} << 40;

void add_plan(TaskPlans& plans, const std::string& key, std::uint64_t last_used,
              const std::string& used = "") {
  TaskPlan& plan = plans.entry(key, [&](const std::string& each) { return each == used; });
  plan.ready = true;
  plan.json = "0123456789";
  plan.last_used = last_used;
}

TEST(TaskPlans, ForgetsThePlanThatWasUsedLongestAgo) {
  TaskPlans plans(2, kNoLimit);
  add_plan(plans, "a", 7);
  add_plan(plans, "b", 3);
  add_plan(plans, "c", 8);
  EXPECT_EQ(plans.size(), 2u);
  EXPECT_TRUE(plans.at("a").ready);
  EXPECT_FALSE(plans.entry("b", [](const std::string&) { return true; }).ready);
}

TEST(TaskPlans, KeepsThePlansOfRunningJobsAndThoseThatAreNotReady) {
  TaskPlans plans(2, kNoLimit);
  plans.entry("not ready", [](const std::string&) { return false; });
  add_plan(plans, "used", 1);
  add_plan(plans, "c", 2, "used");
  EXPECT_EQ(plans.size(), 3u) << "none of the two may leave";
  EXPECT_TRUE(plans.at("used").ready);
}

TEST(TaskPlans, CountsBytes) {
  TaskPlans plans(100, 25);
  add_plan(plans, "a", 1);
  add_plan(plans, "b", 2);
  add_plan(plans, "c", 3);
  EXPECT_EQ(plans.size(), 3u) << "the two before it have 20 bytes";
  add_plan(plans, "d", 4);
  EXPECT_EQ(plans.size(), 3u);
}

TEST(TaskPlans, ATextThatIsNoPlanIsAFailureOfTheTask) {
  TaskPlan plan;
  plan.read("{}");
  ASSERT_TRUE(plan.failure);
  EXPECT_EQ(plan.failure->error_class, ErrorClass::bad_plan);
  EXPECT_EQ(plan.json, "");
}

}  // namespace
}  // namespace tritonsmith::gym::judge
