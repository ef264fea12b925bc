// Translates regular expressions of tokenizer.json to PCRE2, so that both match the same text.
// `tokenizers` uses Oniguruma. The syntax hardly differs, but character classes do. Oniguruma's \s
// is White_Space, while PCRE2's also contains U+180E. The Oniguruma of `tokenizers` has the tables
// of Unicode 16, Debian's PCRE2 those of Unicode 14.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"

namespace tritonsmith::text {

// Fails for patterns without an exact translation: unknown escapes and properties, nested or
// intersected classes.
Result<std::string> pcre2_from_oniguruma(std::string_view pattern);

}  // namespace tritonsmith::text
