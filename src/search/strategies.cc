#include "search/strategies.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/rng.h"
#include "text/feedback.h"

namespace tritonsmith::search {
namespace {

using Round = std::vector<Ask>;

std::uint64_t draw_of(int chain, int turn) {
  return (static_cast<std::uint64_t>(chain) << 16) + static_cast<std::uint64_t>(turn);
}

// Each conversation goes on after the verdict on its last turn. A new one begins when fewer than
// `workers` are going on.
std::optional<Ask> next_turn(const SearchConfig& config, const History& history) {
  std::map<int, int> last_of;  // conversation -> its last ask
  for (const Ask& ask : history.asks())
    if (ask.chain != kNone) last_of[ask.chain] = ask.number;
  int going_on = 0;
  for (const auto& [chain, last] : last_of) {
    const Attempt* attempt = history.attempt(last);
    if (attempt == nullptr) {
      ++going_on;
      continue;
    }
    if (episode::is_over(attempt->ask.round, attempt->verdict, config.turns)) continue;
    return Ask{.round = attempt->ask.round + 1,
               .chain = chain,
               .parent = last,
               .is_greedy = attempt->ask.is_greedy,
               .draw = draw_of(chain, attempt->ask.round + 1)};
  }
  const int chain = static_cast<int>(last_of.size());
  if (going_on >= config.workers || (config.chains > 0 && chain >= config.chains))
    return std::nullopt;
  return Ask{.chain = chain, .is_greedy = chain == 0, .draw = draw_of(chain, 0)};
}

Ask next_sample(const SearchConfig& config, const History& history) {
  const auto number = static_cast<int>(history.asks().size());
  return {.round = number / (config.width * config.branch),
          .is_greedy = number == 0,
          .draw = static_cast<std::uint64_t>(number)};
}

Round fresh_round(int size) {
  Round round(static_cast<std::size_t>(size));
  round.front().is_greedy = true;
  return round;
}

Round beam_round(const SearchConfig& config, const History& history, int number) {
  if (number == 0) return fresh_round(config.width * config.branch);
  std::vector<int> parents = history.ranked(number);
  parents.resize(std::min(parents.size(), static_cast<std::size_t>(config.width)));
  Round round;
  for (int i = 0; i < config.width * config.branch; ++i) {
    const auto position = static_cast<std::size_t>(i / config.branch);
    round.push_back({.parent = position < parents.size() ? parents[position] : kNone});
  }
  return round;
}

// Chooses parents from the archive, the better ones more often: of two ranks drawn, the better one
// wins.
Round evolution_round(const SearchConfig& config, const History& history, int number,
                      std::uint64_t seed) {
  if (number == 0) return fresh_round(config.width * config.branch);
  const std::vector<int> archive = archive_of(history, number, config.width);
  Rng rng(seed, "evolution", static_cast<std::uint64_t>(number));
  Round round;
  for (int i = 0; i < config.width * config.branch; ++i) {
    Ask ask;
    if (!archive.empty() && rng.uniform() >= config.fresh) {
      ask.parent = archive[std::min(rng.below(archive.size()), rng.below(archive.size()))];
      const int other = archive[rng.below(archive.size())];
      if (other != ask.parent && history.attempt(other)->verdict.accepted) ask.other = other;
    }
    round.push_back(ask);
  }
  return round;
}

// Rounds of one question for ideas alternate with rounds of their implementations.
Round branching_round(const SearchConfig& config, const History& history, int number) {
  const std::vector<int> ranked = history.ranked(number);
  const int parent = ranked.empty() ? kNone : ranked.front();
  if (number % 2 == 0) return {{.kind = AskKind::ideas, .parent = parent}};
  std::vector<std::string> ideas;
  for (const Ask& ask : history.asks())
    if (ask.round == number - 1) ideas = ideas_in(history.attempt(ask.number)->text, config.width);
  if (ideas.empty()) ideas.resize(static_cast<std::size_t>(config.width));  // kernels all the same
  Round round;
  for (const std::string& idea : ideas)
    for (int i = 0; i < config.branch; ++i) round.push_back({.parent = parent, .idea = idea});
  if (number == 1) round.front().is_greedy = true;
  return round;
}

// Until a kernel is accepted, a share of a round's attempts begins anew. A model that was trained for
// one turn mends few failed kernels, and its fresh ones are more often right.
void begin_some_anew(const SearchConfig& config, const History& history, std::uint64_t seed,
                     Round& round) {
  const int number = round.front().round;
  const std::vector<int> ranked = history.ranked(number);
  if (!ranked.empty() && history.attempt(ranked.front())->verdict.accepted) return;
  Rng rng(seed, "fresh", static_cast<std::uint64_t>(number));
  for (Ask& ask : round)
    if (rng.uniform() < config.fresh && ask.kind == AskKind::kernel) ask.parent = kNone;
}

Round round_of(const SearchConfig& config, const History& history, int number, std::uint64_t seed) {
  if (config.strategy == Strategy::evolution) return evolution_round(config, history, number, seed);
  Round round = config.strategy == Strategy::beam ? beam_round(config, history, number)
                                                  : branching_round(config, history, number);
  for (Ask& ask : round) ask.round = number;
  begin_some_anew(config, history, seed, round);
  return round;
}

std::optional<Ask> next_of_round(const SearchConfig& config, const History& history,
                                 std::uint64_t seed) {
  const auto& asks = history.asks();
  int number = asks.empty() ? 0 : asks.back().round;
  if (!asks.empty() && is_last_step(asks.back().kind)) {  // the search was extended after these
    if (history.in_flight() > 0) return std::nullopt;
    ++number;
    if (config.strategy == Strategy::branching) number += number % 2;  // it begins with ideas
  }
  auto begun = static_cast<std::size_t>(
      std::ranges::count_if(asks, [&](const Ask& ask) { return ask.round == number; }));
  Round round = round_of(config, history, number, seed);
  if (begun >= round.size()) {
    if (history.in_flight() > 0) return std::nullopt;
    round = round_of(config, history, ++number, seed);
    begun = 0;
  }
  Ask ask = round[begun];
  ask.round = number;
  ask.draw = asks.size();
  return ask;
}

}  // namespace

std::optional<Ask> next_ask(const SearchConfig& config, const History& history,
                            std::uint64_t seed) {
  std::optional<Ask> ask;
  if (config.strategy == Strategy::sequential)
    ask = next_turn(config, history);
  else if (config.strategy == Strategy::parallel)
    ask = next_sample(config, history);
  else
    ask = next_of_round(config, history, seed);
  if (ask) ask->number = static_cast<int>(history.asks().size());
  return ask;
}

std::vector<int> archive_of(const History& history, int round, int width) {
  std::vector<int> archive;
  std::set<std::string> kinds;
  for (const int number : history.ranked(round)) {
    const bool is_new = kinds.insert(kind_of(history.attempt(number)->verdict)).second;
    if (is_new || std::ssize(archive) < width) archive.push_back(number);
  }
  return archive;
}

std::string kind_of(const Verdict& verdict) {
  if (!verdict.accepted) return verdict.error ? class_name(*verdict.error) : "refused";
  int launches = 0;
  for (const KernelReport& kernel : verdict.kernels) launches += kernel.launches;
  return fmt::format("{} kernels, {} launches, {}", verdict.kernels.size(), launches,
                     verdict.aten.empty() ? "no torch" : "torch");
}

std::vector<std::string> ideas_in(std::string_view text, int most) {
  constexpr std::size_t longest = 400;
  std::vector<std::string> ideas;
  if (const std::size_t end = text.rfind("</think"); end != std::string_view::npos)
    text.remove_prefix(end);
  while (!text.empty() && std::ssize(ideas) < most) {
    const std::string_view line = trimmed(text.substr(0, text.find('\n')));
    text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1);
    const std::size_t digits = std::min(line.find_first_not_of("0123456789"), line.size());
    const std::string_view rest = line.substr(digits);
    const bool is_numbered = digits > 0 && (rest.starts_with(". ") || rest.starts_with(") "));
    if (!is_numbered && !line.starts_with("- ") && !line.starts_with("* ")) continue;
    const std::string_view idea = trimmed(rest.substr(std::min<std::size_t>(2, rest.size())));
    if (!idea.empty()) ideas.push_back(text::one_line(idea, longest));
  }
  return ideas;
}

}  // namespace tritonsmith::search
