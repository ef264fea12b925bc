#include "text/byte_alphabet.h"

#include <array>

#include "text/unicode.h"

namespace tritonsmith::text {
namespace {

constexpr bool stands_for_itself(int byte) {
  return (byte >= '!' && byte <= '~') || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
}

struct Alphabet {
  std::array<std::string, 256> characters;
  std::array<int, 0x200> bytes{};  // by code point; -1 if there is none

  Alphabet() {
    bytes.fill(-1);
    int next_free = 0x100;
    for (int byte = 0; byte < 256; ++byte) {
      const int code_point = stands_for_itself(byte) ? byte : next_free++;
      characters[static_cast<std::size_t>(byte)] = utf8_of(static_cast<char32_t>(code_point));
      bytes[static_cast<std::size_t>(code_point)] = byte;
    }
  }
};

const Alphabet& alphabet() {
  static const Alphabet instance;
  return instance;
}

}  // namespace

const std::string& alphabet_character(unsigned char byte) { return alphabet().characters[byte]; }

std::string to_alphabet(std::string_view bytes) {
  std::string token;
  for (const char byte : bytes) token += alphabet_character(static_cast<unsigned char>(byte));
  return token;
}

std::optional<std::string> from_alphabet(std::string_view token) {
  std::string bytes;
  while (!token.empty()) {
    const Utf8Step step = utf8_step(token);
    if (!step.valid || step.code_point >= alphabet().bytes.size()) return std::nullopt;
    const int byte = alphabet().bytes[step.code_point];
    if (byte < 0) return std::nullopt;
    bytes.push_back(static_cast<char>(byte));
    token.remove_prefix(step.bytes);
  }
  return bytes;
}

}  // namespace tritonsmith::text
