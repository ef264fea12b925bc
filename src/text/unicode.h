// Unicode as the package `tokenizers` sees it: repair of invalid UTF-8, and the normal form C of
// its (older) tables. Pure functions, any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tritonsmith::text {

// One step through foreign bytes: either a whole valid character, or the longest beginning of one
// that is cut short or wrong ("maximal subpart", at least one byte), which repair replaces by a
// single U+FFFD.
struct Utf8Step {
  std::size_t bytes = 0;
  bool valid = false;
  bool cut_short = false;  // invalid only because the text ends: more bytes could complete it
  char32_t code_point = 0;
};
// `text` must not be empty.
Utf8Step utf8_step(std::string_view text);

// The text itself when it is valid UTF-8, else with U+FFFD in place of what is not, as Python's
// decode("utf-8", errors="replace") and Rust's from_utf8_lossy do.
std::string repair_utf8(std::string_view text);

std::string utf8_of(char32_t code_point);

// Normal form C of valid UTF-8. `tokenizers` carries tables of Unicode 9: characters assigned later
// that would be reordered or composed today are left as they are.
std::string to_nfc(std::string_view text);

}  // namespace tritonsmith::text
