// Completion: the model's answer to one prompt, as tokens with their log-probabilities. Training
// uses these tokens and never tokenizes the text again.
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
  std::vector<TokenId> tokens;  // [T], includes the stop token if there was one
  std::vector<float> logprobs;  // [T], from the distribution that was sampled (temperature applied)
  std::string text;             // the decoded tokens without the stop token
  FinishReason finish = FinishReason::stop;
};

}  // namespace tritonsmith
