// Conversation: the prompt of a later turn. It consists of the first prompt and, for each earlier
// turn that is shown, the sampled completion and its feedback. It is token-exact. If all earlier
// turns are shown, each turn's prompt plus its completion is a prefix of the next prompt. A whole
// trajectory is then one sequence for training. Context management decides which turns are shown
// (Dr. Kernel, arXiv 2602.05885: the best 4 by reward).
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/enum_names.h"
#include "text/chat.h"

namespace tritonsmith::text {

// all: every earlier turn. best: the turns with the highest scores. last: the latest turns. The
// shown turns keep their order.
enum class ContextRule { all, best, last };

// Returns the indices of the turns to show in ascending order: all, or `keep` of them. Of turns
// with equal scores the later one is shown.
std::vector<std::size_t> turns_to_show(std::span<const double> scores, ContextRule rule,
                                       std::size_t keep);

struct PastTurn {
  std::vector<TokenId> completion;  // the sampled tokens
  std::string feedback;
  double score = 0;
};

// Returns the ids of the next turn's prompt.
std::vector<TokenId> next_prompt(const ChatTemplate& chat, std::span<const TokenId> first_prompt,
                                 std::span<const PastTurn> turns,
                                 std::span<const std::size_t> shown);

}  // namespace tritonsmith::text

template <>
inline constexpr auto tritonsmith::enum_names<tritonsmith::text::ContextRule> =
    tritonsmith::names<tritonsmith::text::ContextRule>(
        {{tritonsmith::text::ContextRule::all, "all"},
         {tritonsmith::text::ContextRule::best, "best"},
         {tritonsmith::text::ContextRule::last, "last"}});
