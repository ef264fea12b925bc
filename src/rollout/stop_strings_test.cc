#include "rollout/stop_strings.h"

#include <gtest/gtest.h>

namespace tritonsmith::rollout {
namespace {

text::Tokenizer tokenizer_of(const std::vector<std::string>& corpus) {
  auto made = text::Tokenizer::train(corpus, {.vocabulary_size = 300});
  EXPECT_TRUE(made) << made.error().message;
  return *std::move(made);
}

// How many of the tokens there are when the predicate first says so; 0: it never does.
std::size_t found_after(const std::vector<std::string>& strings, const text::Tokenizer& tokenizer,
                        const std::vector<TokenId>& tokens) {
  const auto is_complete = holds_any_of(strings, tokenizer);
  for (std::size_t count = 1; count <= tokens.size(); ++count)
    if (is_complete(std::span(tokens).first(count))) return count;
  return 0;
}

TEST(StopStrings, AreFoundHoweverTheyAreCutIntoTokens) {
  const auto tokenizer = tokenizer_of({"one two", "</answer>", "x\n\n"});
  const std::string before = "a = \"é\" # ", stop = "</answer>", behind = " and more";
  const auto tokens = tokenizer.encode(before + stop + behind);
  const std::size_t count = found_after({"never", stop}, tokenizer, tokens);
  ASSERT_GT(count, 0U);
  const auto text = tokenizer.decode(std::span(tokens).first(count));
  EXPECT_TRUE(text.starts_with(before + stop));
  EXPECT_FALSE(tokenizer.decode(std::span(tokens).first(count - 1)).starts_with(before + stop));
  EXPECT_EQ(found_after({"<answer>", "é é"}, tokenizer, tokens), 0U);
  EXPECT_EQ(found_after({"é"}, tokenizer, tokens),
            tokenizer.encode("a = \"é").size());  // two bytes, one or two tokens
}

TEST(StopStrings, AreNotPartOfTheText) {
  const std::vector<std::string> strings = {"", "END", "STOP"};
  EXPECT_EQ(before_any_of("so STOP it ENDs", strings), "so ");
  EXPECT_EQ(before_any_of("STO", strings), "STO");
  EXPECT_EQ(holds_any_of({""}, tokenizer_of({"a"})), nullptr);
}

}  // namespace
}  // namespace tritonsmith::rollout
