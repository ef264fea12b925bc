#include "search/ending.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/counted.h"
#include "gym/api/task_check.h"
#include "search/ptx_edits.h"

namespace tritonsmith::search {
namespace {

// The share of the speed of light that an attempt reaches, if it is enough to end the search.
std::optional<double> enough_light(const SearchConfig& config, const Attempt& attempt) {
  const auto& light = attempt.verdict.speed_of_light;
  if (config.light <= 0 || !light || light->share < config.light) return std::nullopt;
  return light->share;
}

std::optional<std::string> limit_reached(const SearchConfig& config, const Spent& spent) {
  if (config.judgements > 0 && spent.judgements >= config.judgements)
    return counted_were(spent.judgements, "kernel") + " judged";
  if (config.tokens > 0 && spent.tokens >= config.tokens)
    return fmt::format("{} tokens were used", spent.tokens);
  if (config.money > 0 && spent.money >= config.money)
    return fmt::format("{:.2f} was spent", spent.money);
  return std::nullopt;
}

// A share of the speed of light ends no search whose judge does not know that speed.
std::string unknown_light(const SearchConfig& config, const History& history) {
  const auto best = history.best();
  if (config.light <= 0 || !best || history.attempt(*best)->verdict.speed_of_light) return "";
  return "; how near the best kernel is to the speed of light is unknown: that needs a GPU which "
         "`tritonsmith doctor` has measured";
}

}  // namespace

std::optional<std::string> failed_task(const History& history) {
  if (history.best()) return std::nullopt;
  for (const int number : history.finished()) {
    const auto& error = history.attempt(number)->verdict.error;
    if (error && error->error_class == ErrorClass::task_failed)
      return gym::api::words_for_failed_task(error->message);
  }
  return std::nullopt;
}

std::optional<std::string> reason_to_end(const SearchConfig& config, const History& history) {
  if (const auto best = history.best()) {
    if (config.until == Until::first) return "a kernel was accepted";
    if (const auto share = enough_light(config, *history.attempt(*best)))
      return fmt::format("the best kernel reaches {:.0f} % of the speed of light", 100 * *share);
  }
  if (auto failed = failed_task(history)) return failed;
  if (config.patience > 0 && history.since_best() >= config.patience)
    return fmt::format("{} attempts in a row brought nothing better", history.since_best());
  // A search that was extended may have come to its last steps before.
  const auto attempts =
      std::ranges::count_if(history.asks(), [](const Ask& ask) { return !is_last_step(ask.kind); });
  if (attempts >= config.attempts) return counted_were(config.attempts, "attempt") + " made";
  return limit_reached(config, history.spent());
}

bool has_room_for_one_more(const SearchConfig& config, const History& history) {
  return config.judgements == 0 ||
         history.spent().judgements + history.in_flight() < config.judgements;
}

bool may_edit(const SearchConfig& config, const History& history) {
  if (limit_reached(config, history.spent()) || !has_room_for_one_more(config, history))
    return false;
  const auto fastest = fastest_ptx(history);
  return !fastest || !enough_light(config, *history.attempt(*fastest));
}

std::string notes_at_the_end(const SearchConfig& config, const History& history) {
  return words_for_edits(config, history) + unknown_light(config, history);
}

}  // namespace tritonsmith::search
