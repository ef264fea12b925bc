// Stop strings: what ends a completion as text does that no single token is. For
// GenerationRequest::is_complete, by who has the tokenizer.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "text/tokenizer.h"

namespace tritonsmith::rollout {

// True once the text of the tokens holds one of the strings, however they are cut into tokens. For
// one request alone: it remembers the tokens that it has seen. The tokenizer must outlive it.
std::function<bool(std::span<const TokenId>)> holds_any_of(std::vector<std::string> strings,
                                                           const text::Tokenizer& tokenizer);

// The text before the first of the strings; all of it where there is none.
std::string_view before_any_of(std::string_view text, std::span<const std::string> strings);

}  // namespace tritonsmith::rollout
