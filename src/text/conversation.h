// Conversation: the messages of a later turn. They are the first prompt's messages, then, for each
// earlier turn that is shown, what the assistant wrote and the feedback on it.
//
// If the assistant's messages carry their tokens and all earlier turns are shown, rendering is
// exact: the tokens of a turn's prompt and completion begin the next turn's prompt. So training
// gets a whole trajectory as one sequence. Context management chooses the turns that are shown. Dr.
// Kernel (arXiv 2602.05885) shows the best 4 by reward.
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
  Message answer;  // the assistant's
  std::string feedback;
  double score = 0;
};

// The messages of the next turn's prompt. `shown` holds indices of `turns`.
std::vector<Message> next_messages(std::span<const Message> first, std::span<const PastTurn> turns,
                                   std::span<const std::size_t> shown);

}  // namespace tritonsmith::text

template <>
inline constexpr auto tritonsmith::enum_names<tritonsmith::text::ContextRule> =
    tritonsmith::names<tritonsmith::text::ContextRule>(
        {{tritonsmith::text::ContextRule::all, "all"},
         {tritonsmith::text::ContextRule::best, "best"},
         {tritonsmith::text::ContextRule::last, "last"}});
