// Computes rewards from completions and labels, for endpoints whose clients wait. The service extracts
// the kernels, judges them and computes the rewards by the rules of its own trainer. It keeps no
// state. Any thread.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "data/reward.h"
#include "serve/jobs/await_verdicts.h"
#include "serve/jobs/label.h"

namespace tritonsmith::serve {

struct Completion {
  std::string text;
  Json label;
};

struct ScoredCompletion {
  Reward reward;
  Verdict verdict;
};

// The program that asks, and the time until which it waits.
struct Requester {
  gym::service::Submitter submitter;
  Deadline deadline = Deadline::never();
};

// Returns the completions' rewards in order. Otherwise returns the reply that says why there are
// none: status 400 for a wrong label, which the message names, or 503.
using Scored = tl::expected<std::vector<ScoredCompletion>, gym::service::HttpReply>;
Scored score_completions(const gym::service::RouteContext& context, const Suite& suite,
                         std::span<const Completion> completions, const Requester& requester);

// Returns a completion without the tokens that end a turn, such as <|im_end|>, at its end.
std::string_view without_end_tokens(std::string_view completion);

}  // namespace tritonsmith::serve
