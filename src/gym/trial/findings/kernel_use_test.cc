#include "gym/trial/findings/kernel_use.h"

#include <gtest/gtest.h>

namespace tritonsmith::gym::trial {
namespace {

plan::Plan plan_with(const std::string& scope, std::int64_t programs) {
  plan::Plan plan;
  plan.kernels.push_back(
      {.name = "k",
       .code = fmt::format("module {{\n  tt.func public @k(%x: !tt.ptr<i32>) {{\n"
                           "    %one = arith.constant 1 : i32\n    %true = arith.constant true\n"
                           "    %old = tt.atomic_rmw add, relaxed, {}, %x, %one, %true : "
                           "(!tt.ptr<i32>, i32, i1) -> i32\n    tt.return\n  }}\n}}\n",
                           scope),
       .line = 7});
  plan.steps.push_back({.action = plan::LaunchStep{{{.kernel = 0, .grid = {1, programs, 1}}}}});
  return plan;
}

TEST(NarrowAtomics, AreFoundWhereSeveralProgramsHaveThem) {
  const auto findings = find_narrow_atomics(plan_with("cta", 2));
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].rule, "race");
  EXPECT_EQ(findings[0].severity, Severity::reject);
  EXPECT_EQ(findings[0].line, 7);
  EXPECT_TRUE(find_narrow_atomics(plan_with("cta", 1)).empty());
  EXPECT_TRUE(find_narrow_atomics(plan_with("gpu", 2)).empty());
}

// A launch of so many programs that loads through x and stores through y. Both are tensors of this
// plan; the second lies in the storage that is named.
plan::Plan copying_plan(std::int64_t programs, int storage_of_y) {
  plan::Plan plan;
  plan.kernels.push_back({.name = "k",
                          .code = "module {\n  tt.func public @k(%x: !tt.ptr<f32>, %y: "
                                  "!tt.ptr<f32>) {\n    %v = tt.load %x : !tt.ptr<f32>\n    "
                                  "tt.store %y, %v : !tt.ptr<f32>\n    tt.return\n  }\n}\n"});
  plan.tensors.resize(2);
  plan.tensors[0].storage = 0;
  plan.tensors[1].storage = storage_of_y;
  plan.steps.push_back(
      {.action = plan::LaunchStep{
           {{.kernel = 0,
             .grid = {programs, 1, 1},
             .arguments = {plan::Value{plan::TensorRef{0}}, plan::Value{plan::TensorRef{1}}}}}}});
  return plan;
}

TEST(ProgramsMayMeet, WhereTheyLoadFromMemoryInWhichTheyStore) {
  EXPECT_TRUE(programs_may_meet(copying_plan(2, 0)));
  EXPECT_FALSE(programs_may_meet(copying_plan(2, 1)));
  EXPECT_FALSE(programs_may_meet(copying_plan(1, 0)));
}

}  // namespace
}  // namespace tritonsmith::gym::trial
