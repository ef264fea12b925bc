#include "text/added_tokens.h"

#include <algorithm>

#include "base/check.h"
#include "text/unicode.h"

namespace tritonsmith::text {
namespace {

SplitPattern compiled(std::string_view pattern) {
  auto made = SplitPattern::from_regex(pattern);
  CHECK(made.has_value(), "{}", made.error().message);
  return *std::move(made);
}

// Tells whether `pattern` matches this one character.
bool is_one(const SplitPattern& pattern, std::string_view character) {
  return !pattern.find_all(character).empty();
}
bool is_word(std::string_view character) {
  static const SplitPattern pattern = compiled(R"(\w)");
  return is_one(pattern, character);
}
bool is_space(std::string_view character) {
  static const SplitPattern pattern = compiled(R"(\s)");
  return is_one(pattern, character);
}

std::string_view first_character(std::string_view text) {
  return text.empty() ? text : text.substr(0, utf8_step(text).bytes);
}
std::string_view last_character(std::string_view text) {
  std::size_t begin = text.size();
  while (begin > 0 && (static_cast<unsigned char>(text[--begin]) & 0xC0) == 0x80) {
  }
  return text.substr(begin);
}

std::size_t begin_of_trailing_space(std::string_view text) {
  while (!text.empty() && is_space(last_character(text)))
    text.remove_suffix(last_character(text).size());
  return text.size();
}
std::size_t length_of_leading_space(std::string_view text) {
  const std::size_t whole = text.size();
  while (!text.empty() && is_space(first_character(text)))
    text.remove_prefix(first_character(text).size());
  return whole - text.size();
}

bool stands_alone(std::string_view text, ByteRange match) {
  const std::string_view before = last_character(text.substr(0, match.begin));
  const std::string_view after = first_character(text.substr(match.end));
  return (before.empty() || !is_word(before)) && (after.empty() || !is_word(after));
}

}  // namespace

AddedTokenMatcher::AddedTokenMatcher(std::vector<AddedToken> tokens) : tokens_(std::move(tokens)) {
  std::erase_if(tokens_, [](const AddedToken& token) { return token.content.empty(); });
  std::ranges::stable_sort(tokens_, std::greater{},
                           [](const AddedToken& token) { return token.content.size(); });
  for (std::uint32_t i = 0; i < tokens_.size(); ++i)
    by_first_byte_[static_cast<unsigned char>(tokens_[i].content[0])].push_back(i);
}

const AddedToken* AddedTokenMatcher::longest_at(std::string_view text) const {
  for (const std::uint32_t i : by_first_byte_[static_cast<unsigned char>(text[0])])
    if (text.starts_with(tokens_[i].content)) return &tokens_[i];
  return nullptr;
}

std::vector<AddedTokenMatcher::Section> AddedTokenMatcher::cut(std::string_view text,
                                                               SpecialText special_text) const {
  std::vector<Section> sections;
  std::size_t done = 0;  // the text before this position is cut already
  for (std::size_t at = 0; at < text.size();) {
    const AddedToken* token = longest_at(text.substr(at));
    if (token == nullptr) {
      ++at;
      continue;
    }
    ByteRange match{at, at + token->content.size()};
    at = match.end;
    if (token->special && special_text == SpecialText::plain) continue;
    if (token->single_word && !stands_alone(text, match)) continue;
    if (token->lstrip)
      match.begin = std::max(begin_of_trailing_space(text.substr(0, match.begin)), done);
    if (token->rstrip) match.end += length_of_leading_space(text.substr(match.end));
    if (done < match.begin) sections.push_back({{done, match.begin}});
    sections.push_back({match, token});
    done = match.end;
  }
  if (done < text.size()) sections.push_back({{done, text.size()}});
  return sections;
}

}  // namespace tritonsmith::text
