#include "text/prompt.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tritonsmith::text {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const Task kTask = {
    .id = "t",
    .source =
        "\"\"\"Doc\nimport nothing\n\"\"\"\nimport torch\n\n\nclass Model(torch.nn.Module):\n"
        "    # adds\n    def forward(self, x):\n        return x + 1\n\n\n"
        "rows = 4\n\ndef helper():\n    return 3\n\ndef get_inputs():\n"
        "    return [torch.randn(\n        rows, 8)]\n\ndef get_init_inputs():\n    return []\n",
    .instruction = "For x [4, 8]: add 1."};

std::string content(const Task& task, const PromptConfig& config) {
  const auto messages = prompt_for(task, config);
  return messages.back().content;
}

TEST(Prompt, AsksForAnImplementationFromInstructionAndShapes) {
  const std::string text = content(kTask, {.kind = PromptKind::implementation});
  EXPECT_THAT(text, HasSubstr("For x [4, 8]: add 1."));
  EXPECT_THAT(
      text,
      HasSubstr("rows = 4\ndef get_inputs():\n    return [torch.randn(\n        rows, 8)]\n"));
  EXPECT_THAT(text, Not(HasSubstr("x + 1")));
  EXPECT_THAT(text, Not(HasSubstr("helper")));
  EXPECT_THAT(text, HasSubstr("<answer>"));
}

TEST(Prompt, AsksForAConversionFromTheSource) {
  EXPECT_THAT(content(kTask, {.kind = PromptKind::conversion}), HasSubstr(kTask.source));
}

TEST(Prompt, ConvertsWhereThereIsNoInstruction) {
  Task task = kTask;
  task.instruction = "";
  EXPECT_THAT(content(task, {.kind = PromptKind::implementation}), HasSubstr("return x + 1"));
}

TEST(Prompt, CompactHoldsWhatDiffersBetweenTasksOnly) {
  EXPECT_EQ(content(kTask, {.style = PromptStyle::compact}), kTask.instruction);
  EXPECT_EQ(without_padding("import torch\n\n# why\nclass Model:\n    x = 1\n\n"),
            "class Model:\n    x = 1");
}

TEST(Prompt, PutsTheSystemMessageFirst) {
  const auto messages = prompt_for(kTask, {.system = "be brief"});
  ASSERT_EQ(messages.size(), 2U);
  EXPECT_EQ(messages[0], (Message{Role::system, "be brief"}));
}

}  // namespace
}  // namespace tritonsmith::text
