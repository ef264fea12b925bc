#include "serve/nemo_gym/nemo_gym_routes.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "serve/jobs/scoring.h"

namespace tritonsmith::serve::nemo_gym {
namespace {

using gym::service::error_reply;
using gym::service::HttpCall;
using gym::service::HttpReply;
using gym::service::json_reply;
using gym::service::RouteContext;
using Samples = std::map<std::string, std::vector<double>>;  // by the number's name

constexpr const char* kTaskIndex = "_ng_task_index";
constexpr std::size_t kMostResponses = 100'000;
constexpr gym::service::SecondsRange kWait{.usual = 300, .longest = 3600};

// Where a row says what the task is: in `label`, in `verifier_metadata`, or in
// its own members.
Json label_of(const Json& row) {
  if (row.contains("label") && !row["label"].is_null()) return row["label"];
  if (row.contains("verifier_metadata") && row["verifier_metadata"].is_object())
    return row["verifier_metadata"];
  return row;
}

HttpReply verify(const RouteContext& context, const Suite& suite, const HttpCall& call) {
  const auto seconds = gym::service::seconds_parameter(call, "wait", kWait);
  if (!seconds) return error_reply(400, "bad_request", seconds.error().message);
  auto row = parse_json(call.body);
  if (!row) return error_reply(422, "bad_request", row.error().message);
  if (!row->is_object() || !row->contains("response"))
    return error_reply(422, "bad_request", "the body must be a row of a data set, with `response`");
  auto text = response_text((*row)["response"]);
  if (!text) return error_reply(422, "bad_request", text.error().message);
  const Completion completion{.text = *std::move(text), .label = label_of(*row)};
  const auto scored =
      score_completions(context, suite, {&completion, 1},
                        {.submitter = call.submitter, .deadline = Deadline::in_seconds(*seconds)});
  if (!scored) return scored.error();
  const ScoredCompletion& one = scored->front();
  Json components = Json::object();
  for (const RewardTerm& term : one.reward.terms) components[term.name] = term.value * term.weight;
  (*row)["reward"] = one.reward.total;
  (*row)["reward_components"] = std::move(components);
  (*row)["accepted"] = one.verdict.accepted;
  (*row)["correct"] = one.verdict.correct;
  (*row)["compiled"] = one.verdict.compiled;
  (*row)["speedup"] = one.verdict.speedup ? Json(*one.verdict.speedup) : Json();
  (*row)["verdict"] = to_json(one.verdict);
  return json_reply(200, *row);
}

HttpReply aggregate(const HttpCall& call) {
  const auto body = parse_json(call.body);
  if (!body) return error_reply(422, "bad_request", body.error().message);
  if (!body->is_object() || !body->contains("verify_responses"))
    return error_reply(422, "bad_request", "the body must be an object with `verify_responses`");
  const auto metrics = aggregate_metrics((*body)["verify_responses"]);
  return metrics ? json_reply(200, *metrics)
                 : error_reply(422, "bad_request", metrics.error().message);
}

// Adds the numbers of a response. A flag counts as 0 or 1.
void add(const Json& response, Samples& samples) {
  for (const auto& [name, value] : response.items()) {
    if (name.starts_with('_')) continue;  // NeMo Gym's own indices
    if (value.is_number()) samples[name].push_back(value.get<double>());
    if (value.is_boolean()) samples[name].push_back(value.get<bool>() ? 1 : 0);
  }
}

Json figures_of(const Samples& samples) {
  Json figures = Json::object();
  for (const auto& [name, unsorted] : samples) {
    std::vector<double> values = unsorted;
    std::ranges::sort(values);
    double sum = 0, squares = 0;
    for (const double value : values) sum += value;
    const double count = static_cast<double>(values.size()), mean = sum / count;
    for (const double value : values) squares += (value - mean) * (value - mean);
    const std::size_t middle = values.size() / 2;
    figures["mean/" + name] = mean;
    figures["max/" + name] = values.back();
    figures["min/" + name] = values.front();
    figures["median/" + name] =
        values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
    figures["std/" + name] = values.size() > 1 ? std::sqrt(squares / (count - 1)) : 0;
  }
  return figures;
}

}  // namespace

Result<std::string> response_text(const Json& response) {
  if (!response.is_object() || !response.contains("output") || !response["output"].is_array())
    return fail("response.output must be a list");
  std::string text;
  for (const Json& item : response["output"]) {
    if (!item.is_object() || item.value("type", Json()) != "message" ||
        item.value("role", Json("assistant")) != "assistant")
      continue;
    const Json content = item.value("content", Json());
    text.clear();
    if (content.is_string()) text = content.get<std::string>();
    if (!content.is_array()) continue;
    for (const Json& part : content)
      if (part.is_object() && part.contains("text") && part["text"].is_string())
        text += part["text"].get<std::string>();
  }
  return std::string(without_end_tokens(text));
}

Result<Json> aggregate_metrics(const Json& responses) {
  if (!responses.is_array()) return fail("verify_responses must be a list");
  if (responses.size() > kMostResponses)
    return fail("verify_responses has {} items, at most {} are taken", responses.size(),
                kMostResponses);
  std::map<std::int64_t, Samples> by_task;
  Samples all;
  for (std::size_t i = 0; i < responses.size(); ++i) {
    const Json& response = responses[i];
    if (!response.is_object() || !response.value("reward", Json()).is_number())
      return fail("verify_responses[{}] has no `reward`", i);
    const Json task = response.value(kTaskIndex, Json());
    if (task.is_number_integer()) add(response, by_task[task.get<std::int64_t>()]);
    add(response, all);
  }
  Json groups = Json::array();
  for (const auto& [task, samples] : by_task) {
    groups.push_back(figures_of(samples));
    groups.back()[kTaskIndex] = task;
  }
  const Json over_all = figures_of(all);
  Json key = Json::object();
  for (const char* name : {"mean/reward", "mean/accepted", "mean/correct", "mean/compiled"})
    if (over_all.contains(name)) key[name] = over_all[name];
  return Json{{"group_level_metrics", std::move(groups)},
              {"agent_metrics", over_all},
              {"key_metrics", std::move(key)}};
}

std::vector<gym::service::Route> nemo_gym_routes(const RouteContext& context, const Suite& suite) {
  return {
      {.method = "POST",
       .path = "/seed_session",
       .answer = [](const auto&, const auto&) { return json_reply(200, Json::object()); }},
      {.method = "POST",
       .path = "/verify",
       .answer = [&](const HttpCall& call, const auto&) { return verify(context, suite, call); }},
      {.method = "POST",
       .path = "/aggregate_metrics",
       .answer = [](const HttpCall& call, const auto&) { return aggregate(call); }}};
}

}  // namespace tritonsmith::serve::nemo_gym
