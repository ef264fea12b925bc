#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "datasets/columns.h"
#include "datasets/example_row.h"
#include "datasets/export.h"

namespace tritonsmith::datasets {
namespace {

using testing::EndsWith;
using testing::HasSubstr;

constexpr const char* kModule =
    "import torch\n\nclass Model(torch.nn.Module):\n    def forward(self, x):\n        return x\n\n"
    "def get_inputs():\n    return [torch.rand(4)]\n";

std::string named(const std::string& name) {
  std::string source = kModule;
  source.replace(source.find("Model("), 5, name);
  return source;
}

const RowContext kContext = {.dataset = "set", .licence = "mit", .number = 7};

TEST(TaskRow, ReadsKernelBook) {
  const Json row = {{"entry_point", "SumAggregator"},
                    {"python_code", named("SumAggregator")},
                    {"triton_code", "..."},
                    {"repo_name", "a/b"},
                    {"module_name", "SumAggregator"},
                    {"synthetic", false},
                    {"uuid", 12},
                    {"licenses", {"MIT", "BSD"}},
                    {"stars", 5},
                    {"sha", "abc"},
                    {"repo_link", "https://x/a/b"}};
  const auto task = task_from_row(row, kContext);
  ASSERT_TRUE(task) << task.error().message;
  EXPECT_EQ(task->id, "12_SumAggregator");
  EXPECT_THAT(task->source, EndsWith("\n\nModel = SumAggregator\n"));
  ASSERT_TRUE(task->origin);
  EXPECT_EQ(*task->origin, (Origin{.dataset = "set",
                                   .row = "12",
                                   .repository = "a/b",
                                   .module = "SumAggregator",
                                   .link = "https://x/a/b",
                                   .sha = "abc",
                                   .licences = {"MIT", "BSD"},
                                   .stars = 5}));
}

TEST(TaskRow, KeepsOnlyACountAsStars) {
  const auto stars = [](const Json& value) {
    return task_from_row({{"python_code", kModule}, {"stars", value}}, kContext)->origin->stars;
  };
  EXPECT_EQ(stars(5.0), 5);
  for (const Json& odd : std::vector<Json>{1e300, -1e300, -1, "5", nullptr,
                                           std::numeric_limits<std::uint64_t>::max()})
    EXPECT_FALSE(stars(odd)) << odd;
}

TEST(TaskRow, DefinesTheHelpersThatKernelBookImports) {
  const std::string source =
      "from _paritybench_helpers import _mock_config\n" + named("Net") +
      "\ndef get_init_inputs():\n    return [[], {'c': _mock_config(a=1)}]\n";
  const auto task = task_from_row({{"entry_point", "Net"}, {"python_code", source}}, kContext);
  ASSERT_TRUE(task) << task.error().message;
  EXPECT_THAT(task->source, HasSubstr("class _mock_config(dict):"));
  EXPECT_EQ(task->source.find("paritybench"), std::string::npos);
}

TEST(TaskRow, ReadsTheNamesThatOthersGaveTheModule) {
  for (const char* name : {"pytorch_code", "original_python_code", "PyTorch_Code_Module", "code"}) {
    const auto task = task_from_row({{name, kModule}}, kContext);
    EXPECT_TRUE(task) << name;
  }
}

TEST(TaskRow, NamesKernelBenchsTasksAsItsFilesDo) {
  const auto task = task_from_row(
      {{"code", kModule}, {"level", 1}, {"name", "19_ReLU"}, {"problem_id", 19}}, kContext);
  ASSERT_TRUE(task);
  EXPECT_EQ(task->id, "level1/19_ReLU");
  const auto archive = task_from_row({{"PyTorch_Code_Module", kModule},
                                      {"Level_ID", 2},
                                      {"Op_Name", "1_Conv"},
                                      {"Task_ID", 1},
                                      {"CUDA_Code", "x"}},
                                     kContext);
  ASSERT_TRUE(archive);
  EXPECT_EQ(archive->id, "level2/1_Conv");
}

TEST(TaskRow, ReadsVerlsRowsAlsoAsJsonWithinText) {
  const Json plain = {
      {"data_source", "cuda_llm"},
      {"prompt", {{{"role", "user"}, {"content", "write"}}}},
      {"reward_model", {{"ground_truth", kModule}, {"style", "rule"}}},
      {"extra_info", {{"entry_point", "Model"}, {"uuid", "u1"}, {"repo_name", "a/b"}}}};
  const auto task = task_from_row(plain, kContext);
  ASSERT_TRUE(task) << task.error().message;
  EXPECT_EQ(task->id, "u1");
  EXPECT_EQ(task->origin->repository, "a/b");
  const Json smith = {
      {"reward_model", {{"ground_truth", Json({{"reference_code", kModule}}).dump()}}}};
  EXPECT_TRUE(task_from_row(smith, kContext));
}

TEST(TaskRow, FindsTheModuleInAPrompt) {
  const std::string prompt = "An example:\n```\n" + named("Model") +
                             "```\ngives\n```\nclass ModelNew: ...\n```\n"
                             "Now this:\n```python\n" +
                             std::string(kModule) + "# mine\n```\n";
  const auto task = task_from_row({{"prompt", prompt}, {"completion", "x"}}, kContext);
  ASSERT_TRUE(task) << task.error().message;
  EXPECT_THAT(task->source, HasSubstr("# mine"));
}

TEST(TaskRow, SaysWhatIsWrongInOneLine) {
  const auto why = [](const Json& row) {
    const auto task = task_from_row(row, kContext);
    return task ? std::string("a task") : task.error().message;
  };
  EXPECT_THAT(why({{"python_code", 5}}), HasSubstr("'python_code' must be text, not number"));
  EXPECT_THAT(why({{"python_code", nullptr}}), HasSubstr("no column that holds a PyTorch module"));
  EXPECT_THAT(why({{"python_code", kModule}, {"entry_point", "Other"}}),
              HasSubstr("no class Other"));
  EXPECT_THAT(why({{"python_code", std::string(100 << 20, 'x')}}), HasSubstr("at most 1048576"));
  EXPECT_THAT(why({{"python_code", "x = 1"}}), HasSubstr("defines no class Model"));
  EXPECT_THAT(why({{"python_code", named("A")}, {"entry_point", "A; import os"}}),
              HasSubstr("no name of a class"));
}

std::string why_no_example(const Json& row, Turns turns = Turns::all) {
  const auto examples = examples_from_row(row, kContext, {.turns = turns, .prompt = {}});
  return examples ? "examples" : examples.error().message;
}

const Json kRounds = {{{"role", "user"}, {"content", "one"}},
                      {{"role", "assistant"}, {"content", "first"}},
                      {{"role", "user"}, {"content", "wrong"}},
                      {{"role", "assistant"}, {"content", "second"}}};

TEST(ExampleRow, EachAnswerOfAConversationIsAnExample) {
  const auto examples = examples_from_row({{"messages", kRounds}}, kContext, {});
  ASSERT_TRUE(examples) << examples.error().message;
  ASSERT_EQ(examples->size(), 2U);
  EXPECT_EQ((*examples)[1].prompt.size(), 3U);
  EXPECT_EQ((*examples)[1].completion, "second");
  EXPECT_EQ((*examples)[1].origin->licences, std::vector<std::string>{"mit"});
}

TEST(ExampleRow, TakesTheBestRoundWhereTheRowNamesIt) {
  const auto examples = examples_from_row({{"messages", kRounds}, {"best_round", 1}}, kContext,
                                          {.turns = Turns::best, .prompt = {}});
  ASSERT_TRUE(examples);
  ASSERT_EQ(examples->size(), 1U);
  EXPECT_EQ((*examples)[0].completion, "first");
  EXPECT_THAT(why_no_example({{"messages", kRounds}, {"best_round", 9}}, Turns::best),
              HasSubstr("'best_round'"));
}

TEST(ExampleRow, ReadsShareGptAndJsonWithinText) {
  const Json shared = {{{"from", "human"}, {"value", "one"}},
                       {{"from", "gpt"}, {"value", "first"}}};
  EXPECT_EQ(why_no_example({{"conversations", shared}}), "examples");
  EXPECT_EQ(why_no_example({{"full_messages", kRounds.dump()}}), "examples");
}

TEST(ExampleRow, ReadsPreferencesWithAndWithoutAPrompt) {
  const auto with =
      examples_from_row({{"prompt", "p"}, {"chosen", "a"}, {"rejected", "b"}}, kContext, {});
  ASSERT_TRUE(with);
  EXPECT_EQ((*with)[0].rejected, "b");
  const Json good = {{{"role", "user"}, {"content", "p"}},
                     {{"role", "assistant"}, {"content", "a"}}};
  Json bad = good;
  bad[1]["content"] = "b";
  const auto without = examples_from_row({{"chosen", good}, {"rejected", bad}}, kContext, {});
  ASSERT_TRUE(without) << without.error().message;
  EXPECT_EQ((*without)[0].prompt[0].content, "p");
  EXPECT_EQ((*without)[0].rejected, "b");
}

TEST(ExampleRow, MakesAPromptForAModuleAndItsKernel) {
  const Json row = {{"entry_point", "Net"},
                    {"python_code", named("Net")},
                    {"triton_code", "import triton\nclass NetNew:\n    pass\n"}};
  const auto examples = examples_from_row(row, kContext, {});
  ASSERT_TRUE(examples) << examples.error().message;
  const Example& example = examples->front();
  EXPECT_THAT(example.completion, HasSubstr("ModelNew = NetNew\n```\n</answer>"));
  EXPECT_THAT(example.prompt[0].content, HasSubstr("Model = Net"));
  EXPECT_TRUE(example.asked);
}

TEST(ExampleRow, SaysWhatIsWrongInOneLine) {
  EXPECT_THAT(why_no_example({{"messages", 5}}), HasSubstr("a list of messages, not number"));
  EXPECT_THAT(why_no_example({{"messages", {{{"role", "judge"}, {"content", "x"}}}}}),
              HasSubstr("'judge'"));
  EXPECT_THAT(why_no_example({{"prompt", "p"}}), HasSubstr("`tasks import`"));
  EXPECT_THAT(why_no_example({{"x", 1}}), HasSubstr("no columns of a known layout"));
  EXPECT_THAT(why_no_example({{"prompt", "p"}, {"completion", ""}}), HasSubstr("empty"));
}

TEST(Export, EveryLayoutThatKeepsTheTurnsReadsBackAsTheSameExample) {
  Example example{.task = "t",
                  .prompt = {{text::Role::system, "s"}, {text::Role::user, "u"}},
                  .completion = "c",
                  .rejected = "r",
                  .origin = Origin{.dataset = "set", .licences = {"mit"}}};
  for (const ExampleLayout layout : {ExampleLayout::messages, ExampleLayout::prompt_completion,
                                     ExampleLayout::preference, ExampleLayout::sft}) {
    const auto row = example_in_layout(example, layout);
    ASSERT_TRUE(row) << row.error().message;
    const auto back = examples_from_row(*row, kContext, {});
    ASSERT_TRUE(back) << name_of(layout) << back.error().message;
    EXPECT_EQ(back->front().prompt, example.prompt);
    EXPECT_EQ(back->front().completion, example.completion);
    EXPECT_EQ(back->front().origin, example.origin);
    EXPECT_EQ(back->front().task, "t");
  }
}

TEST(Export, RoundsBecomeARowOfDrKernelsColdStart) {
  const Example example{.task = "t",
                        .prompt = {{text::Role::user, "u"},
                                   {text::Role::assistant, "wrong"},
                                   {text::Role::user, "feedback"}},
                        .completion = "right",
                        .source = kModule,
                        .speedup = 1.5,
                        .origin = Origin{.dataset = "set", .repository = "a/b", .module = "Net"}};
  const auto row = example_in_layout(example, ExampleLayout::coldstart);
  ASSERT_TRUE(row) << row.error().message;
  EXPECT_EQ((*row)["num_rounds"], 2);
  EXPECT_EQ((*row)["best_round"], 2);
  EXPECT_EQ((*row)["final_speedup"], 1.5);
  EXPECT_EQ((*row)["repo_name"], "a/b");
  EXPECT_TRUE((*row)["uuid"].is_number_integer());
  const auto back = examples_from_row(*row, kContext, {.turns = Turns::best, .prompt = {}});
  ASSERT_TRUE(back) << back.error().message;
  ASSERT_EQ(back->size(), 1U);
  EXPECT_EQ(back->front(), example);
  EXPECT_EQ(task_from_row(*row, kContext)->source, kModule);
  const auto bare = example_in_layout({.task = "t", .completion = "c"}, ExampleLayout::coldstart);
  EXPECT_THAT(bare.error().message, HasSubstr("without its module"));
}

TEST(Export, KernelLlmsFormHoldsTheModuleAndCodeAlone) {
  const Example example{.task = "t",
                        .prompt = {},
                        .completion = "because ...",
                        .source = kModule,
                        .kernel = "class ModelNew:\n    pass\n"};
  const auto row = example_in_layout(example, ExampleLayout::kernelllm);
  ASSERT_TRUE(row) << row.error().message;
  EXPECT_EQ((*row)["completion"], "```python\nclass ModelNew:\n    pass\n```");
  EXPECT_EQ(task_from_row(*row, kContext)->source, kModule);
  EXPECT_FALSE(example_in_layout({.task = "t", .completion = "c"}, ExampleLayout::kernelllm));
}

TEST(Export, KernelSmithsConversationsHaveAnId) {
  const Example example{.task = "t", .prompt = {{text::Role::user, "u"}}, .completion = "c"};
  const auto row = example_in_layout(example, ExampleLayout::kernel_smith);
  ASSERT_TRUE(row);
  EXPECT_EQ((*row)["_id"].get<std::string>().size(), 16U);
  EXPECT_EQ(examples_from_row(*row, kContext, {})->front().completion, "c");
}

TEST(Export, TasksForReinforcementLearningReadBack) {
  const Task task{.id = "level1/19_ReLU", .suite = "s", .source = kModule};
  for (const TaskLayout layout :
       {TaskLayout::verl, TaskLayout::kernelbench, TaskLayout::kernel_smith}) {
    const auto back = task_from_row(task_in_layout(task, layout, 3), kContext);
    ASSERT_TRUE(back) << back.error().message;
    EXPECT_EQ(back->id, task.id);
    EXPECT_EQ(back->source, task.source);
  }
}

}  // namespace
}  // namespace tritonsmith::datasets
