#include "curriculum/tasks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "curriculum/range.h"
#include "curriculum/split.h"
#include "curriculum/trial.h"

namespace tritonsmith::curriculum {
namespace {

// The whole default curriculum, made once for all tests.
const std::vector<GeneratedTask>& whole() {
  static const std::vector<GeneratedTask> generated_tasks = generate_tasks({});
  return generated_tasks;
}

std::set<std::string> forms_of(TaskSplit split, const std::vector<GeneratedTask>& generated_tasks) {
  std::set<std::string> forms;
  for (const GeneratedTask& each : generated_tasks)
    if (each.task.split == split) forms.insert(each.task.composition);
  return forms;
}

// Checks that no form in `some` is in `others`, with or without one of its operators, and the
// reverse.
void expect_apart(const std::vector<GeneratedTask>& generated_tasks) {
  const auto train = forms_of(TaskSplit::train, generated_tasks),
             heldout = forms_of(TaskSplit::heldout, generated_tasks);
  for (const GeneratedTask& each : generated_tasks) {
    const auto& others = each.task.split == TaskSplit::train ? heldout : train;
    EXPECT_FALSE(others.contains(each.task.composition)) << each.task.composition;
    for (const Expression& smaller : without_one_operator(each.program.root))
      EXPECT_FALSE(others.contains(canonical_form(smaller)))
          << each.task.composition << " without one operator";
  }
}

std::set<OperatorClasses> classes_of(TaskSplit split,
                                     const std::vector<GeneratedTask>& generated_tasks) {
  std::set<OperatorClasses> all;
  for (const GeneratedTask& each : generated_tasks)
    if (each.task.split == split) all.insert(operator_classes(each.program.root));
  return all;
}

TEST(Curriculum, HasAtLeastFiveThousandCompositions) {
  EXPECT_GE(forms_of(TaskSplit::train, whole()).size(), 5000U);
  EXPECT_GE(forms_of(TaskSplit::heldout, whole()).size(), 300U);
}

TEST(Curriculum, KeepsHeldOutTasksOneOperatorAwayFromTraining) { expect_apart(whole()); }

// A stronger test that ignores the order of operators. It compares sets of operator classes, with
// one class more or less.
TEST(Curriculum, KeepsHeldOutTasksApartInWhateverOrderOperatorsAreApplied) {
  const auto train = classes_of(TaskSplit::train, whole());
  for (const OperatorClasses& heldout : classes_of(TaskSplit::heldout, whole())) {
    EXPECT_FALSE(train.contains(heldout));
    for (const std::string& each : heldout) {
      OperatorClasses smaller = heldout;
      smaller.erase(each);
      EXPECT_FALSE(train.contains(smaller));
    }
  }
  const auto heldout = classes_of(TaskSplit::heldout, whole());
  for (const OperatorClasses& larger : train)
    for (const std::string& each : larger) {
      OperatorClasses smaller = larger;
      smaller.erase(each);
      EXPECT_FALSE(heldout.contains(smaller));
    }
}

TEST(Curriculum, SplitsAlikeForEverySeedAndSelection) {
  std::vector<GeneratedTask> both = generate_tasks({.seed = 9, .train = 300, .heldout = 0});
  for (GeneratedTask& each : generate_tasks({.seed = 4, .train = 0, .heldout = 150}))
    both.push_back(each);
  for (GeneratedTask& each : generate_tasks(quickstart_options(2))) both.push_back(each);
  expect_apart(both);
}

TEST(Curriculum, UsesMoreThanThirtyOperatorsElementByElement) {
  int count = 0;
  for (const Operator& op : all_operators()) count += op.value != nullptr;
  EXPECT_GE(count, 30);
  std::set<Op> seen;
  const std::function<void(const Expression&)> visit = [&](const Expression& tree) {
    seen.insert(tree.op);
    for (const Expression& child : tree.children) visit(child);
  };
  for (const GeneratedTask& each : whole()) visit(each.program.root);
  for (const Operator& op : all_operators())
    EXPECT_TRUE(seen.contains(op.op) || op.op == Op::core_value) << op.name;
}

TEST(Curriculum, IsTheSameForTheSameSeed) {
  const auto first = make_curriculum({.seed = 3, .train = 40, .heldout = 10});
  const auto again = make_curriculum({.seed = 3, .train = 40, .heldout = 10});
  const auto other = make_curriculum({.seed = 4, .train = 40, .heldout = 10});
  ASSERT_EQ(first.size(), again.size());
  for (std::size_t i = 0; i < first.size(); ++i) EXPECT_EQ(to_json(first[i]), to_json(again[i]));
  EXPECT_NE(to_json(first[0]), to_json(other[0]));
}

TEST(Curriculum, GivesEveryCompositionAtBothScales) {
  const auto generated_tasks =
      generate_tasks({.seed = 6, .train = 60, .heldout = 0, .scale = Scales::both});
  ASSERT_EQ(generated_tasks.size(), 120U);
  for (const GeneratedTask& each : generated_tasks) {
    const std::size_t elements = total_elements(each.program, each.sizes);
    if (each.task.scale == TaskScale::small)
      EXPECT_LE(elements, 8192U) << each.task.id;
    else
      EXPECT_GE(4 * elements, 100'000'000U) << each.task.id;
  }
}

TEST(Curriculum, HasIdsOfItsOwnForAllTasks) {
  std::set<std::string> ids;
  for (const GeneratedTask& each : whole())
    EXPECT_TRUE(ids.insert(each.task.id).second) << each.task.id;
}

TEST(Curriculum, HasNoTaskWhoseOutputsAreAllNearlyEqual) {
  const auto& generated_tasks = whole();
  for (std::size_t i = 0; i < generated_tasks.size(); i += 40)
    EXPECT_FALSE(is_nearly_constant(try_out(generated_tasks[i].program, 4, 48, Rng(7, "test", i))))
        << generated_tasks[i].task.composition;
}

TEST(Quickstart, HasAHundredHeldOutTasksOfThreeOperators) {
  const auto generated_tasks = generate_tasks(quickstart_options(1));
  const auto heldout = std::count_if(
      generated_tasks.begin(), generated_tasks.end(),
      [](const GeneratedTask& each) { return each.task.split == TaskSplit::heldout; });
  EXPECT_GE(heldout, 100);
  EXPECT_GE(generated_tasks.size() - static_cast<std::size_t>(heldout), 1500U);
  for (const GeneratedTask& each : generated_tasks) {
    EXPECT_LE(operator_count(each.program.root), 3);
    EXPECT_LE(each.program.inputs.size(), 2U);
  }
}

TEST(Range, RefusesOperatorsOfNoEffect) {
  Program program{.family = Family::elementwise, .inputs = {{.name = "x"}}};
  program.root = apply(Op::relu, {}, {apply(Op::sigmoid, {}, {leaf(0)})});
  EXPECT_FALSE(range_of(program, 128));
  program.root = apply(Op::cos, {}, {apply(Op::abs, {}, {leaf(0)})});
  EXPECT_FALSE(range_of(program, 128));
  program.root = apply(Op::sigmoid, {}, {apply(Op::relu, {}, {leaf(0)})});
  EXPECT_TRUE(range_of(program, 128));
}

TEST(Range, RefusesWhatOverflowsOrDrownsInRounding) {
  Program program{.family = Family::elementwise, .inputs = {{.name = "x"}}};
  program.root = apply(Op::exp, {}, {apply(Op::cube, {}, {leaf(0)})});
  EXPECT_FALSE(range_of(program, 128));
  program.root = apply(Op::sin, {}, {apply(Op::exp, {}, {leaf(0)})});
  EXPECT_FALSE(range_of(program, 128));
}

TEST(Options, RefuseAnUnknownFamily) {
  CurriculumOptions options;
  const auto status =
      apply_settings(options, {{"families", Json::array({"elementwise", "convolution"})}}, "test");
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().message, testing::HasSubstr("'convolution' is none of elementwise"));
}

TEST(Relatives, KeepTheCompositionAndChangeSizesAndInputs) {
  for (const GeneratedTask& generated : generate_tasks({.train = 40, .heldout = 0})) {
    const std::vector<Task> tasks = relatives(generated, 1);
    ASSERT_GE(tasks.size(), 3u) << generated.task.id;
    std::set<std::string> sources = {generated.task.source};
    for (const Task& task : tasks) {
      EXPECT_EQ(task.composition, generated.task.composition);
      EXPECT_TRUE(sources.insert(task.source).second) << task.id << "\n" << task.source;
    }
    EXPECT_NE(tasks[0].instruction, generated.task.instruction) << "other sizes";
    EXPECT_EQ(tasks.back().instruction, generated.task.instruction) << "other inputs, equal sizes";
  }
}

}  // namespace
}  // namespace tritonsmith::curriculum
