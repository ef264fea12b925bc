#include "serve/mcp/tools.h"

#include <gmock/gmock.h>

#include <fstream>

#include "serve/mcp/explanations.h"
#include "serve/mcp/reference_probe.h"
#include "serve/mcp/testing/mcp_fixture.h"
#include "serve/mcp/tool_schemas.h"

namespace tritonsmith::serve::mcp {
namespace {

using ::testing::HasSubstr;

struct ToolsTest : McpFixture {
  ToolResult call(const std::string& name, const Json& arguments) {
    const ToolStart start = tools().start(name, arguments);
    const auto* result = std::get_if<ToolResult>(&start);
    EXPECT_NE(result, nullptr) << name << " waits for a verdict";
    return result != nullptr ? *result : ToolResult{};
  }
  std::string refusal(const std::string& name, const Json& arguments) {
    const ToolResult result = call(name, arguments);
    EXPECT_TRUE(result.is_error) << name << arguments;
    return result.text;
  }
};

TEST_F(ToolsTest, ListTasksPageByPage) {
  const ToolResult first = call("list_tasks", {{"limit", 2}});
  EXPECT_EQ(first.structured["tasks"].size(), 2U);
  EXPECT_EQ(first.structured["more"], true);
  const ToolResult second = call("list_tasks", {{"limit", 2}, {"after", "level1/2_B"}});
  EXPECT_EQ(second.structured["tasks"][0]["id"], "level2/1_C");
  EXPECT_EQ(second.structured["more"], false);
  EXPECT_EQ(call("list_tasks", {{"contains", "NORM"}}).structured["tasks"].size(), 1U);
  EXPECT_THAT(refusal("list_tasks", {{"after", "level9"}}), HasSubstr("level9"));
  EXPECT_THAT(refusal("list_tasks", {{"limit", 0}}), HasSubstr("limit"));
}

TEST_F(ToolsTest, GetATaskWhole) {
  const ToolResult task = call("get_task", {{"id", "level1/1_A"}});
  EXPECT_EQ(task.structured["source"], "class Model: pass\n");
  EXPECT_EQ(task.text, "class Model: pass\n");
  EXPECT_THAT(refusal("get_task", {{"id", "none"}}), HasSubstr("list_tasks"));
}

TEST_F(ToolsTest, ExplainWhatAVerdictNames) {
  const ToolResult race = call("explain_finding", {{"name", "race"}});
  EXPECT_EQ(race.structured["meanings"].size(), 2U) << "an error's class and a finding's rule";
  EXPECT_THAT(race.text, HasSubstr("without atomics"));
  EXPECT_THAT(race.text, HasSubstr("what to do"));
  EXPECT_FALSE(call("explain_finding", {{"name", "wrong_value"}}).is_error);
  EXPECT_THAT(refusal("explain_finding", {{"name", "torch_comput"}}), HasSubstr("torch_compute"));
}

TEST_F(ToolsTest, ExplainEveryRowOfThePage) {
  const auto names = explained_names(verdict_page());
  EXPECT_GT(names.size(), 80U);
  for (const std::string& name : names)
    EXPECT_FALSE(explanations_of(verdict_page(), name).empty()) << name;
  const auto cells = explanations_of("## S\n| a | b |\n|---|---|\n| `x`, `y` | 1 \\| 2 |\n", "y");
  ASSERT_EQ(cells.size(), 1U);
  EXPECT_EQ(cells[0].section, "S");
  EXPECT_EQ(cells[0].cells[0], (std::pair<std::string, std::string>("b", "1 | 2")));
  for (const char* odd : {"", "|", "#", "##\n|\n|\n|", "| a |\n| `", "\\|", "| a |\n|\\"})
    EXPECT_TRUE(explanations_of(odd, "x").empty()) << odd;
}

TEST_F(ToolsTest, ExplainWithoutLinksThatLeadNowhere) {
  const std::string wrong = call("explain_finding", {{"name", "wrong_value"}}).text;
  EXPECT_THAT(wrong, HasSubstr("See docs/judging.md for the usual causes."));
  for (const std::string& name : explained_names(verdict_page()))
    for (const Explanation& explanation : explanations_of(verdict_page(), name))
      for (const auto& [head, cell] : explanation.cells)
        EXPECT_EQ(cell.find("]("), std::string::npos) << name << ": " << cell;
  const auto cell_of = [](const std::string& cell) {
    return explanations_of("## S\n| a | b |\n|---|---|\n| `x` | " + cell + " |\n", "x")
        .at(0)
        .cells.at(0)
        .second;
  };
  EXPECT_EQ(cell_of("the [list](#a-list), c"), "the list (docs/verdict.md#a-list), c");
  EXPECT_EQ(cell_of("`x[0]` and [t](p.md#q)"), "`x[0]` and t (docs/p.md#q)");
  EXPECT_EQ(cell_of("[here](https://a.b)"), "here (https://a.b)");
  for (const char* odd : {"[", "](", "[a](", "[a] (b)", "a](b)"})
    EXPECT_FALSE(cell_of(odd).empty()) << odd;
}

TEST_F(ToolsTest, NameTheArgumentAtFault) {
  EXPECT_THAT(refusal("judge_kernel", {{"kernel", "k"}}), HasSubstr("task"));
  EXPECT_THAT(refusal("judge_kernel", {{"kernel", "k"}, {"task", "level1/9"}}),
              HasSubstr("level1/9"));
  EXPECT_THAT(refusal("judge_kernel", {{"kernl", "k"}, {"task", "level1/1_A"}}),
              HasSubstr("'kernel'"));
  EXPECT_THAT(refusal("judge_kernel", {{"kernel", "k"}, {"task", "level1/1_A"}, {"policy", "lax"}}),
              HasSubstr("policy"));
  EXPECT_THAT(refusal("judge_kernel", {{"kernel", 7}, {"task", "level1/1_A"}}),
              HasSubstr("kernel"));
  EXPECT_TRUE(std::holds_alternative<UnknownTool>(tools().start("rm", Json::object())));
}

TEST_F(ToolsTest, ReadFilesOnlyForTheAgentThatStartedThem) {
  const std::string file = (directory->path() / "kernel.py").string();
  std::ofstream(file) << "the kernel";
  const Json arguments = {{"kernel_path", file}, {"task", "level1/1_A"}};
  EXPECT_THAT(refusal("judge_kernel", arguments), HasSubstr("kernel_path"));
  const Tools own(
      suite, limits, [this]() -> Result<Json> { return facts; }, FileAccess::own);
  const ToolStart start = own.start("judge_kernel", arguments);
  ASSERT_TRUE(std::holds_alternative<JudgingTool>(start));
  EXPECT_EQ(std::get<JudgingTool>(start).submission.job.kernel, "the kernel");
  EXPECT_TRUE(own.list()[0]["inputSchema"]["properties"].contains("kernel_path"));
  const ToolStart none = own.start("judge_kernel", {{"kernel_path", file + "x"}, {"task", "t"}});
  EXPECT_THAT(std::get<ToolResult>(none).text, HasSubstr(file + "x"));
}

TEST_F(ToolsTest, TellTheReferencesTimeOnlyWhereAGpuMeasuresIt) {
  const ToolResult none = call("reference_time", {{"task", "level1/1_A"}});
  EXPECT_EQ(none.structured["measured"], false);
  EXPECT_FALSE(none.is_error);
  facts["backend"] = "replay";
  const ToolStart start = tools().start("reference_time", {{"task", "level1/1_A"}});
  ASSERT_TRUE(std::holds_alternative<JudgingTool>(start));
  const auto& judging = std::get<JudgingTool>(start);
  EXPECT_EQ(judging.submission.job.policy, Policy::open);
  Verdict verdict;
  verdict.reference_ms = Timing{.median = 1.25, .mean = 1, .p10 = 1, .p90 = 1, .n = 9};
  verdict.baselines = {{"torch_compile", *verdict.reference_ms}};
  EXPECT_THAT(judging.finish(verdict).text, HasSubstr("1.25 ms, torch_compile 1.25 ms"));
  EXPECT_EQ(judging.finish(gym::api::failed_verdict(Stage::captured, ErrorClass::not_captured))
                .structured["measured"],
            false);
}

TEST_F(ToolsTest, ProbeAReferenceUnderAnotherName) {
  const std::string probe =
      reference_probe("class Model(Base):\n  def __init__(self): super(Model, self)\nModels = 1\n");
  EXPECT_THAT(probe, HasSubstr("class ProbedModule(Base)"));
  EXPECT_THAT(probe, HasSubstr("super(ProbedModule, self)"));
  EXPECT_THAT(probe, HasSubstr("\nModels = 1"));
  EXPECT_THAT(probe, HasSubstr("class ModelNew(ProbedModule)"));
}

TEST_F(ToolsTest, HaveSchemasThatNameEveryTool) {
  for (const Json& schema : tool_schemas()) {
    EXPECT_FALSE(std::holds_alternative<UnknownTool>(
        tools().start(schema["name"], {{"surely_unknown", 1}})));
    EXPECT_EQ(schema["inputSchema"]["type"], "object");
    EXPECT_EQ(schema["outputSchema"]["type"], "object");
  }
}

}  // namespace
}  // namespace tritonsmith::serve::mcp
