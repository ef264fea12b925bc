#include "text/conversation.h"

#include <algorithm>
#include <numeric>

namespace tritonsmith::text {

std::vector<std::size_t> turns_to_show(std::span<const double> scores, ContextRule rule,
                                       std::size_t keep) {
  std::vector<std::size_t> shown(scores.size());
  std::iota(shown.begin(), shown.end(), std::size_t{0});
  if (rule == ContextRule::all || shown.size() <= keep) return shown;
  std::ranges::reverse(shown);  // later turns come first
  if (rule == ContextRule::best)
    std::ranges::stable_sort(shown, std::ranges::greater(),
                             [&](std::size_t turn) { return scores[turn]; });
  shown.resize(keep);
  std::ranges::sort(shown);
  return shown;
}

std::vector<Message> next_messages(std::span<const Message> first, std::span<const PastTurn> turns,
                                   std::span<const std::size_t> shown) {
  std::vector<Message> messages(first.begin(), first.end());
  for (const std::size_t turn : shown) {
    messages.push_back(turns[turn].answer);
    messages.push_back({.role = Role::user, .content = turns[turn].feedback});
  }
  return messages;
}

}  // namespace tritonsmith::text
