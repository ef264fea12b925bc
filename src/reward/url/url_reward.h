// UrlReward: a reward term of the user's own. It posts prompt, completion and verdict of many
// completions to a URL, and returns the number that the server gives each:
//
//   POST URL  {"schema": 1, "items": [{"task", "turn", "prompt", "completion", "kernel", "verdict"}]}
//         ->  {"rewards": [number, ...]}, or the list alone
//
// A server that is away, busy or wrong is asked again, with longer and longer waits. If no attempt
// gives a number for each completion, the call fails by a fault: a missing reward is never a zero.
// One thread calls it.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "data/verdict.h"
#include "reward/url/url_config.h"

namespace tritonsmith::reward {

// The name of the term in records and charts.
inline constexpr const char* kUrlTerm = "url";

struct UrlItem {
  std::string task;
  int turn = 0;  // of the conversation, from 0
  std::string prompt, completion, kernel;
  const Verdict* verdict = nullptr;
};

class UrlReward {
 public:
  // Waits so long before the next attempt; a test's own function returns at once.
  using Wait = std::function<void(double seconds)>;

  // Reads the token from its file, if one is named.
  static Result<UrlReward> make(const UrlRewardConfig& config, Wait wait = nullptr);

  // The reward of each item, in their order.
  Result<std::vector<double>> ask(std::span<const UrlItem> items) const;

 private:
  UrlReward(UrlRewardConfig config, std::string token, Wait wait)
      : config_(std::move(config)), token_(std::move(token)), wait_(std::move(wait)) {}
  Result<std::vector<double>> ask_batch(std::span<const UrlItem> items) const;

  UrlRewardConfig config_;
  std::string token_;
  Wait wait_;
};

// The rewards of an answer, which must have one for each of `count` completions.
Result<std::vector<double>> rewards_in(std::string_view body, std::size_t count);

}  // namespace tritonsmith::reward
