#include "reward/similarity.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace tritonsmith::reward {
namespace {

constexpr std::size_t kAutojunkFrom = 200;

// Returns the length that the first byte of a character announces, or 1 if it announces none.
std::size_t announced_length(unsigned char first) {
  if (first >= 0xF0 && first < 0xF5) return 4;
  if (first >= 0xE0) return first < 0xF0 ? 3 : 1;
  return first >= 0xC2 ? 2 : 1;
}

std::u32string characters_of(std::string_view text) {
  std::u32string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const auto first = static_cast<unsigned char>(text[at]);
    const std::size_t length = announced_length(first);
    char32_t code_point = length == 1 ? first : first & (0xFFU >> (length + 1));
    std::size_t read = 1;
    for (; read < length && at + read < text.size(); ++read) {
      const auto next = static_cast<unsigned char>(text[at + read]);
      if ((next & 0xC0) != 0x80) break;
      code_point = (code_point << 6) | (next & 0x3FU);
    }
    const bool whole = read == length && (length > 1 || first < 0x80);
    out.push_back(whole ? code_point : 0x110000 + first);
    at += whole ? length : 1;
  }
  return out;
}

struct Block {
  int a = 0, b = 0, size = 0;
};
struct Region {
  int a_begin, a_end, b_begin, b_end;
};

class Matcher {
 public:
  Matcher(std::u32string a, std::u32string b) : a_(std::move(a)), b_(std::move(b)) {
    std::unordered_map<char32_t, int> index;
    for (int j = 0; j < size(b_); ++j) {
      const auto [at, is_new] = index.try_emplace(b_[idx(j)], size(positions_));
      if (is_new) positions_.emplace_back();
      positions_[idx(at->second)].push_back(j);
    }
    if (b_.size() >= kAutojunkFrom)
      for (auto& positions : positions_)
        if (positions.size() > b_.size() / 100 + 1) positions.clear();
    for (const char32_t character : a_) {
      const auto at = index.find(character);
      positions_of_a_.push_back(at == index.end() ? -1 : at->second);
    }
    length_here_.assign(b_.size() + 1, 0);
    length_before_.assign(b_.size() + 1, 0);
  }

  long matched_characters() {
    long total = 0;
    std::vector<Region> open = {{0, size(a_), 0, size(b_)}};
    while (!open.empty()) {
      const Region region = open.back();
      open.pop_back();
      const Block block = longest_match(region);
      if (block.size == 0) continue;
      total += block.size;
      if (region.a_begin < block.a && region.b_begin < block.b)
        open.push_back({region.a_begin, block.a, region.b_begin, block.b});
      if (block.a + block.size < region.a_end && block.b + block.size < region.b_end)
        open.push_back({block.a + block.size, region.a_end, block.b + block.size, region.b_end});
    }
    return total;
  }

 private:
  static std::size_t idx(int i) { return static_cast<std::size_t>(i); }
  template <typename Container>
  static int size(const Container& container) {
    return static_cast<int>(container.size());
  }

  // Finds the longest match. Of several, it takes the one that begins first in a, and then first in
  // b.
  Block longest_match(const Region& region) {
    Block best{region.a_begin, region.b_begin, 0};
    std::vector<int> touched_before, touched_here;
    for (int i = region.a_begin; i < region.a_end; ++i) {
      touched_here.clear();
      if (const int group = positions_of_a_[idx(i)]; group >= 0) {
        const std::vector<int>& positions = positions_[idx(group)];
        for (auto j = std::ranges::lower_bound(positions, region.b_begin);
             j != positions.end() && *j < region.b_end; ++j) {
          const int length =
              length_before_[idx(*j)] + 1;  // shifted by one: [j] is the match that ends at j - 1
          length_here_[idx(*j) + 1] = length;
          touched_here.push_back(*j + 1);
          if (length > best.size) best = {i - length + 1, *j - length + 1, length};
        }
      }
      for (const int j : touched_before) length_before_[idx(j)] = 0;
      std::swap(length_before_, length_here_);
      std::swap(touched_before, touched_here);
    }
    for (const int j : touched_before) length_before_[idx(j)] = 0;
    return extended(best, region);
  }

  // Extends the block by characters that are too frequent to begin a match.
  Block extended(Block block, const Region& region) const {
    while (block.a > region.a_begin && block.b > region.b_begin &&
           a_[idx(block.a) - 1] == b_[idx(block.b) - 1]) {
      --block.a;
      --block.b;
      ++block.size;
    }
    while (block.a + block.size < region.a_end && block.b + block.size < region.b_end &&
           a_[idx(block.a + block.size)] == b_[idx(block.b + block.size)])
      ++block.size;
    return block;
  }

  std::u32string a_, b_;
  // For each distinct character of b: its positions, or none if it is too frequent.
  std::vector<std::vector<int>> positions_;
  std::vector<int> positions_of_a_;  // for each character of a, its entry in positions_, or -1
  std::vector<int> length_here_, length_before_;
};

}  // namespace

double similarity(std::string_view a, std::string_view b) {
  std::u32string left = characters_of(a), right = characters_of(b);
  const std::size_t length = left.size() + right.size();
  if (length == 0) return 1.0;
  const long matched = Matcher(std::move(left), std::move(right)).matched_characters();
  return 2.0 * static_cast<double>(matched) / static_cast<double>(length);
}

}  // namespace tritonsmith::reward
