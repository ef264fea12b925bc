// Tokenizer::train: counts the pieces of a corpus, trains the merges, and describes the result as a
// tokenizer.json that `tokenizers` reads as it stands.
#include <map>

#include "text/bpe_trainer.h"
#include "text/tokenizer.h"
#include "text/unicode.h"

namespace tritonsmith::text {
namespace {

constexpr std::string_view kQwen2Pattern =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view kLlama3Pattern =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
// Newlines belong to the line after them. So a token
// may hold an indentation and the word behind it.
constexpr std::string_view kLinesPattern = R"(\n*[^\n]+|\n+)";
constexpr std::string_view kPhrasesPattern = R"([0-9]+(?:\.[0-9]+)?|\n*[^\n,:0-9]+[,:]*|\n+|[,:]+)";

Json byte_level(bool use_regex) {
  return {{"type", "ByteLevel"},
          {"add_prefix_space", false},
          {"trim_offsets", true},
          {"use_regex", use_regex}};
}

Json split_then_bytes(std::string_view pattern) {
  const Json split = {{"type", "Split"},
                      {"pattern", {{"Regex", pattern}}},
                      {"behavior", "Isolated"},
                      {"invert", false}};
  return {{"type", "Sequence"}, {"pretokenizers", Json::array({split, byte_level(false)})}};
}

Json pre_tokenizer_of(PieceRule rule) {
  switch (rule) {
    case PieceRule::qwen2:
      return split_then_bytes(kQwen2Pattern);
    case PieceRule::llama3:
      return split_then_bytes(kLlama3Pattern);
    case PieceRule::gpt2:
      return byte_level(true);
    case PieceRule::lines:
      return split_then_bytes(kLinesPattern);
    case PieceRule::phrases:
      return split_then_bytes(kPhrasesPattern);
    case PieceRule::whole:
      return byte_level(false);
  }
  return {};
}

Status check_training(const TokenizerTraining& training) {
  const std::size_t least = 256 + training.added_tokens.size();
  if (training.vocabulary_size < static_cast<int>(least))
    return fail("a vocabulary of {} is too small: the bytes and added tokens alone are {}",
                training.vocabulary_size, least);
  for (const AddedToken& token : training.added_tokens)
    if (token.content.size() < 2 || repair_utf8(token.content) != token.content)
      return fail("an added token must be valid UTF-8 of at least two bytes, '{}' is not",
                  token.content);
  return ok();
}

}  // namespace

Result<Tokenizer> Tokenizer::train(std::span<const std::string> corpus,
                                   const TokenizerTraining& training) {
  TRY(check_training(training));
  Tokenizer tokenizer;
  tokenizer.nfc_ = training.nfc;
  if (training.nfc) tokenizer.normalizer_ = {{"type", "NFC"}};
  TRY_ASSIGN(tokenizer.pre_tokenizer_, PreTokenizer::from_json(pre_tokenizer_of(training.pieces)));
  tokenizer.post_processor_ = tokenizer.decoder_ = byte_level(true);
  tokenizer.added_tokens_ = training.added_tokens;
  BpeTraining bpe{.vocabulary_size = training.vocabulary_size,
                  .min_count = training.min_count,
                  .max_token_bytes = static_cast<std::size_t>(training.max_token_bytes)};
  for (std::size_t i = 0; i < training.added_tokens.size(); ++i) {
    tokenizer.added_tokens_[i].id = static_cast<TokenId>(i);
    bpe.reserved.push_back(training.added_tokens[i].content);
  }
  const AddedTokenMatcher added(tokenizer.added_tokens_);
  std::map<std::string, std::int64_t> counts;
  for (const std::string& document : corpus) {
    const std::string text = repair_utf8(document);
    for (const auto& section : added.cut(text, SpecialText::parse)) {
      if (section.token != nullptr) continue;
      const std::string_view raw = std::string_view(text).substr(
          section.range.begin, section.range.end - section.range.begin);
      const std::string normal = training.nfc ? to_nfc(raw) : std::string(raw);
      for (const std::string_view piece : tokenizer.pre_tokenizer_.cut(normal).pieces)
        ++counts[std::string(piece)];
    }
  }
  TrainedBpe trained = train_bpe(counts, bpe);
  TRY_ASSIGN(tokenizer.bpe_, Bpe::make(std::move(trained.tokens), std::move(trained.merges)));
  tokenizer.index();
  return tokenizer;
}

}  // namespace tritonsmith::text
