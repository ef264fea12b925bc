// Finds added tokens: strings that become one token wherever they occur in a text, before any other
// step. AddedTokenMatcher finds them as `tokenizers` does: leftmost, longest first, with their
// flags. It is immutable, so any thread may use it.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "data/completion.h"
#include "text/split_pattern.h"

namespace tritonsmith::text {

struct AddedToken {
  TokenId id = 0;
  std::string content;
  bool special = false;      // control tokens; decoding for readers skips them
  bool normalized = false;   // matched in the normalised text instead of the original text
  bool lstrip = false;       // includes the white space before it
  bool rstrip = false;       // includes the white space after it
  bool single_word = false;  // does not match within a word
  bool operator==(const AddedToken&) const = default;
};

// The treatment of special tokens in a text. In a text by others they are an attack or an accident
// (plain); in a template they are intended (parse).
enum class SpecialText { parse, plain };

class AddedTokenMatcher {
 public:
  struct Section {
    ByteRange range;
    const AddedToken* token = nullptr;  // null: ordinary text
  };

  AddedTokenMatcher() = default;
  explicit AddedTokenMatcher(std::vector<AddedToken> tokens);

  // Cuts valid UTF-8 into tokens and the text between them. No section is empty.
  std::vector<Section> cut(std::string_view text, SpecialText special_text) const;

 private:
  const AddedToken* longest_at(std::string_view text) const;

  std::vector<AddedToken> tokens_;                             // longest first
  std::array<std::vector<std::uint32_t>, 256> by_first_byte_;  // indices of tokens_, longest first
};

}  // namespace tritonsmith::text
