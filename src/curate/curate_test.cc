#include "curate/curate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "curate/example_text.h"
#include "curate/normal_form.h"

namespace tritonsmith::curate {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string module_of(const std::string& body, const std::string& name = "x") {
  return "import torch\n\nclass Model(torch.nn.Module):\n    def forward(self, " + name +
         "):\n        return " + body + "\n\ndef get_inputs():\n    return [torch.rand(4)]\n";
}

std::string kernel_of(int number) {
  std::string code = "import triton\n\ndef f(x):\n    y = x\n";
  for (int i = 0; i < 6; ++i)
    code += number % 2 == 0 ? "    y = y + x * y\n" : "    y = max(y, x) - y\n";
  return code + "    return y" + std::string(static_cast<std::size_t>(number), '-') + "\n";
}

Answer right(int number, double speedup, const std::string& thinking = "") {
  const std::string kernel = kernel_of(number);
  return {.text = (thinking.empty() ? "" : "<thinking>" + thinking + "</thinking>\n") +
                  "<answer>\n```python\n" + kernel + "```\n</answer>",
          .kernel = kernel,
          .feedback = "Well done.",
          .is_accepted = true,
          .speedup = speedup,
          .tokens = 100,
          .stage = 1};
}

Answer wrong() {
  return {.text = "<answer>\n```python\nwrong\n```\n</answer>",
          .kernel = "wrong",
          .feedback = "It is wrong.",
          .failure = "wrong_value",
          .tokens = 10,
          .stage = 0.5};
}

// Three tasks. The first is solved thrice, with a copy; the second after a wrong answer; the third
// never.
class CurateTest : public ::testing::Test {
 protected:
  CurateTest() {
    for (const char* body : {"x + 1", "x * 2", "x - 3"})
      material_.tasks.push_back({.id = body, .suite = "made here", .source = module_of(body)});
    add(0, {right(0, 1.0, "long thoughts about it")});
    add(0, {right(1, 2.0, "short")});
    add(0, {right(0, 0.5)});
    add(1, {wrong(), right(2, 3.0)});
    add(2, {wrong(), wrong()});
  }
  void add(std::size_t task, std::vector<Answer> answers) {
    material_.conversations.push_back(
        {.task = task,
         .messages = {{text::Role::user, "Asked about " + material_.tasks[task].id}},
         .answers = std::move(answers),
         .origin = "folder"});
  }
  Curated made(const Query& query) const { return *curate(material_, query, {}, {}); }
  std::vector<std::string> kernels(const Query& query) const {
    std::vector<std::string> all;
    for (const auto& each : made(query).examples) all.push_back(each.kernel);
    return all;
  }

  Material material_;
};

TEST_F(CurateTest, TakesEveryAcceptedAnswerOnce) {
  const Curated all = made({});
  EXPECT_EQ(all.examples.size(), 3U);
  EXPECT_EQ(all.copies.at("source"), 1U);
  EXPECT_EQ(all.failures.at("wrong_value"), 3U);
  ASSERT_EQ(all.funnel.size(), 3U);
  EXPECT_EQ(all.funnel[0].answers, 7U);
  EXPECT_EQ(all.funnel[0].tasks, 3U);
  EXPECT_EQ(all.funnel[0].tokens, 430);
  EXPECT_EQ(all.funnel[1].answers, 4U);
  EXPECT_EQ(all.funnel[2].answers, 3U);
  EXPECT_EQ(all.examples[0].prompt[0].content, "Asked about x + 1");
  EXPECT_EQ(all.examples[0].origin->dataset, "made here");
}

TEST_F(CurateTest, TakesTheFastestOfEachTask) {
  EXPECT_EQ(kernels({.want = Want::best}), (std::vector{kernel_of(1), kernel_of(2)}));
  EXPECT_EQ(kernels({.want = Want::best, .min_speedup = 2.5}), std::vector{kernel_of(2)});
}

TEST_F(CurateTest, TakesTheShortestReasoning) {
  material_.conversations[2].answers.clear();  // which has no reasoning at all
  EXPECT_EQ(kernels({.want = Want::brief})[0], kernel_of(1));
  EXPECT_EQ(kernels({.max_reasoning = 6}).size(), 2U);
}

TEST_F(CurateTest, TakesKernelsThatDifferInStructure) {
  add(0, {right(4, 1.5)});  // as the kernel of number 0, but for its end
  EXPECT_EQ(kernels({.want = Want::diverse}).size(), 3U);
  EXPECT_EQ(kernels({.want = Want::diverse, .likeness = 1}).size(), 4U);
  EXPECT_EQ(kernels({.want = Want::diverse, .per_task = 1}).size(), 2U);
}

TEST_F(CurateTest, TakesConversationsThatEndInARepair) {
  const Curated repairs = made({.want = Want::repairs});
  ASSERT_EQ(repairs.examples.size(), 1U);
  const auto& example = repairs.examples[0];
  ASSERT_EQ(example.prompt.size(), 3U);
  EXPECT_EQ(example.prompt[1], (text::Message{text::Role::assistant, wrong().text}));
  EXPECT_EQ(example.prompt[2], (text::Message{text::Role::user, "It is wrong."}));
  EXPECT_EQ(example.kernel, kernel_of(2));
}

TEST_F(CurateTest, TakesStepsToAFasterKernel) {
  const Curated faster = made({.want = Want::faster});
  ASSERT_EQ(faster.examples.size(), 2U);  // 2.0 from 1.0, and 1.0 from 0.5
  EXPECT_EQ(faster.examples[0].kernel, kernel_of(1));
  EXPECT_THAT(faster.examples[0].prompt[0].content,
              ::testing::AllOf(HasSubstr(kernel_of(0)), HasSubstr("1.00 times as fast")));
  EXPECT_FALSE(faster.examples[0].origin->parent.empty());
  EXPECT_EQ(made({.want = Want::faster, .faster_by = 3}).examples.size(), 1U);
}

TEST_F(CurateTest, TakesPreferences) {
  const Curated preferences = made({.want = Want::preferences});
  ASSERT_EQ(preferences.examples.size(), 3U);
  EXPECT_EQ(preferences.examples[2].kernel, kernel_of(2));
  EXPECT_EQ(preferences.examples[2].rejected, wrong().text);
}

TEST_F(CurateTest, DrawsSharesOfDifficulty) {
  const Curated shared = made({.easy = 0.5, .hard = 0.5});
  ASSERT_EQ(shared.examples.size(), 2U);  // the second task is hard: its first answer was wrong
  EXPECT_EQ(shared.examples[0].task, "x + 1");
  EXPECT_EQ(shared.examples[1].task, "x * 2");
  EXPECT_EQ(made({.limit = 1}).examples.size(), 1U);
  const auto refused = curate(material_, {.easy = 0.5}, {}, {});
  EXPECT_THAT(refused.error().message, HasSubstr("sum to 0.500"));
}

TEST_F(CurateTest, LeavesOutTheTasksOfMeasuringSuites) {
  Contamination contamination;
  const Task same{.id = "a", .source = material_.tasks[0].source};
  const Task alike{.id = "b",
                   .source = "# other sizes, other names\nsize = 4096\n" +
                             module_of("y * 77", "y") +
                             "\ndef get_init_inputs():\n    return [size]\n"};
  contamination.add("bench", std::vector{same, alike}, {});
  const auto curated = curate(material_, {}, contamination, {});
  ASSERT_TRUE(curated);
  EXPECT_TRUE(curated->examples.empty());
  ASSERT_EQ(curated->removed.size(), 2U);
  EXPECT_EQ(curated->removed[0].found.by, Likeness::source);
  EXPECT_EQ(curated->removed[1].found.by, Likeness::syntax);
  EXPECT_EQ(curated->removed[1].found.task, "bench: b");
  EXPECT_EQ(curated->funnel[2].answers, 0U);
}

TEST_F(CurateTest, ComparesByPlansWhereTheyAreRead) {
  const Plans plans = {
      .of_task = [](const Task&) { return std::optional<std::string>("same"); },
      .of_kernel = [](const Task&,
                      const std::string&) { return std::optional<std::string>("same"); }};
  const auto copies = curate(material_, {}, {}, plans);
  EXPECT_EQ(copies->examples.size(), 2U);  // one a task
  EXPECT_EQ(copies->copies.at("plan"), 1U);
  Contamination contamination;
  contamination.add("bench", std::vector{Task{.id = "a", .source = "other"}}, plans.of_task);
  const auto removed = curate(material_, {}, contamination, plans);
  EXPECT_EQ(removed->removed.size(), 3U);
  EXPECT_EQ(removed->removed[0].found.by, Likeness::plan);
}

TEST_F(CurateTest, MakesOurOwnPromptsWhereAsked) {
  const auto example = made({.prompt = PromptChoice::conversion}).examples[0];
  EXPECT_THAT(example.prompt[0].content, HasSubstr("Turn this PyTorch module"));
  EXPECT_EQ(example.asked->prompt.kind, text::PromptKind::conversion);
}

TEST(CompletionText, JoinsOrLeavesOutReasoning) {
  Answer answer = right(0, 1, "inner");
  EXPECT_THAT(completion_text(answer, Reasoning::answer), HasSubstr("inner"));
  EXPECT_THAT(completion_text(answer, Reasoning::none), Not(HasSubstr("inner")));
  answer = right(0, 1);
  answer.reasoning = "apart";
  EXPECT_THAT(completion_text(answer, Reasoning::answer), Not(HasSubstr("apart")));
  EXPECT_THAT(completion_text(answer, Reasoning::join),
              HasSubstr("<thinking>\napart\n</thinking>"));
  EXPECT_EQ(reasoning_of(answer), "apart");
}

TEST(NormalForm, LeavesOutWhatDoesNotChangeTheMeaning) {
  const std::string a = R"("""A file."""
import torch
import torch.nn as nn

class Model(nn.Module):
    """A module."""
    def __init__(self, width):
        super().__init__()
        self.linear = nn.Linear(width, 4)  # a comment

    def forward(self, x):
        return self.linear(x).sum(dim=1)
)";
  const std::string b = R"(from torch import nn
class Model(nn.Module):
  def __init__(self, size):
    super().__init__()
    self.fc = nn.Linear(
        size,
        4,
    )
  def forward(self, inputs): return self.fc(inputs).sum(dim=1)
)";
  EXPECT_EQ(normal_form(a, Numbers::keep), normal_form(b, Numbers::keep));
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string changed = a;
    return normal_form(changed.replace(changed.find(from), from.size(), to), Numbers::ignore);
  };
  EXPECT_EQ(with("super()", "super(Model, self)"), normal_form(a, Numbers::ignore));
  EXPECT_EQ(with("class Model(", "class Other("), normal_form(a, Numbers::ignore));
  EXPECT_EQ(with("4)", "8)"), normal_form(a, Numbers::ignore));
  EXPECT_NE(with(".sum(", ".amax("), normal_form(a, Numbers::ignore));
  EXPECT_NE(with("nn.Linear", "nn.Bilinear"), normal_form(a, Numbers::ignore));
  EXPECT_NE(with("(x)", "(x + x)"), normal_form(a, Numbers::ignore));
  EXPECT_NE(normal_form("a = b - c", Numbers::keep), normal_form("a = b + c", Numbers::keep));
  EXPECT_NE(normal_form("if a:\n  b\n  c", Numbers::keep),
            normal_form("if a:\n  b\nc", Numbers::keep));
  normal_form("def (:\n\xff", Numbers::keep);  // any text
}

TEST(Funnel, IsATableAndAPicture) {
  const Funnel funnel = {{.name = "judged", .answers = 10, .tasks = 4, .tokens = 100},
                         {.name = "a < b", .answers = 5, .tasks = 3, .tokens = 40}};
  EXPECT_THAT(funnel_table(funnel, 2), HasSubstr("| a < b | 5 | 3 | 50.0 % | 40 | 0.4000 |"));
  EXPECT_THAT(funnel_table(funnel, 0), Not(HasSubstr("cost")));
  EXPECT_THAT(funnel_picture(funnel), ::testing::AllOf(HasSubstr("a &lt; b"), HasSubstr("<svg")));
}

}  // namespace
}  // namespace tritonsmith::curate
