// Translates the regular expressions of tokenizer.json, which `tokenizers` gives to Oniguruma, to
// PCRE2, so that both match the same text. The syntax hardly differs; the character classes do:
// Oniguruma's \s is White_Space (PCRE2's also holds U+180E), and the Oniguruma that `tokenizers`
// bundles knows Unicode 16 (Debian's PCRE2 knows 14).
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"

namespace tritonsmith::text {

// Fails on what cannot be carried over exactly: unknown escapes and properties, nested or
// intersected classes.
Result<std::string> pcre2_from_oniguruma(std::string_view pattern);

}  // namespace tritonsmith::text
