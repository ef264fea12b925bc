#include "eval/conversation_results.h"

#include <algorithm>

namespace tritonsmith::eval {
namespace {

void take_faster(const Verdict& verdict, std::optional<double>& fastest) {
  if (verdict.accepted && verdict.speedup)
    fastest = std::max(fastest.value_or(*verdict.speedup), *verdict.speedup);
}

}  // namespace

ConversationResults results_after(int turn, std::span<const Conversation> conversations) {
  ConversationResults results;
  for (const Conversation& conversation : conversations) {
    const auto count = std::min(conversation.verdicts.size(), static_cast<std::size_t>(turn));
    const auto played = std::span(conversation.verdicts).first(count);
    if (played.empty()) continue;
    results.last += played.back().accepted ? 1 : 0;
    results.best += std::ranges::any_of(played, &Verdict::accepted) ? 1 : 0;
    take_faster(played.back(), results.last_speedup);
    for (const Verdict& verdict : played) take_faster(verdict, results.best_speedup);
  }
  return results;
}

}  // namespace tritonsmith::eval
