#include "serve/rewards/reward_routes.h"

#include "serve/jobs/scoring.h"
#include "serve/rewards/requests.h"

namespace tritonsmith::serve {
namespace {

using gym::service::error_reply;
using gym::service::HttpCall;
using gym::service::HttpReply;
using gym::service::json_reply;
using gym::service::RouteContext;
using gym::service::SecondsRange;

// Below what the clients wait, with time for a reply on its way.
constexpr SecondsRange kOpenRlhfWait{.usual = 165, .longest = 3600};
constexpr SecondsRange kSlimeWait{.usual = 105, .longest = 3600};

Result<Requester> requester_of(const HttpCall& call, const SecondsRange& range) {
  TRY_ASSIGN(const double seconds, gym::service::seconds_parameter(call, "wait", range));
  return Requester{.submitter = call.submitter, .deadline = Deadline::in_seconds(seconds)};
}

// The figures for logs, the same names for every completion. OpenRLHF asks for one completion at a
// time and puts the figures of a batch together. It takes no null there, and no member that some
// completions lack, and it averages what it gets. So the speed-up is not one of them: a kernel that
// was not timed has none, and 0 would count as one.
Json figures_of(const Verdict& verdict) {
  return {{"accepted", verdict.accepted ? 1 : 0},
          {"correct", verdict.correct ? 1 : 0},
          {"compiled", verdict.compiled ? 1 : 0}};
}

HttpReply openrlhf(const RouteContext& context, const Suite& suite, const HttpCall& call) {
  const auto requester = requester_of(call, kOpenRlhfWait);
  if (!requester) return error_reply(400, "bad_request", requester.error().message);
  const auto completions = completions_of_openrlhf(call.body);
  if (!completions) return error_reply(400, "bad_request", completions.error().message);
  const auto scored = score_completions(context, suite, *completions, *requester);
  if (!scored) return scored.error();
  Json rewards = Json::array(), scores = Json::array();
  Json logs = {
      {"accepted", Json::array()}, {"correct", Json::array()}, {"compiled", Json::array()}};
  for (const ScoredCompletion& one : *scored) {
    rewards.push_back(one.reward.total);
    scores.push_back(one.verdict.accepted ? 1.0 : 0.0);
    const Json figures = figures_of(one.verdict);
    for (const auto& [name, value] : figures.items()) logs[name].push_back(value);
  }
  return json_reply(200, {{"rewards", std::move(rewards)},
                          {"scores", std::move(scores)},
                          {"extra_logs", std::move(logs)}});
}

HttpReply slime(const RouteContext& context, const Suite& suite, const HttpCall& call) {
  const auto requester = requester_of(call, kSlimeWait);
  if (!requester) return error_reply(400, "bad_request", requester.error().message);
  const auto completion = completion_of_slime(call.body);
  if (!completion) return error_reply(400, "bad_request", completion.error().message);
  const auto scored = score_completions(context, suite, {&*completion, 1}, *requester);
  if (!scored) return scored.error();
  const ScoredCompletion& one = scored->front();
  const std::string key = call.parameter("reward_key");
  if (key.empty()) return json_reply(200, one.reward.total);
  Json reply = figures_of(one.verdict);
  if (one.verdict.speedup) reply["speedup"] = *one.verdict.speedup;
  reply[key] = one.reward.total;
  return json_reply(200, reply);
}

}  // namespace

std::vector<gym::service::Route> reward_routes(const RouteContext& context, const Suite& suite) {
  return {
      {.method = "POST",
       .path = "/v1/reward/openrlhf",
       .answer = [&](const HttpCall& call, const auto&) { return openrlhf(context, suite, call); }},
      {.method = "POST",
       .path = "/v1/reward/slime",
       .answer = [&](const HttpCall& call, const auto&) { return slime(context, suite, call); }}};
}

}  // namespace tritonsmith::serve
