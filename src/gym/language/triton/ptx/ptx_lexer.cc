#include "gym/language/triton/ptx/ptx_lexer.h"

#include <cctype>

namespace tritonsmith::gym::language::triton::ptx {
namespace {

constexpr std::string_view kSigns = "()[]{},;:@!+-=<>|";
constexpr std::string_view kNoUnroll = "\"nounroll\"";

bool is_in_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$' || c == '.' ||
         c == '%';
}

// Returns the length of the word that begins the text. Two colons between letters belong to it, as
// in L2::evict_last.
std::size_t word_length(std::string_view text) {
  std::size_t length = 0;
  while (length < text.size()) {
    const std::string_view rest = text.substr(length);
    if (is_in_word(rest[0]))
      ++length;
    else if (rest.starts_with("::") && rest.size() > 2 && is_in_word(rest[2]))
      length += 2;
    else
      break;
  }
  return length;
}

}  // namespace

Result<std::vector<PtxToken>> tokens_of(std::string_view text) {
  if (text.size() > ptx_limits::kBytes)
    return fail("the PTX has {} bytes; at most {} are allowed", text.size(), ptx_limits::kBytes);
  std::vector<PtxToken> tokens;
  int line = 1;
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    const std::string_view rest = text.substr(at);
    std::size_t length = 1;
    if (c == '\n') {
      ++line;
    } else if (rest.starts_with("//")) {
      length = std::min(rest.find('\n'), rest.size());
    } else if (c != ' ' && c != '\t') {
      length = rest.starts_with(kNoUnroll)                ? kNoUnroll.size()
               : kSigns.find(c) != std::string_view::npos ? 1
                                                          : word_length(rest);
      if (length == 0)
        return fail("line {}: the sign with code {} is not in Triton's PTX", line,
                    static_cast<int>(static_cast<unsigned char>(c)));
      tokens.push_back({rest.substr(0, length), line});
    }
    at += length;
  }
  return tokens;
}

}  // namespace tritonsmith::gym::language::triton::ptx
