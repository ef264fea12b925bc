#include "curriculum/zoo/zoo.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "curriculum/zoo/operators/operators.h"

namespace tritonsmith::curriculum::zoo {
namespace {

// Many modules, made once for all tests.
const std::vector<Task>& many_modules() {
  static const std::vector<Task> modules = make_zoo({.seed = 1, .count = 6000});
  return modules;
}

std::vector<std::string> steps_of(const Task& task) {
  std::vector<std::string> steps;
  const std::string text = task.composition + " > ";
  for (std::size_t at = 0, end = 0; (end = text.find(" > ", at)) != std::string::npos; at = end + 3)
    steps.push_back(text.substr(at, end - at));
  return steps;
}

std::size_t count_with(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(many_modules(), [&](const Task& task) {
    return task.source.find(text) != std::string::npos;
  }));
}

TEST(Zoo, MakesAsManyModulesAsAreAskedForAndNoTwoAreEqual) {
  ASSERT_EQ(many_modules().size(), 6000U);
  std::set<std::string> ids, sources;
  for (const Task& task : many_modules()) {
    EXPECT_TRUE(ids.insert(task.id).second) << task.id;
    EXPECT_TRUE(sources.insert(task.source).second) << task.source;
  }
}

TEST(Zoo, MakesTheSameModulesFromTheSameSeedAndOthersFromAnother) {
  const auto again = make_zoo({.seed = 1, .count = 50}), other = make_zoo({.seed = 2, .count = 50});
  std::set<std::string> known;
  for (std::size_t i = 0; i < again.size(); ++i) {
    EXPECT_EQ(again[i].source, many_modules()[i].source);
    known.insert(again[i].source);
  }
  for (const Task& task : other) EXPECT_FALSE(known.contains(task.source)) << task.source;
}

TEST(Zoo, UsesEveryOperator) {
  std::map<std::string, int> seen;
  for (const Task& task : many_modules())
    for (const std::string& step : steps_of(task)) ++seen[step];
  for (const Operator& each : all_operators())
    EXPECT_GE(seen[std::string(each.name)], 3) << each.name << " is hardly ever drawn";
}

TEST(Zoo, ChainsTwoToSixOperatorsUnlessOthersAreAskedFor) {
  for (const Task& task : many_modules()) {
    const std::size_t steps = steps_of(task).size();
    EXPECT_TRUE(steps >= 2 && steps <= 6) << task.composition;
  }
  for (const Task& task : make_zoo({.count = 40, .min_operators = 8, .max_operators = 8}))
    EXPECT_EQ(steps_of(task).size(), 8U) << task.composition;
}

TEST(Zoo, VariesTheMannerOfWriting) {
  const std::size_t all = many_modules().size();
  for (const char* text :
       {"\"\"\"", "nn.Sequential(", "super().__init__()", "super(Model, self)", "BATCH_SIZE",
        "\nbatch_size = ", "-> torch.Tensor", "from torch import nn",
        "residual = ", "def forward(self, hidden_states"}) {
    EXPECT_GT(count_with(text), all / 100) << text;
    EXPECT_LT(count_with(text), all * 9 / 10) << text;
  }
}

// A mark that was not replaced would be a syntax error.
TEST(Zoo, LeavesNoMarkOfASizeInTheSource) { EXPECT_EQ(count_with("$"), 0U); }

TEST(Broadcast, GivesTheCommonShapeOrNothing) {
  EXPECT_EQ(broadcast({4, 1, 3}, {2, 1}), (Shape{4, 2, 3}));
  EXPECT_EQ(broadcast({4, 3}, {4, 2}), Shape{});
}

TEST(Sketch, WritesAnOperandInPlaceOnlyIfItIsUsedOnce) {
  Rng rng(1, "sketch", 0);
  Sketch sketch(rng, {.argument = "x", .variable = "x", .nesting = 1});
  sketch.begin({.name = "x", .draw = "torch.rand(2, 3)", .shape = {2, 3}}, {.shape = {2, 3}});
  sketch.become("x + 1");
  EXPECT_EQ(sketch.receiver(), "(x + 1)");
  sketch.become("(x + 1).abs()");
  EXPECT_EQ(sketch.name(), "x");
  EXPECT_THAT(sketch.parts().forward, testing::ElementsAre("x = (x + 1).abs()"));
}

TEST(Sketch, RemovesAnEarlierValueThatNothingUses) {
  Rng rng(1, "sketch", 0);
  Sketch sketch(rng, {.argument = "x", .variable = "x"});
  sketch.begin({.name = "x", .draw = "torch.rand(2, 3)", .shape = {2, 3}}, {.shape = {2, 3}});
  sketch.keep();
  sketch.become("torch.relu(x)");
  sketch.finish();
  EXPECT_THAT(sketch.parts().forward, testing::ElementsAre("return torch.relu(x)"));
}

}  // namespace
}  // namespace tritonsmith::curriculum::zoo
