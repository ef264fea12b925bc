// Added tokens: strings that become one token wherever they stand in a text, before anything else
// looks at it. AddedTokenMatcher finds them as `tokenizers` does: leftmost, longest first, with
// their flags. Immutable; any thread.
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
  bool special = false;      // control tokens: skipped when decoding for readers
  bool normalized = false;   // looked for in the normalised text instead of the text as given
  bool lstrip = false;       // swallows the white space before it
  bool rstrip = false;       // and after it
  bool single_word = false;  // not within a word
  bool operator==(const AddedToken&) const = default;
};

// Special tokens that stand in a text written by others are an attack or an accident; those in a
// template are meant.
enum class SpecialText { parse, plain };

class AddedTokenMatcher {
 public:
  struct Section {
    ByteRange range;
    const AddedToken* token = nullptr;  // none: ordinary text
  };

  AddedTokenMatcher() = default;
  explicit AddedTokenMatcher(std::vector<AddedToken> tokens);

  // Cuts valid UTF-8 into tokens and what lies between them; no section is empty.
  std::vector<Section> cut(std::string_view text, SpecialText special_text) const;

 private:
  const AddedToken* longest_at(std::string_view text) const;

  std::vector<AddedToken> tokens_;                             // longest first
  std::array<std::vector<std::uint32_t>, 256> by_first_byte_;  // indices of tokens_, longest first
};

}  // namespace tritonsmith::text
