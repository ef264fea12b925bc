#include "curriculum/teacher/teacher.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "curriculum/teacher/mistakes.h"
#include "curriculum/teacher/slips.h"
#include "curriculum/trial.h"

namespace tritonsmith::curriculum {
namespace {

using testing::AllOf;
using testing::Gt;
using testing::HasSubstr;
using testing::Lt;

const std::vector<GeneratedTask>& generated_tasks() {
  static const std::vector<GeneratedTask> made =
      generate_tasks({.seed = 8, .train = 150, .heldout = 20, .scale = Scales::both});
  return made;
}

// Generated tasks without weights, like those of the quickstart.
std::vector<GeneratedTask> basic_tasks() {
  CurriculumOptions options = quickstart_options(1);
  options.train = 150;
  options.heldout = 0;
  return generate_tasks(options);
}

double share_of(const std::vector<Example>& examples, Intent intent) {
  const auto count = std::ranges::count_if(
      examples, [&](const Example& each) { return each.answer.intent == intent; });
  return static_cast<double>(count) / static_cast<double>(examples.size());
}

TEST(Teacher, KnowsAtLeastFourStylesForEveryTask) {
  for (const GeneratedTask& each : generated_tasks()) {
    const auto examples = teach_task(each, {.per_task = 9}, 0);
    std::set<Style> styles;
    for (const Example& example : examples) styles.insert(example.answer.style);
    EXPECT_GE(styles.size(), 4U) << each.task.id;
  }
}

TEST(Teacher, TakesNoLongRowInOneBlock) {
  const Program program{.inputs = {{.name = "x"}}, .root = apply(Op::relu, {}, {leaf(0)})};
  const auto holds = [](const std::vector<Style>& styles, Style style) {
    return std::ranges::find(styles, style) != styles.end();
  };
  const auto longest = styles_for(program, {.lead = {8}, .n = 65536}, TaskScale::gpu);
  EXPECT_TRUE(holds(longest, Style::rows) && holds(longest, Style::tiles));
  const auto longer = styles_for(program, {.lead = {8}, .n = 65537}, TaskScale::gpu);
  EXPECT_FALSE(holds(longer, Style::rows) || holds(longer, Style::tiles));
  EXPECT_GE(longer.size(), 4U);
}

TEST(Teacher, WritesThinkingAndCodeInTheAgreedForm) {
  for (const Example& each : teach(generated_tasks(), {})) {
    EXPECT_THAT(each.answer.completion, testing::StartsWith("<thinking>"));
    EXPECT_THAT(each.answer.completion, testing::EndsWith("```\n</answer>"));
    EXPECT_THAT(each.answer.completion,
                HasSubstr("</thinking>\n<answer>\n```python\nimport torch"));
    EXPECT_THAT(each.answer.completion, HasSubstr("class ModelNew("));
  }
}

TEST(Teacher, PassesOverHeldOutTasks) {
  for (const Example& each : teach(generated_tasks(), {.per_task = 1}))
    EXPECT_EQ(each.task.split, TaskSplit::train);
}

TEST(Teacher, WritesTheSameAgainForTheSameSeed) {
  const auto first = teach(generated_tasks(), {.seed = 2, .per_task = 2});
  const auto again = teach(generated_tasks(), {.seed = 2, .per_task = 2});
  ASSERT_EQ(first.size(), again.size());
  for (std::size_t i = 0; i < first.size(); ++i)
    EXPECT_EQ(first[i].answer.completion, again[i].answer.completion);
}

TEST(Teacher, KeepsToTheStylesAskedFor) {
  for (const Example& each : teach(generated_tasks(), {.styles = {"compact", "rows"}}))
    EXPECT_TRUE(each.answer.style == Style::compact || each.answer.style == Style::rows);
}

TEST(Teacher, SpoilsTheShareAskedForAndSaysWhich) {
  const auto examples = teach(generated_tasks(), {.per_task = 2, .mistakes = 0.3});
  EXPECT_THAT(share_of(examples, Intent::mistake), AllOf(Gt(0.15), Lt(0.4)));
  EXPECT_EQ(share_of(teach(generated_tasks(), {}), Intent::honest), 1);
}

TEST(Teacher, LeavesToTorchWhatItIsAskedTo) {
  const auto all = basic_tasks();
  const auto examples = teach(all, {.per_task = 1, .lazy = 0.3, .decoys = 0.2});
  EXPECT_THAT(share_of(examples, Intent::lazy), AllOf(Gt(0.15), Lt(0.4)));
  EXPECT_THAT(share_of(examples, Intent::decoy), AllOf(Gt(0.1), Lt(0.3)));
  for (const Example& each : examples)
    if (each.answer.intent == Intent::lazy) {
      EXPECT_THAT(each.answer.code, HasSubstr("tl.store("));
    }
}

TEST(Teacher, SaysInTheThinkingWhatIsFused) {
  const auto all = basic_tasks();
  const TeacherOptions options{.styles = {"pair"}, .per_task = 1, .thinking = ThinkingKind::fusion};
  const auto pairs = teach(all, options);
  ASSERT_FALSE(pairs.empty());
  for (const Example& each : pairs)
    EXPECT_THAT(each.answer.completion, testing::ContainsRegex("^<thinking>kernel: .*; kernel: "));
  for (const Example& each : teach(all, {.thinking = ThinkingKind::fusion, .lazy = 1}))
    if (each.answer.intent == Intent::lazy) {
      EXPECT_THAT(each.answer.completion, AllOf(HasSubstr("torch: "), HasSubstr("kernel: ")));
    }
}

TEST(Teacher, MendsAFirstAnswerThatIsNoGood) {
  const auto all = basic_tasks();
  const auto examples = teach(all, {.per_task = 1, .mistakes = 0.3, .lazy = 0.2, .repairs = 0.5});
  std::set<Intent> firsts;
  std::size_t repairs = 0;
  for (const Example& each : examples) {
    if (!each.first) continue;
    ++repairs;
    firsts.insert(each.first->intent);
    EXPECT_EQ(each.answer.intent, Intent::honest);
    EXPECT_NE(each.first->intent, Intent::honest);
    EXPECT_NE(each.first->code, each.answer.code);
    EXPECT_THAT(each.first->completion, HasSubstr(each.first->code));
  }
  EXPECT_NEAR(static_cast<double>(repairs) / static_cast<double>(examples.size()), 0.5, 0.15);
  EXPECT_THAT(firsts, testing::UnorderedElementsAre(Intent::mistake, Intent::slip, Intent::lazy));
}

TEST(Teacher, RepairsChangeNoOtherAnswer) {
  const TeacherOptions plain{.per_task = 1, .mistakes = 0.3};
  TeacherOptions repairing = plain;
  repairing.repairs = 0.5;
  const auto without = teach(generated_tasks(), plain), with = teach(generated_tasks(), repairing);
  ASSERT_EQ(without.size(), with.size());
  for (std::size_t i = 0; i < with.size(); ++i)
    if (!with[i].first) {
      EXPECT_EQ(with[i].answer.completion, without[i].answer.completion);
    }
}

TEST(Teacher, RefusesSharesBeyondTheWhole) {
  EXPECT_TRUE(check({.mistakes = 0.5, .lazy = 0.3, .decoys = 0.2}));
  EXPECT_FALSE(check({.mistakes = 0.5, .lazy = 0.3, .decoys = 0.3}));
}

TEST(Teacher, IsShortForTheQuickstart) {
  CurriculumOptions options = quickstart_options(1);
  options.train = 300;
  for (const Example& each : teach(generate_tasks(options), {.styles = {"compact"}}))
    EXPECT_LE(each.answer.completion.size(), 900U) << each.answer.completion;
}

TEST(Mistakes, ChangeWhatIsComputed) {
  Rng rng(1, "mistakes", 0);
  for (const GeneratedTask& each : generated_tasks()) {
    const auto wrong = with_mistake(each.program, rng);
    if (!wrong) continue;
    EXPECT_NE(try_out(each.program, 3, 32, Rng(1, "trial", 0)),
              try_out(*wrong, 3, 32, Rng(1, "trial", 0)));
  }
}

TEST(Slips, ChangeOneLineOfTheCode) {
  const std::string code = "    m = i < n\n    x = tl.load(X + i, m)\n    tl.store(O + i, x, m)\n";
  std::set<std::string> seen;
  for (std::uint64_t i = 0; i < 40; ++i) {
    Rng rng(1, "slips", i);
    const auto slipped = with_slip(code, rng);
    ASSERT_TRUE(slipped);
    EXPECT_NE(*slipped, code);
    seen.insert(*slipped);
  }
  EXPECT_THAT(seen,
              testing::IsSupersetOf({code.substr(14), std::string(code).replace(29, 0, "d")}));
  EXPECT_EQ(seen.size(), 4U);  // a name twice, the mask, the parenthesis
}

}  // namespace
}  // namespace tritonsmith::curriculum
