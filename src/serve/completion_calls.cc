#include "serve/completion_calls.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "data/kernel.h"
#include "data/task.h"
#include "data/verdict.h"
#include "gym/api/missing_kernel.h"
#include "reward/terms.h"
#include "serve/jobs/label.h"
#include "text/extract.h"
#include "text/feedback.h"
#include "text/prompt.h"

namespace tritonsmith::serve {
namespace {

// Refuses unknown members. Otherwise a misspelt member would have no effect and no message.
Status check_members(const Json& json, const std::vector<std::string>& known) {
  if (!json.is_object()) return fail("an object is expected");
  for (const auto& [name, value] : json.items())
    if (std::ranges::find(known, name) == known.end())
      return fail("there is no member '{}'; did you mean '{}'?", name, nearest_name(name, known));
  return ok();
}

// The similarity of two texts can take time by the product of their lengths. Kernels are far shorter
// than this.
constexpr std::size_t kLongestComparedText = std::size_t{64} << 10;
constexpr std::size_t kMostComparedText = std::size_t{4} << 20;  // of one request

// Applies `each` to every item of the list `asked` and returns {answered: [...]}.
Result<Json> map_list(const Json& body, const std::string& asked, const std::string& answered,
                      const auto& each) {
  if (!body.contains(asked) || !body[asked].is_array()) return fail("{} must be a list", asked);
  const Json& items = body[asked];
  if (items.size() > kMostItems)
    return fail("{} has {} items, at most {} are taken", asked, items.size(), kMostItems);
  Json answers = Json::array();
  for (std::size_t i = 0; i < items.size(); ++i) {
    Result<Json> answer = each(items[i]);
    if (!answer) return tl::unexpected(answer.error().within(fmt::format("{}[{}]", asked, i)));
    answers.push_back(*std::move(answer));
  }
  return Json{{answered, std::move(answers)}};
}

// Applies the members of `json` that are settings of a Config to its defaults.
template <typename Config>
Result<Config> config_from(const Json& json, const std::vector<std::string>& names) {
  Config config;
  Settings settings;
  for (const std::string& name : names)
    if (json.contains(name)) settings.emplace_back(name, json[name]);
  TRY(apply_settings(config, settings, "body"));
  return config;
}

Result<Json> prompts(const Json& body) {
  const std::vector<std::string> settings = {"style", "kind", "system"};
  TRY(check_members(body, {"tasks", "style", "kind", "system"}));
  TRY_ASSIGN(const auto config, config_from<text::PromptConfig>(body, settings));
  return map_list(body, "tasks", "prompts", [&](const Json& item) -> Result<Json> {
    JsonReader reader(item);
    const Task task{.source = reader.string("source"),
                    .instruction = reader.string("instruction", "")};
    TRY(reader.status());
    Json messages = Json::array();
    for (const text::Message& message : text::prompt_for(task, config))
      messages.push_back({{"role", name_of(message.role)}, {"content", message.content}});
    return messages;
  });
}

Result<Json> extract(const Json& body) {
  TRY(check_members(body, {"completions"}));
  return map_list(body, "completions", "kernels", [](const Json& item) -> Result<Json> {
    if (!item.is_string()) return fail("a completion must be a string");
    const Kernel kernel = text::extract_kernel(item.get<std::string>());
    Json findings = Json::array();
    for (const Finding& finding : kernel.findings) findings.push_back(to_json(finding));
    Json answer = {{"source", kernel.source}, {"findings", std::move(findings)}};
    if (kernel.source.empty())
      answer["verdict"] =
          to_json(gym::api::missing_kernel_verdict({.id = "task"}, kernel, Policy::strict));
    return answer;
  });
}

Result<Json> feedback(const Json& body) {
  TRY(check_members(body, {"verdicts", "style"}));
  TRY_ASSIGN(const auto config, config_from<text::PromptConfig>(body, {"style"}));
  return map_list(body, "verdicts", "feedback", [&](const Json& item) -> Result<Json> {
    TRY_ASSIGN(const Verdict verdict, verdict_from_json(item));
    return Json(text::feedback_text(verdict, config.style));
  });
}

// Adds what similarity compares to `compared`, the bytes of the request so far.
Status check_compared(std::string_view kernel, std::string_view solution, std::size_t& compared) {
  if (std::max(kernel.size(), solution.size()) > kLongestComparedText)
    return fail("similarity compares kernels and solutions of at most {} bytes",
                kLongestComparedText);
  compared += kernel.size() + solution.size();
  if (compared > kMostComparedText)
    return fail("similarity compares at most {} bytes in one request; send several requests",
                kMostComparedText);
  return ok();
}

Result<Json> reward_of(const Json& answer, std::size_t& compared) {
  TRY(check_members(answer, {"verdict", "completion", "solution", "weights"}));
  if (!answer.contains("verdict")) return fail("verdict is missing");
  TRY_ASSIGN(const Verdict verdict, verdict_from_json(answer["verdict"]));
  reward::RewardConfig config;
  if (answer.contains("weights")) {
    TRY_ASSIGN(config, weights_from_json(answer["weights"]));
  }
  JsonReader reader(answer);
  const std::string completion = reader.string("completion", "");
  const std::string solution = reader.string("solution", "");
  TRY(reader.status());
  const Kernel kernel = text::extract_kernel(completion);
  if (!reader.has("completion")) config.format = 0;  // a bare kernel has no format to reward
  reward::ScoreInput input{.kernel = kernel, .verdict = verdict};
  if (reader.has("solution")) input.reference = solution;
  if (config.similarity != 0) TRY(check_compared(kernel.source, solution, compared));
  const auto reward = reward::score(input, config, {});
  return reward ? to_json(*reward) : Json();
}

Result<Json> rewards(const Json& body) {
  TRY(check_members(body, {"answers"}));
  std::size_t compared = 0;
  return map_list(body, "answers", "rewards",
                  [&](const Json& answer) { return reward_of(answer, compared); });
}

struct Call {
  std::string_view path;
  Result<Json> (*answer)(const Json& body);
};
constexpr auto kCalls = std::to_array<Call>({{"/v1/prompts", prompts},
                                             {"/v1/extract", extract},
                                             {"/v1/feedback", feedback},
                                             {"/v1/rewards", rewards}});

Result<Json> answer(const Call& call, std::string_view body) {
  TRY_ASSIGN(const Json json, parse_json(body));
  return call.answer(json);
}

}  // namespace

std::vector<std::string_view> completion_call_paths() {
  std::vector<std::string_view> paths;
  for (const Call& call : kCalls) paths.push_back(call.path);
  return paths;
}

std::optional<Result<Json>> answer_completion_call(std::string_view path, std::string_view body) {
  const auto call = std::ranges::find(kCalls, path, &Call::path);
  if (call == kCalls.end()) return std::nullopt;
  return answer(*call, body);
}

}  // namespace tritonsmith::serve
