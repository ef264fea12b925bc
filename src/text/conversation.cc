#include "text/conversation.h"

#include <algorithm>
#include <numeric>

namespace tritonsmith::text {

std::vector<std::size_t> turns_to_show(std::span<const double> scores, ContextRule rule,
                                       std::size_t keep) {
  std::vector<std::size_t> shown(scores.size());
  std::iota(shown.begin(), shown.end(), std::size_t{0});
  if (rule == ContextRule::all || shown.size() <= keep) return shown;
  std::ranges::reverse(shown);  // the later ones first
  if (rule == ContextRule::best)
    std::ranges::stable_sort(shown, std::ranges::greater(),
                             [&](std::size_t turn) { return scores[turn]; });
  shown.resize(keep);
  std::ranges::sort(shown);
  return shown;
}

std::vector<TokenId> next_prompt(const ChatTemplate& chat, std::span<const TokenId> first_prompt,
                                 std::span<const PastTurn> turns,
                                 std::span<const std::size_t> shown) {
  RenderedChat rendered{.tokens = {first_prompt.begin(), first_prompt.end()},
                        .assistant_mask = std::vector<bool>(first_prompt.size(), false)};
  for (const std::size_t turn : shown) {
    chat.append_completion(rendered, turns[turn].completion);
    chat.append(rendered, {.role = Role::user, .content = turns[turn].feedback});
    chat.append_generation_prompt(rendered);
  }
  return std::move(rendered.tokens);
}

}  // namespace tritonsmith::text
