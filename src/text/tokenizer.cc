#include "text/tokenizer.h"

#include <algorithm>

#include "base/file.h"
#include "text/byte_alphabet.h"
#include "text/unicode.h"

namespace tritonsmith::text {

Result<Tokenizer> Tokenizer::from_file(const std::filesystem::path& path) {
  TRY_ASSIGN(const std::string json, read_file(path));
  auto tokenizer = from_json(json);
  if (!tokenizer) return tl::unexpected<Error>(tokenizer.error().within(path.string()));
  return tokenizer;
}

Status Tokenizer::save(const std::filesystem::path& path) const {
  return write_file_atomic(path, to_json());
}

// Fills the tables by id, and the matchers.
void Tokenizer::index() {
  bytes_.assign(bpe_.tokens().size(), {});
  for (std::size_t id = 0; id < bytes_.size(); ++id)
    bytes_[id] = from_alphabet(bpe_.tokens()[id]).value_or(bpe_.tokens()[id]);
  special_.assign(bytes_.size(), false);
  std::vector<AddedToken> plain, normalized;
  for (const AddedToken& token : added_tokens_) {
    const auto id = static_cast<std::size_t>(token.id);
    if (id >= bytes_.size()) {
      bytes_.resize(id + 1);
      special_.resize(id + 1);
    }
    AddedToken& sought = (token.normalized ? normalized : plain).emplace_back(token);
    if (token.normalized && nfc_) sought.content = to_nfc(token.content);
    bytes_[id] = from_alphabet(sought.content).value_or(sought.content);
    special_[id] = token.special;
  }
  before_normalizer_ = AddedTokenMatcher(std::move(plain));
  after_normalizer_ = AddedTokenMatcher(std::move(normalized));
}

std::vector<TokenId> Tokenizer::encode(std::string_view text, SpecialText special_text) const {
  const std::string valid = repair_utf8(text);
  std::vector<TokenId> ids;
  ids.reserve(valid.size() / 3);
  for (const auto& outer : before_normalizer_.cut(valid, special_text)) {
    if (outer.token != nullptr) {
      ids.push_back(outer.token->id);
      continue;
    }
    const std::string_view raw =
        std::string_view(valid).substr(outer.range.begin, outer.range.end - outer.range.begin);
    const std::string normal = nfc_ ? to_nfc(raw) : std::string(raw);
    for (const auto& inner : after_normalizer_.cut(normal, special_text)) {
      if (inner.token != nullptr)
        ids.push_back(inner.token->id);
      else
        encode_ordinary(
            std::string_view(normal).substr(inner.range.begin, inner.range.end - inner.range.begin),
            ids);
    }
  }
  return ids;
}

void Tokenizer::encode_ordinary(std::string_view text, std::vector<TokenId>& out) const {
  const Pieces pieces = pre_tokenizer_.cut(text);
  for (const std::string_view piece : pieces.pieces) bpe_.encode(piece, out);
}

std::vector<TokenId> Tokenizer::framed(std::span<const TokenId> ids) const {
  std::vector<TokenId> whole = prefix_;
  whole.insert(whole.end(), ids.begin(), ids.end());
  whole.insert(whole.end(), suffix_.begin(), suffix_.end());
  return whole;
}

std::string Tokenizer::decode(std::span<const TokenId> ids, SkipSpecial skip) const {
  std::string bytes;
  for (const TokenId id : ids)
    if (skip == SkipSpecial::no || !is_special(id)) bytes += bytes_of(id);
  return repair_utf8(bytes);
}

const std::string& Tokenizer::bytes_of(TokenId id) const {
  static const std::string none;
  const auto at = static_cast<std::size_t>(id);
  return id >= 0 && at < bytes_.size() ? bytes_[at] : none;
}

bool Tokenizer::is_special(TokenId id) const {
  const auto at = static_cast<std::size_t>(id);
  return id >= 0 && at < special_.size() && special_[at];
}

std::optional<TokenId> Tokenizer::id_of(std::string_view token) const {
  const auto added = std::ranges::find(added_tokens_, token, &AddedToken::content);
  if (added != added_tokens_.end()) return added->id;
  const TokenId id = bpe_.find(std::string(token));
  if (id < 0) return std::nullopt;
  return id;
}

}  // namespace tritonsmith::text
