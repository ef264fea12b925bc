// Bpe: the byte-pair model of a tokenizer, with its vocabulary and ranked merges. It converts the
// bytes of one piece into token ids. It is immutable except for a cache of short pieces with a
// mutex, so any thread may encode.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "data/completion.h"

namespace tritonsmith::text {

class Bpe {
 public:
  using Merge = std::pair<TokenId, TokenId>;

  // Reads the "model" of a tokenizer.json. Fails for models that are not byte-level BPE.
  static Result<Bpe> from_json(const Json& model);
  // tokens[id] is in the byte alphabet ("Ġthe"). Merges are ordered by rank, and each gives an
  // existing token.
  static Result<Bpe> make(std::vector<std::string> tokens, std::vector<Merge> merges);

  void encode(std::string_view piece, std::vector<TokenId>& out) const;

  // The tokens as the file writes them, by id. An id without a token has an empty string.
  const std::vector<std::string>& tokens() const { return tokens_; }
  const std::vector<Merge>& merges() const { return merges_; }
  bool ignore_merges() const { return ignore_merges_; }
  // The number of tokens, without unused ids.
  std::size_t size() const { return id_of_.size(); }
  TokenId find(const std::string& token) const;  // -1 if there is none

 private:
  struct Merged {
    std::uint32_t rank = 0;
    TokenId id = -1;
  };
  struct Cache {
    std::mutex mutex;
    std::unordered_map<std::string, std::vector<TokenId>> pieces;
  };

  Status index();
  bool find_in_cache(const std::string& piece, std::vector<TokenId>& out) const;
  void merge_bytes(std::string_view piece, std::vector<TokenId>& out) const;
  const Merged* merge_of(TokenId left, TokenId right) const;

  std::vector<std::string> tokens_;
  std::vector<Merge> merges_;
  std::unordered_map<std::string, TokenId> id_of_;
  std::unordered_map<std::string, TokenId> id_of_bytes_;  // only with ignore_merges
  std::unordered_map<std::uint64_t, Merged> merge_results_;
  std::array<TokenId, 256> byte_ids_{};
  bool ignore_merges_ = false;  // a piece that is itself a token is not merged (Llama 3)
  std::unique_ptr<Cache> cache_ = std::make_unique<Cache>();
};

}  // namespace tritonsmith::text
