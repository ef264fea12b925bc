// Tokenizer: byte-level BPE as Hugging Face's tokenizer.json describes it (the Qwen and Llama 3
// families), encoding and decoding exactly as the package `tokenizers` does with the same file;
// tools and tests compare them. Made once, then read by any thread. Files that ask for something
// unsupported are refused with one line that names it.
//
//   text -> added tokens -> NFC -> pieces (PreTokenizer) -> bytes -> merges (Bpe) -> ids
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/completion.h"
#include "text/added_tokens.h"
#include "text/bpe.h"
#include "text/pre_tokenizer.h"

namespace tritonsmith::text {

enum class SkipSpecial { no, yes };

// How training cuts text into pieces, which merges never cross.
enum class PieceRule {
  qwen2,    // words, single digits, punctuation
  llama3,   // words, up to three digits, punctuation
  gpt2,     // words, numbers, punctuation
  lines,    // a line with the newlines before it: tokens may be whole idioms, "mask = offsets < n"
  phrases,  // as lines, but ending at commas and colons too, numbers by themselves: lists of
            // operators in a prompt stay lists, and a constant is the same token in prompt and code
  whole,    // nothing but added tokens: tokens may span lines
};
}  // namespace tritonsmith::text

template <>
inline constexpr auto tritonsmith::enum_names<tritonsmith::text::PieceRule> =
    tritonsmith::names<tritonsmith::text::PieceRule>(
        {{tritonsmith::text::PieceRule::qwen2, "qwen2"},
         {tritonsmith::text::PieceRule::llama3, "llama3"},
         {tritonsmith::text::PieceRule::gpt2, "gpt2"},
         {tritonsmith::text::PieceRule::lines, "lines"},
         {tritonsmith::text::PieceRule::phrases, "phrases"},
         {tritonsmith::text::PieceRule::whole, "whole"}});

namespace tritonsmith::text {

struct TokenizerTraining {
  int vocabulary_size = 2048;  // added tokens and the 256 bytes included
  std::vector<AddedToken>
      added_tokens;  // get the first ids, in this order; their own ids are ignored
  PieceRule pieces = PieceRule::qwen2;
  bool nfc = false;   // normalise as Qwen does
  int min_count = 2;  // pairs seen less often are not merged
  int max_token_bytes = 1 << 20;
};

class Tokenizer {
 public:
  static Result<Tokenizer> from_file(const std::filesystem::path& path);
  static Result<Tokenizer> from_json(std::string_view json);
  // The same corpus and settings give the same tokenizer on every machine.
  static Result<Tokenizer> train(std::span<const std::string> corpus,
                                 const TokenizerTraining& training);

  std::string to_json() const;
  Status save(const std::filesystem::path& path) const;

  // Without what the post-processor adds (see framed). Invalid UTF-8 is read as U+FFFD.
  std::vector<TokenId> encode(std::string_view text,
                              SpecialText special_text = SpecialText::parse) const;
  // Around whole texts: Llama 3 begins them with <|begin_of_text|>. Most files add nothing.
  std::vector<TokenId> framed(std::span<const TokenId> ids) const;

  // Valid UTF-8; what is not becomes U+FFFD. Ids that no token has are left out.
  std::string decode(std::span<const TokenId> ids, SkipSpecial skip = SkipSpecial::no) const;
  // The bytes that a token stands for, perhaps not a whole character; empty for ids that no token
  // has.
  const std::string& bytes_of(TokenId id) const;
  bool is_special(TokenId id) const;

  // Of a token as the file writes it: "<|im_end|>", "Ġthe".
  std::optional<TokenId> id_of(std::string_view token) const;
  // One more than the largest id: the least number of rows an embedding needs.
  std::size_t id_limit() const { return bytes_.size(); }
  const std::vector<AddedToken>& added_tokens() const { return added_tokens_; }

 private:
  Tokenizer() = default;
  Status read_added_tokens(const Json& json);
  Status read_normalizer(const Json& normalizer);
  Status read_post_processor(const Json& post_processor);
  void index();
  void encode_ordinary(std::string_view text, std::vector<TokenId>& out) const;

  Bpe bpe_;
  PreTokenizer pre_tokenizer_;
  std::vector<AddedToken> added_tokens_;
  AddedTokenMatcher before_normalizer_, after_normalizer_;
  bool nfc_ = false;
  Json normalizer_, post_processor_, decoder_;
  std::vector<TokenId> prefix_, suffix_;  // what the post-processor adds
  std::vector<std::string> bytes_;        // by id
  std::vector<bool> special_;             // by id
};

}  // namespace tritonsmith::text
