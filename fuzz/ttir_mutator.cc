// Mutates Triton IR for libFuzzer. Half of the time libFuzzer's own mutation is used, else tokens
// and lines are changed, since text that does not parse shows little. Names are drawn from the text
// itself.
#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/rng.h"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

namespace tritonsmith::gym {
namespace {

constexpr std::string_view kNumbers[] = {
    "0", "1", "-1", "2", "16", "1048576", "4294967296", "9223372036854775807", "3"};
constexpr std::string_view kTypes[] = {"i1",
                                       "i8",
                                       "i32",
                                       "i64",
                                       "f32",
                                       "f16",
                                       "bf16",
                                       "f64",
                                       "f8E5M2",
                                       "!tt.ptr<f32>",
                                       "tensor<16xf32>",
                                       "!tt.tensordesc<tensor<16x16xf32>>"};

struct Token {
  std::size_t start = 0, length = 0;
};

// Returns a name, number or mark of the text, at or after a random position.
Token pick_token(const std::string& text, Rng& rng) {
  const auto is_word = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '%' || c == '.';
  };
  std::size_t start = rng.below(text.size());
  while (start < text.size() && !is_word(text[start])) ++start;
  std::size_t end = start;
  while (end < text.size() && is_word(text[end])) ++end;
  return {start, end - start};
}

// Returns the line that contains the position, with its line end.
Token line_at(const std::string& text, std::size_t position) {
  const std::size_t before = text.rfind('\n', position);
  const std::size_t start = before == std::string::npos ? 0 : before + 1;
  return {start, text.find('\n', start) - start + 1};
}

void mutate(std::string& text, Rng& rng) {
  const auto [start, length] = pick_token(text, rng);
  switch (rng.below(7)) {
    case 0:
      text.replace(start, length, kNumbers[rng.below(std::size(kNumbers))]);
      break;
    case 1:
      text.replace(start, length, kTypes[rng.below(std::size(kTypes))]);
      break;
    case 2: {  // replaces one token by another
      const Token other = pick_token(text, rng);
      text.replace(start, length, text.substr(other.start, other.length));
      break;
    }
    case 3:
      text.erase(start, 1 + rng.below(4));
      break;
    case 4: {  // repeats a line at another position
      const Token line = line_at(text, start);
      text.insert(line_at(text, rng.below(text.size())).start,
                  text.substr(line.start, line.length));
      break;
    }
    case 5: {
      const Token line = line_at(text, start);
      text.erase(line.start, line.length);
      break;
    }
    default:
      text[rng.below(text.size())] = static_cast<char>(32 + rng.below(95));
  }
}

}  // namespace
}  // namespace tritonsmith::gym

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t most, unsigned seed) {
  tritonsmith::Rng rng(seed, "ttir_mutator", size);
  if (size == 0 || rng.below(2) == 0) return LLVMFuzzerMutate(data, size, most);
  std::string text(reinterpret_cast<const char*>(data), size);
  for (std::uint64_t left = 1 + rng.below(4); left > 0 && !text.empty(); --left)
    tritonsmith::gym::mutate(text, rng);
  text.resize(std::min(text.size(), most));
  std::ranges::copy(text, data);
  return text.size();
}
