#include "text/bpe.h"

#include <algorithm>
#include <queue>

#include "text/byte_alphabet.h"

namespace tritonsmith::text {
namespace {

constexpr std::size_t kLongestCachedPiece = 256;
constexpr std::size_t kCachedPieces = 1 << 16;
constexpr std::int64_t kMostTokens = 1 << 24;

std::uint64_t key_of(TokenId left, TokenId right) {
  return (static_cast<std::uint64_t>(static_cast<std::uint32_t>(left)) << 32) |
         static_cast<std::uint32_t>(right);
}

// A node of a doubly linked list over the bytes of a piece. A merge joins a symbol with its right
// neighbour.
struct Symbol {
  TokenId id = 0;
  int previous = -1, next = -1;
  bool dead = false;
};

struct Candidate {
  std::uint32_t rank = 0;
  int position = 0;
  TokenId result = 0;
  // The queue returns the lowest rank first, and among equal ranks the leftmost.
  bool operator<(const Candidate& other) const {
    return std::pair(rank, position) > std::pair(other.rank, other.position);
  }
};

Result<std::vector<std::string>> read_vocabulary(const Json& vocabulary) {
  if (!vocabulary.is_object()) return fail("model: 'vocab' must be an object");
  std::vector<std::string> tokens;
  for (const auto& [token, id] : vocabulary.items()) {
    if (!id.is_number_integer() || id.get<std::int64_t>() < 0 ||
        id.get<std::int64_t>() > kMostTokens)
      return fail("model: the id of token '{}' must be a whole number from 0 to {}", token,
                  kMostTokens);
    const auto at = static_cast<std::size_t>(id.get<std::int64_t>());
    if (tokens.size() <= at) tokens.resize(at + 1);
    if (!tokens[at].empty())
      return fail("model: id {} belongs to '{}' and '{}'", at, tokens[at], token);
    tokens[at] = token;
  }
  return tokens;
}

// A merge is ["a", "b"] or, in older files, "a b".
Result<std::pair<std::string, std::string>> read_merge(const Json& merge) {
  if (merge.is_array() && merge.size() == 2 && merge[0].is_string() && merge[1].is_string())
    return std::pair(merge[0].get<std::string>(), merge[1].get<std::string>());
  if (merge.is_string()) {
    const auto text = merge.get<std::string>();
    const std::size_t space = text.find(' ');
    if (space != std::string::npos && text.find(' ', space + 1) == std::string::npos)
      return std::pair(text.substr(0, space), text.substr(space + 1));
  }
  return fail("model: the merge {} is no pair of tokens", to_line(merge));
}

Status refuse_unsupported(JsonReader& reader) {
  const std::string type = reader.string("type", "BPE");
  if (type != "BPE") return fail("model: '{}' is not supported, only BPE", type);
  if (reader.number("dropout", 0) != 0) return fail("model: 'dropout' is not supported");
  for (const char* name : {"continuing_subword_prefix", "end_of_word_suffix"})
    if (!reader.string(name, "").empty()) return fail("model: '{}' is not supported", name);
  return reader.status();
}

}  // namespace

Result<Bpe> Bpe::make(std::vector<std::string> tokens, std::vector<Merge> merges) {
  Bpe bpe;
  bpe.tokens_ = std::move(tokens);
  bpe.merges_ = std::move(merges);
  TRY(bpe.index());
  return bpe;
}

Result<Bpe> Bpe::from_json(const Json& model) {
  JsonReader reader(model);
  TRY(refuse_unsupported(reader));
  Bpe bpe;
  bpe.ignore_merges_ = reader.boolean("ignore_merges", false);
  TRY_ASSIGN(bpe.tokens_, read_vocabulary(reader.object("vocab")));
  std::unordered_map<std::string, TokenId> id_of;
  for (std::size_t id = 0; id < bpe.tokens_.size(); ++id)
    id_of.emplace(bpe.tokens_[id], static_cast<TokenId>(id));
  for (const Json& entry : reader.array("merges")) {
    TRY_ASSIGN(const auto merge, read_merge(entry));
    const auto left = id_of.find(merge.first), right = id_of.find(merge.second);
    if (left == id_of.end() || right == id_of.end())
      return fail("model: the merge {} names a token that is not in 'vocab'", to_line(entry));
    bpe.merges_.emplace_back(left->second, right->second);
  }
  TRY(bpe.index());
  const bool has_all_bytes = std::ranges::find(bpe.byte_ids_, -1) == bpe.byte_ids_.end();
  const bool has_way_out = reader.has("unk_token") || reader.boolean("byte_fallback", false);
  TRY(reader.status());
  if (!has_all_bytes && has_way_out)
    return fail(
        "model: 'unk_token' and 'byte_fallback' are not supported where 'vocab' lacks bytes");
  return bpe;
}

Status Bpe::index() {
  for (std::size_t id = 0; id < tokens_.size(); ++id) {
    if (tokens_[id].empty()) continue;
    id_of_.emplace(tokens_[id], static_cast<TokenId>(id));
    if (!ignore_merges_) continue;
    if (auto bytes = from_alphabet(tokens_[id]))
      id_of_bytes_.emplace(std::move(*bytes), static_cast<TokenId>(id));
  }
  for (std::size_t byte = 0; byte < 256; ++byte)
    byte_ids_[byte] = find(alphabet_character(static_cast<unsigned char>(byte)));
  for (std::size_t rank = 0; rank < merges_.size(); ++rank) {
    const auto [left, right] = merges_[rank];
    const std::string whole =
        tokens_[static_cast<std::size_t>(left)] + tokens_[static_cast<std::size_t>(right)];
    const TokenId id = find(whole);
    if (id < 0) return fail("model: a merge gives '{}', which is not in 'vocab'", whole);
    merge_results_[key_of(left, right)] = {static_cast<std::uint32_t>(rank), id};
  }
  return ok();
}

TokenId Bpe::find(const std::string& token) const {
  const auto at = id_of_.find(token);
  return at == id_of_.end() ? -1 : at->second;
}

const Bpe::Merged* Bpe::merge_of(TokenId left, TokenId right) const {
  const auto at = merge_results_.find(key_of(left, right));
  return at == merge_results_.end() ? nullptr : &at->second;
}

bool Bpe::find_in_cache(const std::string& piece, std::vector<TokenId>& out) const {
  const std::lock_guard lock(cache_->mutex);
  const auto at = cache_->pieces.find(piece);
  if (at == cache_->pieces.end()) return false;
  out.insert(out.end(), at->second.begin(), at->second.end());
  return true;
}

void Bpe::encode(std::string_view piece, std::vector<TokenId>& out) const {
  if (piece.size() > kLongestCachedPiece && !ignore_merges_) return merge_bytes(piece, out);
  const std::string key(piece);
  if (ignore_merges_) {
    if (const auto whole = id_of_bytes_.find(key); whole != id_of_bytes_.end()) {
      out.push_back(whole->second);
      return;
    }
  }
  if (find_in_cache(key, out)) return;
  const std::size_t before = out.size();
  merge_bytes(piece, out);
  if (piece.size() > kLongestCachedPiece) return;
  const std::lock_guard lock(cache_->mutex);
  if (cache_->pieces.size() < kCachedPieces)
    cache_->pieces.emplace(
        key, std::vector<TokenId>(out.begin() + static_cast<std::ptrdiff_t>(before), out.end()));
}

void Bpe::merge_bytes(std::string_view piece, std::vector<TokenId>& out) const {
  std::vector<Symbol> symbols;
  symbols.reserve(piece.size());
  for (const char byte : piece) {
    const TokenId id = byte_ids_[static_cast<unsigned char>(byte)];
    if (id < 0) continue;  // `tokenizers` drops characters that the vocabulary lacks
    const int at = static_cast<int>(symbols.size());
    if (at > 0) symbols.back().next = at;
    symbols.push_back({.id = id, .previous = at - 1});
  }
  const auto symbol = [&](int at) -> Symbol& { return symbols[static_cast<std::size_t>(at)]; };
  std::priority_queue<Candidate> queue;
  const auto offer = [&](int at) {
    if (at < 0 || symbol(at).next < 0) return;
    if (const Merged* merge = merge_of(symbol(at).id, symbol(symbol(at).next).id))
      queue.push({merge->rank, at, merge->id});
  };
  for (int at = 0; at < static_cast<int>(symbols.size()); ++at) offer(at);
  while (!queue.empty()) {
    const Candidate best = queue.top();
    queue.pop();
    Symbol& left = symbol(best.position);
    if (left.dead || left.next < 0) continue;
    Symbol& right = symbol(left.next);
    const Merged* merge = merge_of(left.id, right.id);
    if (merge == nullptr || merge->id != best.result) continue;  // a neighbour has changed since
    left.id = best.result;
    left.next = right.next;
    right.dead = true;
    if (left.next >= 0) symbol(left.next).previous = best.position;
    offer(left.previous);
    offer(best.position);
  }
  for (const Symbol& each : symbols)
    if (!each.dead) out.push_back(each.id);
}

}  // namespace tritonsmith::text
