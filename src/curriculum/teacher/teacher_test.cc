#include "curriculum/teacher/teacher.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "curriculum/teacher/mistakes.h"
#include "curriculum/trial.h"

namespace tritonsmith::curriculum {
namespace {

using testing::HasSubstr;

const std::vector<Lesson>& lessons() {
  static const std::vector<Lesson> made =
      make_lessons({.seed = 8, .train = 150, .heldout = 20, .scale = Scales::both});
  return made;
}

TEST(Teacher, KnowsAtLeastFourStylesForEveryTask) {
  for (const Lesson& each : lessons()) {
    const auto examples = teach_lesson(each, {.per_task = 9}, 0);
    std::set<Style> styles;
    for (const Example& example : examples) styles.insert(example.style);
    EXPECT_GE(styles.size(), 4U) << each.task.id;
  }
}

TEST(Teacher, WritesPlanAndCodeInTheAgreedForm) {
  for (const Example& each : teach(lessons(), {})) {
    EXPECT_THAT(each.completion, testing::StartsWith("<thinking>"));
    EXPECT_THAT(each.completion, testing::EndsWith("```\n</answer>"));
    EXPECT_THAT(each.completion, HasSubstr("</thinking>\n<answer>\n```python\nimport torch"));
    EXPECT_THAT(each.completion, HasSubstr("class ModelNew("));
  }
}

TEST(Teacher, PassesOverHeldOutTasks) {
  for (const Example& each : teach(lessons(), {.per_task = 1}))
    EXPECT_EQ(each.task.split, TaskSplit::train);
}

TEST(Teacher, WritesTheSameAgainForTheSameSeed) {
  const auto first = teach(lessons(), {.seed = 2, .per_task = 2});
  const auto again = teach(lessons(), {.seed = 2, .per_task = 2});
  ASSERT_EQ(first.size(), again.size());
  for (std::size_t i = 0; i < first.size(); ++i)
    EXPECT_EQ(first[i].completion, again[i].completion);
}

TEST(Teacher, KeepsToTheStylesAskedFor) {
  for (const Example& each : teach(lessons(), {.styles = {"compact", "rows"}}))
    EXPECT_TRUE(each.style == Style::compact || each.style == Style::rows);
}

TEST(Teacher, SpoilsTheShareAskedForAndSaysWhich) {
  const auto examples = teach(lessons(), {.per_task = 2, .mistakes = 0.3});
  const auto spoilt = std::count_if(examples.begin(), examples.end(),
                                    [](const Example& each) { return each.mistaken; });
  const double share = static_cast<double>(spoilt) / static_cast<double>(examples.size());
  EXPECT_GT(share, 0.15);
  EXPECT_LT(share, 0.4);
  for (const Example& each : teach(lessons(), {})) EXPECT_FALSE(each.mistaken);
}

TEST(Teacher, IsShortForTheQuickstart) {
  CurriculumOptions options = quickstart_options(1);
  options.train = 300;
  for (const Example& each : teach(make_lessons(options), {.styles = {"compact"}}))
    EXPECT_LE(each.completion.size(), 900U) << each.completion;
}

TEST(Mistakes, ChangeWhatIsComputed) {
  Rng rng(1, "mistakes", 0);
  for (const Lesson& each : lessons()) {
    const auto wrong = with_mistake(each.program, rng);
    if (!wrong) continue;
    EXPECT_NE(try_out(each.program, 3, 32, Rng(1, "trial", 0)),
              try_out(*wrong, 3, 32, Rng(1, "trial", 0)));
  }
}

}  // namespace
}  // namespace tritonsmith::curriculum
