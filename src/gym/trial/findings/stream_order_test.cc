#include "gym/trial/findings/stream_order.h"

#include <gtest/gtest.h>

namespace tritonsmith::gym::trial {
namespace {

using Kind = plan::StreamOrder::Kind;

constexpr int kX = 0, kWorkspace = 1, kOut = 2;

// A kernel that loads through its first argument and stores through the second.
plan::PlanKernel copying_kernel() {
  return {.name = "k",
          .code =
              "module {\n  tt.func public @k(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>) {\n"
              "    %v = tt.load %x : !tt.ptr<f32>\n    tt.store %y, %v : !tt.ptr<f32>\n"
              "    tt.return\n  }\n}\n"};
}

plan::PlanStep copy(int from, int to, int line, plan::Phase phase = plan::Phase::forward) {
  return {.phase = phase,
          .line = line,
          .action = plan::LaunchStep{{{.kernel = 0,
                                       .arguments = {plan::Value{plan::TensorRef{from}},
                                                     plan::Value{plan::TensorRef{to}}}}}}};
}

// Line 10 copies x to the workspace, line 11 copies the workspace to the output.
plan::Plan plan_of_two(std::vector<plan::StreamOrder> orders) {
  plan::Plan plan;
  plan.tensors.resize(3);
  for (int k = 0; k < 3; ++k) plan.tensors[static_cast<std::size_t>(k)].storage = k;
  plan.kernels.push_back(copying_kernel());
  plan.inputs = {plan::Value{plan::TensorRef{kX}}};
  plan.outputs = plan::Value{plan::TensorRef{kOut}};
  plan.steps = {copy(kX, kWorkspace, 10), copy(kWorkspace, kOut, 11)};
  plan.orders = std::move(orders);
  return plan;
}

const std::vector<plan::StreamOrder> kSideAfterMain = {
    {.before = 0, .kind = Kind::record, .stream = 0, .event = 1},
    {.before = 0, .kind = Kind::wait, .stream = 1, .event = 1},
    {.before = 0, .kind = Kind::use, .stream = 1},
    {.before = 1, .kind = Kind::use, .stream = 0}};

std::vector<plan::StreamOrder> with(std::vector<plan::StreamOrder> more) {
  std::vector<plan::StreamOrder> all = kSideAfterMain;
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

bool is_clean(const plan::Plan& plan) {
  const StreamRaces races = find_stream_races(plan);
  return !races.certain && races.suspected.empty();
}

// Tells whether the two steps of plan_of_two may be exchanged.
bool is_suspected(const plan::Plan& plan) {
  const StreamRaces races = find_stream_races(plan);
  return !races.certain && races.suspected.size() == 1 &&
         races.suspected[0].order == std::vector<int>{1, 0};
}

TEST(StreamRaces, AreNoneOnOneStream) { EXPECT_TRUE(is_clean(plan_of_two({}))); }

TEST(StreamRaces, AreNoneWhereTheMainStreamWaitsForTheSide) {
  EXPECT_TRUE(is_clean(plan_of_two(with({{plan::Phase::forward, 1, Kind::record, 1, 2},
                                         {plan::Phase::forward, 1, Kind::wait, 0, 2}}))));
  EXPECT_TRUE(is_clean(plan_of_two(with({{plan::Phase::forward, 1, Kind::finish, 0, 0}}))));
  EXPECT_TRUE(is_clean(
      plan_of_two(with({{plan::Phase::forward, 1, Kind::record, 1, 2},
                        {plan::Phase::forward, 1, Kind::wait, plan::StreamOrder::kHost, 2}}))));
}

TEST(StreamRaces, AreSuspectedWhereNothingWaitsForTheSide) {
  const StreamRaces races = find_stream_races(plan_of_two(kSideAfterMain));
  ASSERT_EQ(races.suspected.size(), 1u);
  const VerdictError& error = races.suspected[0].error;
  EXPECT_EQ(error.error_class, ErrorClass::race);
  EXPECT_EQ(error.line, 11);
  EXPECT_NE(error.message.find("uses what line 10 writes on another stream"), std::string::npos);
  const plan::Plan other = in_step_order(plan_of_two(kSideAfterMain), races.suspected[0].order);
  EXPECT_EQ(other.steps[0].line, 11);
  EXPECT_TRUE(other.orders.empty());
}

TEST(StreamRaces, AreSuspectedWhereTheWaitIsForSomethingElse) {
  // The event stands for the side stream's work before the kernel.
  EXPECT_TRUE(is_suspected(plan_of_two({{plan::Phase::forward, 0, Kind::record, 0, 1},
                                        {plan::Phase::forward, 0, Kind::wait, 1, 1},
                                        {plan::Phase::forward, 0, Kind::record, 1, 2},
                                        {plan::Phase::forward, 0, Kind::use, 1, 0},
                                        {plan::Phase::forward, 1, Kind::use, 0, 0},
                                        {plan::Phase::forward, 1, Kind::wait, 0, 2}})));
  // A third stream's event.
  EXPECT_TRUE(is_suspected(plan_of_two(with({{plan::Phase::forward, 1, Kind::record, 2, 2},
                                             {plan::Phase::forward, 1, Kind::wait, 0, 2}}))));
  // No stream records the event.
  EXPECT_TRUE(is_suspected(plan_of_two(with({{plan::Phase::forward, 1, Kind::wait, 0, 7}}))));
  // The wait comes after the kernel that needs it.
  EXPECT_TRUE(is_suspected(plan_of_two(with({{plan::Phase::forward, 2, Kind::record, 1, 2},
                                             {plan::Phase::forward, 2, Kind::wait, 0, 2}}))));
}

TEST(StreamRaces, AreCertainWhereTheSideDoesNotWaitForTheInputs) {
  EXPECT_TRUE(find_stream_races(plan_of_two({{plan::Phase::forward, 0, Kind::use, 1, 0},
                                             {plan::Phase::forward, 1, Kind::use, 0, 0},
                                             {plan::Phase::forward, 1, Kind::record, 1, 2},
                                             {plan::Phase::forward, 1, Kind::wait, 0, 2}}))
                  .certain);
}

TEST(StreamRaces, AreCertainWhereForwardReturnsBeforeTheSideIsDone) {
  const auto race = find_stream_races(plan_of_two({{plan::Phase::forward, 0, Kind::record, 0, 1},
                                                   {plan::Phase::forward, 0, Kind::wait, 1, 1},
                                                   {plan::Phase::forward, 0, Kind::use, 1, 0},
                                                   {plan::Phase::forward, 2, Kind::use, 0, 0}}))
                        .certain;
  ASSERT_TRUE(race);
  EXPECT_EQ(race->line, 11);
  EXPECT_NE(race->message.find("forward returns"), std::string::npos);
}

TEST(StreamRaces, AreCertainWhereAnOperatorsResultIsUsed) {
  plan::Plan plan = plan_of_two(kSideAfterMain);
  plan.steps[0].action = plan::AtenCall{
      .op = "aten::relu", .args = {plan::Value{plan::TensorRef{kX}}}, .outputs = {kWorkspace}};
  EXPECT_TRUE(find_stream_races(plan).certain);
}

TEST(StreamRaces, AreSuspectedWhereAWriteMeetsAnEarlierRead) {
  plan::Plan plan = plan_of_two(kSideAfterMain);
  plan.steps[1] = copy(kOut, kX, 11);  // the side stream may still read x
  plan.outputs = plan::Value{plan::None{}};
  const StreamRaces races = find_stream_races(plan);
  ASSERT_EQ(races.suspected.size(), 1u);
  EXPECT_NE(races.suspected[0].error.message.find("writes what line 10 reads"), std::string::npos);
}

TEST(StreamRaces, AreCertainWhereOneOfTwoWritersIsNotWaitedFor) {
  plan::Plan plan = plan_of_two(kSideAfterMain);
  plan.steps = {copy(kX, kOut, 10), copy(kX, kOut, 11)};  // halves of the output, perhaps
  EXPECT_TRUE(find_stream_races(plan).certain);
  plan.orders.push_back({plan::Phase::forward, 2, Kind::record, 1, 2});
  plan.orders.push_back({plan::Phase::forward, 2, Kind::wait, 0, 2});
  EXPECT_FALSE(find_stream_races(plan).certain);
}

TEST(StreamRaces, AreNoneAcrossAThirdStreamThatPassesTheWaitOn) {
  EXPECT_TRUE(is_clean(plan_of_two(with({{plan::Phase::forward, 1, Kind::record, 1, 2},
                                         {plan::Phase::forward, 1, Kind::wait, 2, 2},
                                         {plan::Phase::forward, 1, Kind::record, 2, 3},
                                         {plan::Phase::forward, 1, Kind::wait, 0, 3}}))));
}

TEST(StreamRaces, AreNoneWhereTheConstructorUsedAnotherStream) {
  plan::Plan plan = plan_of_two(
      {{plan::Phase::forward, 0, Kind::use, 1, 0}, {plan::Phase::forward, 1, Kind::use, 0, 0}});
  plan.orders[0].phase = plan.orders[1].phase = plan::Phase::init;
  plan.steps[0].phase = plan::Phase::init;
  EXPECT_TRUE(is_clean(plan));
}

TEST(StreamRaces, AreNoneWhereTheModuleLeavesTheMainStreamForGood) {
  plan::Plan plan = plan_of_two({{plan::Phase::forward, 0, Kind::use, 1, 0}});
  plan.orders[0].phase = plan::Phase::init;
  plan.steps.insert(plan.steps.begin(), copy(kOut, kOut, 5, plan::Phase::init));
  EXPECT_TRUE(is_clean(plan));
}

}  // namespace
}  // namespace tritonsmith::gym::trial
