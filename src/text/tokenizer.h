// Tokenizer: byte-level BPE as Hugging Face's tokenizer.json describes it (the Qwen and Llama 3
// families). It encodes and decodes exactly as the package `tokenizers` does with the same file;
// tools and tests compare them. After its construction any thread may read it. A file with an
// unsupported feature is refused with one line that names the feature.
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

// The way in which training cuts text into pieces. Merges never cross pieces.
enum class PieceRule {
  qwen2,   // words, single digits, punctuation
  llama3,  // words, up to three digits, punctuation
  gpt2,    // words, numbers, punctuation
  lines,   // a line with the newlines before it; a token may be a whole idiom, "mask = offsets < n"
  // Like lines, but a piece also ends at commas and colons, and numbers stand alone. Lists of
  // operators in a prompt stay lists, and a constant is the same token in prompt and code.
  phrases,
  whole,  // only added tokens are separate; tokens may span lines
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
  int vocabulary_size = 2048;  // including added tokens and the 256 bytes
  // They get the first ids in this order; their own ids are ignored.
  std::vector<AddedToken> added_tokens;
  PieceRule pieces = PieceRule::qwen2;
  bool nfc = false;   // normalise to NFC, as Qwen does
  int min_count = 2;  // less frequent pairs are not merged
  int max_token_bytes = 1 << 20;
};

class Tokenizer {
 public:
  static Result<Tokenizer> from_file(const std::filesystem::path& path);
  static Result<Tokenizer> from_json(std::string_view json);
  // Equal corpora and settings give the same tokenizer on every machine.
  static Result<Tokenizer> train(std::span<const std::string> corpus,
                                 const TokenizerTraining& training);

  std::string to_json() const;
  Status save(const std::filesystem::path& path) const;

  // Does not add the tokens of the post-processor (see framed). Invalid UTF-8 is read as U+FFFD.
  std::vector<TokenId> encode(std::string_view text,
                              SpecialText special_text = SpecialText::parse) const;
  // Adds the tokens around a whole text. Llama 3 begins it with <|begin_of_text|>. Most files add
  // nothing.
  std::vector<TokenId> framed(std::span<const TokenId> ids) const;

  // Returns valid UTF-8; invalid bytes become U+FFFD. Unused ids are left out.
  std::string decode(std::span<const TokenId> ids, SkipSpecial skip = SkipSpecial::no) const;
  // Returns the bytes of a token, which may be a part of a character. Returns an empty string for
  // unused ids.
  const std::string& bytes_of(TokenId id) const;
  bool is_special(TokenId id) const;

  // Returns the id of a token in the file's spelling: "<|im_end|>", "Ġthe".
  std::optional<TokenId> id_of(std::string_view token) const;
  // The largest id plus one, which is the least number of rows of an embedding.
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
