// Stop strings: texts that end a completion and that no single token represents. The owner of the
// tokenizer uses them for GenerationRequest::is_complete.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "text/tokenizer.h"

namespace tritonsmith::rollout {

// Returns a function that is true once the text of the tokens contains one of the strings, however
// it is cut into tokens. The function serves one request, because it remembers the tokens that it
// has seen. The tokenizer must outlive it.
std::function<bool(std::span<const TokenId>)> holds_any_of(std::vector<std::string> strings,
                                                           const text::Tokenizer& tokenizer);

// Returns the text before the first of the strings, or the whole text if it contains none.
std::string_view before_any_of(std::string_view text, std::span<const std::string> strings);

}  // namespace tritonsmith::rollout
