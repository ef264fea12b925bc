// Completion: what the model wrote for one prompt, as tokens with their log-probabilities. Tokens
// are never made anew from the text: training uses these.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/enum_names.h"

namespace tritonsmith {

using TokenId = std::int32_t;

enum class FinishReason { stop, length, cancelled };
template <>
inline constexpr auto enum_names<FinishReason> =
    names<FinishReason>({{FinishReason::stop, "stop"},
                         {FinishReason::length, "length"},
                         {FinishReason::cancelled, "cancelled"}});

struct Completion {
  std::vector<TokenId> prompt;  // [P]
  std::vector<TokenId> tokens;  // [T], the stop token included when there was one
  std::vector<float> logprobs;  // [T], of the sampler's own distribution (temperature applied)
  std::string text;             // decoded tokens without the stop token
  FinishReason finish = FinishReason::stop;
};

}  // namespace tritonsmith
