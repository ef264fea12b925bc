// Treats Unicode as the package `tokenizers` does: it repairs invalid UTF-8, and makes normal form
// C with its (older) tables. The functions are pure, so any thread may call them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tritonsmith::text {

// One step through foreign bytes. It is either a whole valid character, or the longest valid
// beginning of a broken one ("maximal subpart", at least one byte). Repair replaces the latter by a
// single U+FFFD.
struct Utf8Step {
  std::size_t bytes = 0;
  bool valid = false;
  bool cut_short = false;  // invalid only because the text ends; more bytes could complete it
  char32_t code_point = 0;
};
// `text` must not be empty.
Utf8Step utf8_step(std::string_view text);

// Returns valid UTF-8 unchanged. In other text it replaces invalid parts by U+FFFD, as Python's
// decode("utf-8", errors="replace") and Rust's from_utf8_lossy do.
std::string repair_utf8(std::string_view text);

std::string utf8_of(char32_t code_point);

// Returns the normal form C of valid UTF-8. `tokenizers` has the tables of Unicode 9: characters
// assigned later are not reordered or composed.
std::string to_nfc(std::string_view text);

}  // namespace tritonsmith::text
