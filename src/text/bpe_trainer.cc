#include "text/bpe_trainer.h"

#include <algorithm>
#include <queue>
#include <unordered_map>

#include "text/byte_alphabet.h"
#include "text/unicode.h"

namespace tritonsmith::text {
namespace {

using Position = std::uint32_t;
constexpr Position kNone = ~Position{0};

struct TrainedSymbol {
  TokenId id = 0;
  Position previous = kNone, next = kNone;
  std::int64_t weight = 0;  // how often its piece occurs
  bool dead = false;
};

// A pair and the positions of its symbols. Positions may be stale, so every reader checks them.
struct Pair {
  std::int64_t count = 0;
  std::vector<Position> positions;
};

struct PairCandidate {
  std::int64_t count = 0;
  Bpe::Merge pair;
  bool operator<(const PairCandidate& other) const {
    return count != other.count ? count < other.count : pair > other.pair;
  }
};

std::uint64_t key_of(Bpe::Merge pair) {
  return (static_cast<std::uint64_t>(static_cast<std::uint32_t>(pair.first)) << 32) |
         static_cast<std::uint32_t>(pair.second);
}

class Trainer {
 public:
  explicit Trainer(const BpeTraining& training) : training_(training) {
    for (const std::string& token : training.reserved) add_token(token, token.size());
    add_bytes();
  }

  TrainedBpe run(const std::map<std::string, std::int64_t>& counted_pieces) {
    for (const auto& [piece, count] : counted_pieces) add_piece(piece, count);
    for (Position at = 0; at < symbols_.size(); ++at) count_pair_at(at);
    for (const auto& [key, pair] : pairs_)
      queue_.push({pair.count, {static_cast<TokenId>(key >> 32), static_cast<TokenId>(key)}});
    while (static_cast<int>(result_.tokens.size()) < training_.vocabulary_size && merge_best()) {
    }
    return std::move(result_);
  }

 private:
  TokenId add_token(const std::string& token, std::size_t bytes) {
    const auto [at, is_new] = id_of_.emplace(token, static_cast<TokenId>(result_.tokens.size()));
    if (is_new) {
      result_.tokens.push_back(token);
      token_bytes_.push_back(bytes);
    }
    return at->second;
  }

  // Adds the bytes in the order of the alphabet's characters, as `tokenizers` numbers them.
  void add_bytes() {
    std::vector<std::pair<char32_t, int>> order;
    for (int byte = 0; byte < 256; ++byte)
      order.emplace_back(utf8_step(alphabet_character(static_cast<unsigned char>(byte))).code_point,
                         byte);
    std::ranges::sort(order);
    for (const auto& [character, byte] : order)
      byte_ids_[static_cast<std::size_t>(byte)] =
          add_token(alphabet_character(static_cast<unsigned char>(byte)), 1);
  }

  void add_piece(const std::string& piece, std::int64_t count) {
    const auto begin = static_cast<Position>(symbols_.size());
    const auto size = static_cast<Position>(piece.size());
    for (Position i = 0; i < size; ++i)
      symbols_.push_back({.id = byte_ids_[static_cast<unsigned char>(piece[i])],
                          .previous = i == 0 ? kNone : begin + i - 1,
                          .next = i + 1 == size ? kNone : begin + i + 1,
                          .weight = count});
  }

  Bpe::Merge pair_at(Position at) const {
    return {symbols_[at].id, symbols_[symbols_[at].next].id};
  }

  void count_pair_at(Position at) {
    if (at == kNone || symbols_[at].next == kNone) return;
    Pair& pair = pairs_[key_of(pair_at(at))];
    pair.count += symbols_[at].weight;
    pair.positions.push_back(at);
  }
  void uncount_pair_at(Position at) {
    if (at == kNone || symbols_[at].next == kNone) return;
    pairs_[key_of(pair_at(at))].count -= symbols_[at].weight;
  }

  // Merges the most frequent pair everywhere. Returns
  // false if no pair is frequent and short enough.
  bool merge_best() {
    while (!queue_.empty()) {
      const PairCandidate best = queue_.top();
      queue_.pop();
      const auto pair = pairs_.find(key_of(best.pair));
      if (pair == pairs_.end()) continue;
      if (pair->second.count != best.count) {
        if (pair->second.count > 0) queue_.push({pair->second.count, best.pair});
        continue;
      }
      if (best.count < std::max<std::int64_t>(training_.min_count, 1)) return false;
      const std::size_t bytes = bytes_of(best.pair.first) + bytes_of(best.pair.second);
      if (bytes > training_.max_token_bytes) continue;
      merge_everywhere(best.pair, bytes);
      return true;
    }
    return false;
  }

  std::size_t bytes_of(TokenId id) const { return token_bytes_[static_cast<std::size_t>(id)]; }

  void merge_everywhere(Bpe::Merge pair, std::size_t bytes) {
    const auto [left, right] = pair;
    const TokenId merged = add_token(result_.tokens[static_cast<std::size_t>(left)] +
                                         result_.tokens[static_cast<std::size_t>(right)],
                                     bytes);
    result_.merges.push_back(pair);
    const auto found = pairs_.find(key_of(pair));
    std::vector<Position> positions = std::move(found->second.positions);
    std::ranges::sort(positions);  // from left to right, so that "aaa" becomes "aa a"
    touched_.clear();
    for (const Position at : positions)
      if (!symbols_[at].dead && symbols_[at].id == left && symbols_[at].next != kNone &&
          symbols_[symbols_[at].next].id == right)
        merge_at(at, merged);
    pairs_.erase(key_of(pair));
    for (const Bpe::Merge& grown : touched_)
      if (const auto at = pairs_.find(key_of(grown)); at != pairs_.end() && at->second.count > 0)
        queue_.push({at->second.count, grown});
  }

  void merge_at(Position at, TokenId merged) {
    const Position before = symbols_[at].previous, gone = symbols_[at].next;
    const Position after = symbols_[gone].next;
    uncount_pair_at(before);
    uncount_pair_at(at);
    uncount_pair_at(gone);
    symbols_[at].id = merged;
    symbols_[at].next = after;
    symbols_[gone].dead = true;
    if (after != kNone) symbols_[after].previous = at;
    count_pair_at(before);
    count_pair_at(at);
    if (before != kNone) touched_.push_back(pair_at(before));
    if (after != kNone) touched_.push_back(pair_at(at));
  }

  const BpeTraining& training_;
  TrainedBpe result_;
  std::vector<std::size_t> token_bytes_;  // lengths by id
  std::unordered_map<std::string, TokenId> id_of_;
  std::array<TokenId, 256> byte_ids_{};
  std::vector<TrainedSymbol> symbols_;
  std::unordered_map<std::uint64_t, Pair> pairs_;
  std::priority_queue<PairCandidate> queue_;
  std::vector<Bpe::Merge> touched_;
};

}  // namespace

TrainedBpe train_bpe(const std::map<std::string, std::int64_t>& counted_pieces,
                     const BpeTraining& training) {
  return Trainer(training).run(counted_pieces);
}

}  // namespace tritonsmith::text
