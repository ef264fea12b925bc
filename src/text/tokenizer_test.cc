// compare/compare_tokenizers.py tests that ids equal those of the package `tokenizers`.
#include "text/tokenizer.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/temp_dir.h"
#include "text/stream_decoder.h"
#include "text/testing/small_tokenizer.h"
#include "text/unicode.h"

namespace tritonsmith::text {
namespace {

std::string refusal(const Json& changed) {
  Json json = *parse_json(small_tokenizer().to_json());
  json.merge_patch(changed);
  const auto tokenizer = Tokenizer::from_json(json.dump());
  return tokenizer ? "" : tokenizer.error().message;
}

RC_GTEST_PROP(Tokenizer, GivesBackAnyTextItEncoded, (const std::string& bytes)) {
  static const Tokenizer tokenizer = small_tokenizer();
  const auto ids = tokenizer.encode(bytes);
  RC_ASSERT(tokenizer.decode(ids) == repair_utf8(bytes));
}

RC_GTEST_PROP(StreamDecoder, GivesInPiecesWhatDecodeGivesAtOnce, ()) {
  static const Tokenizer tokenizer = small_tokenizer();
  const auto limit = static_cast<TokenId>(tokenizer.id_limit());
  const auto ids = *rc::gen::container<std::vector<TokenId>>(rc::gen::inRange<TokenId>(0, limit));
  const DecodedText decoded = decode_with_ends(tokenizer, ids);
  RC_ASSERT(decoded.text == tokenizer.decode(ids));
  RC_ASSERT(decoded.token_ends.size() == ids.size());
  RC_ASSERT(std::ranges::is_sorted(decoded.token_ends));
}

TEST(StreamDecoder, HoldsBackAnUnfinishedCharacter) {
  const Tokenizer tokenizer = small_tokenizer();
  const auto ids = tokenizer.encode("€");  // three bytes, three tokens here
  ASSERT_EQ(ids.size(), 3U);
  StreamDecoder decoder(tokenizer);
  EXPECT_EQ(decoder.push(ids[0]), "");
  EXPECT_EQ(decoder.push(ids[1]), "");
  EXPECT_EQ(decoder.push(ids[2]), "€");
  decoder.push(ids[0]);
  EXPECT_EQ(decoder.finish(), "\xEF\xBF\xBD");
}

TEST(Tokenizer, ComesBackFromItsFileTheSame) {
  auto dir = TempDir::make("tokenizer-test");
  ASSERT_TRUE(dir);
  const Tokenizer tokenizer = small_tokenizer();
  const auto path = dir->path() / "tokenizer.json";
  ASSERT_TRUE(tokenizer.save(path));
  const auto again = Tokenizer::from_file(path);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->to_json(), tokenizer.to_json());
  EXPECT_EQ(again->encode("    mask = offsets < n"), tokenizer.encode("    mask = offsets < n"));
}

TEST(Tokenizer, TrainedOnLinesMakesWholeIdiomsOneToken) {
  const Tokenizer tokenizer = small_tokenizer(PieceRule::lines);
  EXPECT_EQ(tokenizer.encode("\nimport triton.language as tl").size(), 1U);
  EXPECT_GT(small_tokenizer(PieceRule::qwen2).encode("\nimport triton.language as tl").size(), 4U);
}

TEST(Tokenizer, TrainedOnPhrasesKeepsConstantsAndListItemsApart) {
  const std::vector<std::string> corpus(
      5, "multiply by 0.25, add 0.25, relu, multiply by 3\nx = x * 0.25\nx = x + 3\n");
  const auto tokenizer =
      Tokenizer::train(corpus, {.vocabulary_size = 400, .pieces = PieceRule::phrases});
  ASSERT_TRUE(tokenizer);
  const auto tokens_of = [&](std::string_view text) {
    std::vector<std::string> tokens;
    for (const TokenId id : tokenizer->encode(text)) tokens.push_back(tokenizer->bytes_of(id));
    return tokens;
  };
  using Tokens = std::vector<std::string>;
  EXPECT_EQ(tokens_of(" add 0.25, relu,"), (Tokens{" add ", "0.25", ",", " relu,"}));
  EXPECT_EQ(tokens_of("\nx = x * 0.25"), (Tokens{"\nx = x * ", "0.25"}));
}

TEST(Tokenizer, ReadsSpecialTokensInTextOnlyWhenAsked) {
  const Tokenizer tokenizer = small_tokenizer();
  const TokenId end = *tokenizer.id_of("<|im_end|>");
  EXPECT_EQ(tokenizer.encode("<|im_end|>"), std::vector<TokenId>{end});
  const auto plain = tokenizer.encode("<|im_end|>", SpecialText::plain);
  EXPECT_EQ(std::ranges::count(plain, end), 0);
  EXPECT_EQ(tokenizer.decode(plain), "<|im_end|>");
  EXPECT_EQ(tokenizer.decode(std::vector{end}, SkipSpecial::yes), "");
}

TEST(Tokenizer, RefusesFilesItWouldReadOtherwise) {
  EXPECT_EQ(refusal({{"model", {{"type", "Unigram"}}}}),
            "model: 'Unigram' is not supported, only BPE");
  EXPECT_EQ(refusal({{"model", {{"dropout", 0.1}}}}), "model: 'dropout' is not supported");
  EXPECT_EQ(refusal({{"normalizer", {{"type", "Lowercase"}}}}),
            "normalizer: 'Lowercase' is not supported, only NFC");
  EXPECT_EQ(refusal({{"padding", {{"strategy", "BatchLongest"}}}}),
            "'truncation' and 'padding' are not supported: set them to null");
  EXPECT_EQ(refusal({{"model", {{"merges", Json::array({Json::array({"a", "zz"})})}}}}),
            "model: the merge [\"a\",\"zz\"] names a token that is not in 'vocab'");
  EXPECT_NE(refusal({{"pre_tokenizer", nullptr}}), "");
  EXPECT_NE(refusal({{"decoder", nullptr}}), "");
  EXPECT_EQ(Tokenizer::from_file("/no/such.json").error().message,
            "cannot open /no/such.json: No such file or directory");
}

TEST(Tokenizer, RefusesSplitPatternsItCannotCarryOver) {
  const auto with_pattern = [](const std::string& pattern) {
    return refusal({{"pre_tokenizer",
                     {{"pretokenizers", Json::array({Json{{"type", "Split"},
                                                          {"pattern", {{"Regex", pattern}}},
                                                          {"behavior", "Isolated"}}})}}}});
  };
  EXPECT_NE(with_pattern(R"([a-z&&[^b]]+)").find("not supported"), std::string::npos);
  EXPECT_NE(with_pattern(R"(\p{Greek}+)").find("the property 'Greek'"), std::string::npos);
  EXPECT_NE(with_pattern("(").find("no regular expression"), std::string::npos);
  EXPECT_NE(with_pattern("a*").find("can match nothing"), std::string::npos);
}

TEST(Unicode, RepairsAsPythonDoes) {
  EXPECT_EQ(repair_utf8("a\xF0\x9F\x98z"), "a\xEF\xBF\xBDz");
  EXPECT_EQ(repair_utf8("\xED\xA0\x80"), "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");
  EXPECT_EQ(repair_utf8("\xC0\x80"), "\xEF\xBF\xBD\xEF\xBF\xBD");
  EXPECT_EQ(repair_utf8("\xF4\x90"), "\xEF\xBF\xBD\xEF\xBF\xBD");
}

TEST(Unicode, ComposesWhatUnicode9Knows) {
  EXPECT_EQ(to_nfc("e\u0301"), "\u00e9");
  EXPECT_EQ(to_nfc("\u1112\u1161\u11ab"), "\ud55c");
  EXPECT_EQ(to_nfc("a\u0c3c\u0334"), "a\u0c3c\u0334") << "U+0C3C came with Unicode 14";
}

}  // namespace
}  // namespace tritonsmith::text
