#include "search/history.h"

#include <algorithm>
#include <set>

#include "base/check.h"

namespace tritonsmith::search {

void History::begin(const Ask& ask) {
  CHECK(ask.number == std::ssize(asks_), "ask {} follows {} others", ask.number, asks_.size());
  asks_.push_back(ask);
  attempts_.emplace_back();
}

void History::finish(Attempt attempt) {
  const int number = attempt.ask.number;
  auto& entry = attempts_.at(static_cast<std::size_t>(number));
  CHECK(!entry, "attempt {} ended twice", number);
  spent_.tokens += attempt.usage.prompt_tokens + attempt.usage.completion_tokens;
  spent_.money += attempt.money;
  spent_.judgements += !attempt.kernel.empty() && attempt.same_as == kNone ? 1 : 0;
  entry = std::move(attempt);
  finished_.push_back(number);
  if (is_below_triton(entry->ask.kind)) return;
  ++since_best_;
  if (!entry->verdict.accepted || (best_ && !is_better(*entry, *this->attempt(*best_)))) return;
  best_ = number;
  since_best_ = 0;
}

const Attempt* History::attempt(int number) const {
  const auto& entry = attempts_.at(static_cast<std::size_t>(number));
  return entry ? &*entry : nullptr;
}

std::optional<int> History::first_with(const std::string& kernel) const {
  const auto at = first_with_.find(kernel);
  return at == first_with_.end() ? std::nullopt : std::optional(at->second);
}

std::vector<int> History::ranked(int round) const {
  std::vector<int> numbers;
  std::set<std::string_view> seen;
  for (const auto& attempt : attempts_)
    if (attempt && attempt->ask.round < round && !attempt->kernel.empty() &&
        seen.insert(trimmed(attempt->kernel)).second)
      numbers.push_back(attempt->ask.number);
  std::ranges::stable_sort(numbers,
                           [this](int a, int b) { return is_better(*attempt(a), *attempt(b)); });
  return numbers;
}

}  // namespace tritonsmith::search
