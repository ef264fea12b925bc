// Completion: the model's answer to one prompt, as tokens with their log-probabilities. Training
// uses these tokens and never tokenizes the text again. A remote model may give only text and usage.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/enum_names.h"

namespace tritonsmith {

using TokenId = std::int32_t;

// filtered: the server withheld the rest because of its content.
enum class FinishReason { stop, length, cancelled, filtered };
template <>
inline constexpr auto enum_names<FinishReason> =
    names<FinishReason>({{FinishReason::stop, "stop"},
                         {FinishReason::length, "length"},
                         {FinishReason::cancelled, "cancelled"},
                         {FinishReason::filtered, "filtered"}});

// Tokens that a completion took, as its writer counts them.
struct Usage {
  std::int64_t prompt_tokens = 0;
  std::int64_t cached_prompt_tokens = 0;  // of prompt_tokens: a server's cache had them
  std::int64_t completion_tokens = 0;     // reasoning included
  std::int64_t reasoning_tokens = 0;      // of completion_tokens
  bool operator==(const Usage&) const = default;
};

struct Completion {
  std::vector<TokenId> prompt;  // [P]
  std::vector<TokenId> tokens;  // [T], includes the stop token if there was one
  std::vector<float> logprobs;  // [T], from the distribution that was sampled (temperature applied)
  std::string text;             // the decoded tokens without the stop token
  FinishReason finish = FinishReason::stop;
  std::string reasoning;  // what a server returns beside the text; empty where it is in the text
  Usage usage;
};

}  // namespace tritonsmith
