#include "text/extract.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>

#include "text/stream_decoder.h"
#include "text/testing/small_tokenizer.h"

namespace tritonsmith::text {
namespace {

std::vector<std::string> rules(const Kernel& kernel) {
  std::vector<std::string> names;
  for (const Finding& finding : kernel.findings) names.push_back(finding.rule);
  return names;
}
using Rules = std::vector<std::string>;

std::string thinking_of(const std::string& text, const Kernel& kernel) {
  return text.substr(kernel.thinking_bytes.begin,
                     kernel.thinking_bytes.end - kernel.thinking_bytes.begin);
}

TEST(Extract, TakesThinkingAndCodeOfAWellFormedCompletion) {
  const std::string text =
      "<thinking>load, add</thinking>\n<answer>\n```python\nx = 1\ny = 2\n```\n</answer>";
  const Kernel kernel = extract_kernel(text);
  EXPECT_EQ(kernel.source, "x = 1\ny = 2\n");
  EXPECT_EQ(thinking_of(text, kernel), "load, add");
  EXPECT_EQ(rules(kernel), Rules{});
}

TEST(Extract, TakesBareCodeBetweenAnswerTags) {
  const Kernel kernel = extract_kernel("<answer>\n\n  x = 1\n</answer>\n");
  EXPECT_EQ(kernel.source, "  x = 1");
  EXPECT_EQ(rules(kernel), Rules{});
}

TEST(Extract, TakesTheOnlyFenceWhereThereAreNoTags) {
  const Kernel kernel = extract_kernel("Here it is:\n```py\nx = 1\n```\nEnjoy.");
  EXPECT_EQ(kernel.source, "x = 1\n");
  EXPECT_EQ(rules(kernel), Rules{"no_answer"});
}

TEST(Extract, KnowsThinkingWhoseOpeningTagStoodInThePrompt) {
  const std::string text = "plan\n</think>\n```python\nx = 1\n```\n";
  const Kernel kernel = extract_kernel(text);
  EXPECT_EQ(thinking_of(text, kernel), "plan\n");
  EXPECT_EQ(kernel.source, "x = 1\n");
}

TEST(Extract, NeverTakesCodeFromTheThinking) {
  const Kernel kernel = extract_kernel(
      "<think>try <answer>no</answer>\n```python\nno\n```\n</think><answer>yes</answer>");
  EXPECT_EQ(kernel.source, "yes");
  const Kernel lost = extract_kernel("<think>\n```python\nx = 1\n```\n");
  EXPECT_EQ(lost.source, "");
  EXPECT_EQ(rules(lost), (Rules{"unclosed_thinking", "no_answer", "no_code"}));
}

TEST(Extract, RefusesWhatCanBeReadInTwoWays) {
  EXPECT_EQ(rules(extract_kernel("<answer>a</answer><answer>b</answer>")),
            Rules{"several_answers"});
  EXPECT_EQ(extract_kernel("<answer>a</answer><answer>b</answer>").source, "");
  EXPECT_EQ(rules(extract_kernel("<answer>\n```\na\n```\n```python\nb\n```\n</answer>")),
            Rules{"several_code_blocks"});
}

TEST(Extract, DoesNotCountFencesOfOtherLanguages) {
  const Kernel kernel =
      extract_kernel("<answer>\n```bash\nls\n```\n```python\nx = 1\n```\n</answer>");
  EXPECT_EQ(kernel.source, "x = 1\n");
  EXPECT_EQ(rules(kernel), Rules{"text_around_code"});
}

TEST(Extract, SaysWhatIsNotClosed) {
  const Kernel cut = extract_kernel("<answer>\n```python\nx = 1\nclass Mod");
  EXPECT_EQ(cut.source, "");
  EXPECT_EQ(rules(cut), (Rules{"unclosed_answer", "unclosed_fence"}));
  const Kernel no_end_tag = extract_kernel("<answer>\n```python\nx = 1\n```\n");
  EXPECT_EQ(no_end_tag.source, "x = 1\n");
  EXPECT_EQ(rules(no_end_tag), Rules{"unclosed_answer"});
  const Kernel no_fence_end = extract_kernel("<answer>\n```python\nx = 1\n</answer>");
  EXPECT_EQ(no_fence_end.source, "x = 1\n");
  EXPECT_EQ(rules(no_fence_end), Rules{"unclosed_fence"});
}

TEST(Extract, SaysWhenThereIsNothing) {
  EXPECT_EQ(rules(extract_kernel("")), (Rules{"no_answer", "no_code"}));
  EXPECT_EQ(rules(extract_kernel("<answer> \n </answer>")), Rules{"empty_code"});
  EXPECT_EQ(rules(extract_kernel("<answer>x</answer> bye")), Rules{"text_after_answer"});
}

TEST(Extract, GivesTheTokensThatCoverThinkingAndCode) {
  const Tokenizer tokenizer = small_tokenizer();
  const std::string text = "<thinking>import</thinking>\n<answer>\nimport triton\n</answer>";
  const DecodedText decoded = decode_with_ends(tokenizer, tokenizer.encode(text));
  const Kernel kernel = extract_kernel(decoded.text, decoded.token_ends);
  ASSERT_EQ(kernel.source, "import triton");
  const auto begin_of = [&](std::size_t i) { return i == 0 ? 0 : decoded.token_ends[i - 1]; };
  for (std::size_t i = 0; i < decoded.token_ends.size(); ++i) {
    const bool inside = i >= kernel.code_tokens.begin && i < kernel.code_tokens.end;
    const bool shares =
        begin_of(i) < kernel.code_bytes.end && decoded.token_ends[i] > kernel.code_bytes.begin;
    EXPECT_EQ(inside, shares) << i;
  }
  EXPECT_LE(kernel.thinking_tokens.end, kernel.code_tokens.begin);
}

RC_GTEST_PROP(Extract, SourceIsAlwaysWhatStandsAtItsSpanAndMissingOnesAreExplained, ()) {
  const auto pieces = *rc::gen::container<std::vector<std::string>>(rc::gen::element<std::string>(
      "<thinking>", "</thinking>", "<think>", "</think>", "<answer>", "</answer>", "\n```python\n",
      "\n```\n", "```", "~~~~", "\n", " ", "x = 1", "é"));
  std::string text;
  for (const std::string& piece : pieces) text += piece;
  const Kernel kernel = extract_kernel(text);
  RC_ASSERT(kernel.code_bytes.end <= text.size() && kernel.thinking_bytes.end <= text.size());
  RC_ASSERT(kernel.source ==
            text.substr(kernel.code_bytes.begin, kernel.code_bytes.end - kernel.code_bytes.begin));
  const bool rejected = std::ranges::any_of(
      kernel.findings, [](const Finding& f) { return f.severity == Severity::reject; });
  RC_ASSERT(rejected == kernel.source.empty());
  RC_ASSERT(kernel.source.empty() || kernel.thinking_bytes.empty() ||
            kernel.thinking_bytes.end <= kernel.code_bytes.begin);
}

}  // namespace
}  // namespace tritonsmith::text
