#include "serve/web/routes.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "base/utc_time.h"
#include "data/failure.h"
#include "modules/module_task.h"
#include "modules/patch.h"
#include "serve/assistant/order_tasks.h"
#include "serve/assistant/verified_reply.h"
#include "serve/openai/model_names.h"
#include "serve/web/page_files.h"
#include "serve/web/whole_page.h"

namespace tritonsmith::serve::web {
namespace {

using assistant::Assistant;
using openai::CallError;
using openai::ReplyStream;

constexpr std::string_view kChat = "/v1/chat/completions";
constexpr std::string_view kModels = "/v1/models";
constexpr std::string_view kSearches = "/api/searches";
constexpr std::string_view kRuns = "/api/runs";
constexpr std::string_view kSamples = "/api/samples/";

WebReply json_reply(const Json& json, int status = 200) {
  return {.status = status, .body = to_line(json)};
}

WebReply not_found(const std::string& path) {
  return refusal(
      {.status = 404, .message = fmt::format("there is no {}", path), .code = "not_found"});
}

// Says whether a path has the form of a pattern. "*" stands for one part of a path, and "**" at the
// end for all that follows.
bool fits(std::string_view pattern, std::string_view path) {
  const auto next = [](std::string_view& text) {
    const std::string_view part = text.substr(0, text.find('/', 1));
    text.remove_prefix(part.size());
    return part;
  };
  while (!pattern.empty() && !path.empty()) {
    const std::string_view wanted = next(pattern), part = next(path);
    if (wanted == "/**") return true;
    if (wanted != part && (wanted != "/*" || part.size() == 1)) return false;
  }
  return pattern.empty() && path.empty();
}

WebReply wrong_method(const WebCall& call, const std::string& allowed) {
  constexpr int status = 405;
  WebReply reply = refusal(
      {.status = status,
       .message = fmt::format("{} has no method {}; it has {}", call.path, call.method, allowed),
       .code = "method_not_allowed"});
  reply.allow = allowed;
  return reply;
}

// A class's name, and what it means in a few words.
Json error_words() {
  Json words = Json::object();
  for (const auto& [error, name] : enum_names<ErrorClass>) words[name] = words_for(error);
  return words;
}

WebReply nothing_here(const std::string& what) {
  return refusal(
      {.status = 404, .message = fmt::format("This server has no {}.", what), .code = "not_found"});
}

WebReply no_search(const std::string& id) { return nothing_here(fmt::format("search '{}'", id)); }

// A failure of our own store.
WebReply failure(const Error& error) { return refusal({.status = 500, .message = error.message}); }

WebReply reply_of(openai::CallResult<std::unique_ptr<ReplyStream>> answer, bool is_streamed) {
  if (!answer) return refusal(answer.error());
  return {.content_type = is_streamed ? "text/event-stream" : "application/json",
          .stream = *std::move(answer),
          .is_streamed = is_streamed};
}

// Reads a number of a path, up to the next slash, which is removed with it.
std::optional<std::size_t> number_at_start(std::string_view& path) {
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(path.begin(), path.end(), number);
  if (error != std::errc() || (end != path.end() && *end != '/')) return std::nullopt;
  path.remove_prefix(static_cast<std::size_t>(end - path.begin()) + (end == path.end() ? 0 : 1));
  return number;
}

// Holds what a replacement of an order's module is made from.
Result<modules::ModuleTasks> module_of(const Json& json) {
  TRY_ASSIGN(const assistant::SearchOrder order, assistant::order_from_json(json));
  return order.has_calls() ? assistant::tasks_of_order(order)
                           : modules::module_of_file({.source = order.source});
}

// A search as events, until it ends. It goes on when the client leaves.
class SearchEvents : public ReplyStream {
 public:
  SearchEvents(const Assistant& assistant, std::string id)
      : assistant_(assistant), id_(std::move(id)) {}

  State next(std::string& out, Deadline deadline) override {
    const auto shown = assistant_.wait(id_, from_, version_, deadline);
    if (!shown || !*shown) return State::broken;
    const Json& search = (**shown)["search"];
    const bool is_over = search["state"] != "queued" && search["state"] != "running";
    const auto version = (**shown)["version"].get<std::uint64_t>();
    if (version == version_ && !is_over) return State::more;
    version_ = version;
    from_ += static_cast<int>((**shown)["attempts"].size());
    out += openai::event_text(**shown);
    return is_over ? State::done : State::more;
  }

 private:
  const Assistant& assistant_;
  std::string id_;
  int from_ = 0;
  std::uint64_t version_ = 0;
};

}  // namespace

WebReply refusal(const CallError& error) {
  constexpr int too_many = 429;
  WebReply reply = json_reply(openai::to_json(error), error.status);
  reply.retry_after_seconds = error.status == too_many ? 5 : 0;
  return reply;
}

// A link to a search or a run is the page itself.
std::span<const Routes::Endpoint> Routes::endpoints() {
  using Methods = std::vector<std::string_view>;
  static const Methods reads = {"GET", "HEAD"}, gets = {"GET"}, posts = {"POST"};
  constexpr bool is_public = true;
  static const std::vector<Endpoint> all = {
      {"/", reads, &Routes::page, is_public},
      {"/search/**", reads, &Routes::page, is_public},
      {"/run/**", reads, &Routes::page, is_public},
      {"/icon.svg", reads, &Routes::icon, is_public},
      {"/health", reads, &Routes::health, is_public},
      {"/metrics", reads, &Routes::metrics},
      {kModels, reads, &Routes::models},
      {"/v1/models/**", reads, &Routes::models},
      {kChat, posts, &Routes::chat},
      {"/v1/completions", posts, &Routes::completion},
      {"/api/info", reads, &Routes::info},
      {"/api/tasks", reads, &Routes::tasks},
      {kSearches, reads, &Routes::searches},
      {kSearches, posts, &Routes::order},
      {"/api/searches/*", reads, &Routes::search},
      {"/api/searches/*/events", gets, &Routes::search},
      {"/api/searches/*/stop", posts, &Routes::search},
      {"/api/searches/*/patch/*", reads, &Routes::search},
      {kRuns, reads, &Routes::run},
      {"/api/runs/**", reads, &Routes::run},
      {"/api/samples/**", reads, &Routes::run},
  };
  return all;
}

bool Routes::is_public(std::string_view path) {
  return std::ranges::any_of(endpoints(), [&](const Endpoint& each) {
    return each.is_public && fits(each.pattern, path);
  });
}

WebReply Routes::answer(const WebCall& call) const {
  std::vector<std::string_view> allowed;
  for (const Endpoint& each : endpoints()) {
    if (!fits(each.pattern, call.path)) continue;
    if (std::ranges::find(each.methods, call.method) != each.methods.end())
      return (this->*each.answer)(call);
    allowed.insert(allowed.end(), each.methods.begin(), each.methods.end());
  }
  return allowed.empty() ? not_found(call.path)
                         : wrong_method(call, fmt::format("{}", fmt::join(allowed, ", ")));
}

WebReply Routes::page(const WebCall&) const {
  return {.content_type = "text/html; charset=utf-8", .body = whole_page().html};
}

WebReply Routes::icon(const WebCall&) const {
  return {.content_type = "image/svg+xml", .body = std::string(page_file("icon.svg"))};
}

const openai::ServedModel* Routes::model_named(std::string_view name) const {
  const auto at = std::ranges::find(parts_.models, name, &openai::ServedModel::name);
  return at == parts_.models.end() ? nullptr : &*at;
}

WebReply Routes::no_such_model(const std::string& name, const std::string& path) const {
  const std::string names = openai::quoted_names(parts_.models);
  const bool has_verified = path == kChat || path == kModels;
  return refusal(
      {.status = 404,
       .message = names.empty()
                      ? "this server has no model; start it with --model"
                      : fmt::format("{} has no model '{}'; it has {}{}", path, name, names,
                                    has_verified ? ", and each of them as NAME-verified" : ""),
       .parameter = "model",
       .code = "model_not_found"});
}

WebReply Routes::chat(const WebCall& call) const {
  if (parts_.models.empty()) return no_such_model("", call.path);
  auto parsed = openai::parse_chat_call(call.body, parts_.limits);
  if (!parsed) return refusal(parsed.error());
  const bool is_streamed = parsed->is_streamed;
  if (const auto* model = model_named(parsed->model))
    return reply_of(openai::answer_chat(*model, *std::move(parsed)), is_streamed);
  std::string_view name = parsed->model;
  if (name.ends_with(assistant::kVerifiedSuffix))
    name.remove_suffix(assistant::kVerifiedSuffix.size());
  const auto* model = model_named(name);
  if (model == nullptr) return no_such_model(parsed->model, call.path);
  return reply_of(assistant::answer_verified(parts_.assistant, model->name, *parsed, call.owner),
                  is_streamed);
}

WebReply Routes::completion(const WebCall& call) const {
  if (parts_.models.empty()) return no_such_model("", call.path);
  auto parsed = openai::parse_completion_call(call.body, parts_.limits);
  if (!parsed) return refusal(parsed.error());
  const bool is_streamed = parsed->is_streamed;
  const auto* model = model_named(parsed->model);
  if (model == nullptr) return no_such_model(parsed->model, call.path);
  return reply_of(openai::answer_completion(*model, *std::move(parsed)), is_streamed);
}

WebReply Routes::searches(const WebCall& call) const {
  const auto list = parts_.assistant.list(call.owner);
  return list ? json_reply({{"searches", *list}}) : failure(list.error());
}

WebReply Routes::order(const WebCall& call) const {
  const auto json = parse_json(call.body);
  if (!json) return refusal({.message = "the body is no JSON: " + json.error().message});
  auto order = assistant::order_from_json(*json);
  if (!order) return refusal({.message = order.error().message});
  const auto id = parts_.assistant.start(*std::move(order), call.owner);
  if (id) return json_reply({{"id", *id}}, 201);
  CallError error{.message = id.error().message};
  if (id.error().kind == ErrorKind::fault) error.status = 429;
  return refusal(error);
}

WebReply Routes::search(const WebCall& call) const {
  std::string id = call.path.substr(std::min(call.path.size(), kSearches.size() + 1));
  const std::size_t slash = id.find('/');
  const std::string action = slash == std::string::npos ? "" : id.substr(slash + 1);
  id = id.substr(0, slash);
  const auto shown = parts_.assistant.show(id, 0);
  if (!shown) return failure(shown.error());
  if (!*shown) return no_search(id);
  if (action.empty()) return json_reply(**shown);
  if (action == "events")
    return {.content_type = "text/event-stream",
            .stream = std::make_unique<SearchEvents>(parts_.assistant, id)};
  if (action.starts_with("patch/")) return patch(id, action.substr(action.find('/') + 1));
  const Status stopped = parts_.assistant.stop(id, call.owner);
  constexpr int forbidden = 403;
  return stopped ? json_reply(Json::object())
                 : refusal({.status = forbidden, .message = stopped.error().message});
}

WebReply Routes::patch(const std::string& search, const std::string& attempt) const {
  std::string_view rest = attempt;
  const auto number = number_at_start(rest);
  const auto shown = parts_.assistant.show(search, 0);
  if (!shown) return failure(shown.error());
  const std::string path = fmt::format("{}/{}/patch/{}", kSearches, search, attempt);
  if (!*shown) return no_search(search);
  if (!number) return not_found(path);
  const Json& order = (**shown)["search"]["order"];
  for (const Json& each : (**shown)["attempts"]) {
    if (each["number"] != *number || each.value("kernel", "").empty()) continue;
    if (!each["verdict"].value("accepted", false))
      return refusal({.message = "only an accepted kernel can take the module's place"});
    const auto made = module_of(order);
    if (!made) return refusal({.message = made.error().message});
    constexpr std::string_view name = "model_triton";
    const modules::Patch patch = modules::patch_of(*made, each.value("kernel", ""), name);
    return json_reply({{"name", name}, {"module", patch.module}, {"test", patch.test}});
  }
  return not_found(path);
}

WebReply Routes::run(const WebCall& call) const {
  if (parts_.runs == nullptr)
    return refusal({.status = 404,
                    .message = "this server shows no runs; start it with --runs DIR",
                    .code = "not_found"});
  std::string_view path = call.path;
  if (path == kRuns) {
    const auto list = parts_.runs->list();
    return list ? json_reply(*list) : failure(list.error());
  }
  std::optional<std::size_t> sample;
  const bool is_sample = path.starts_with(kSamples);
  path.remove_prefix(std::min(path.size(), is_sample ? kSamples.size() : kRuns.size() + 1));
  if (is_sample && !(sample = number_at_start(path))) return not_found(call.path);
  const std::string name(path);
  const auto found = sample ? parts_.runs->conversation(name, *sample) : parts_.runs->show(name);
  if (!found) return failure(found.error());
  if (*found) return json_reply(**found);
  return nothing_here(sample ? fmt::format("sample {} of a run '{}'", *sample, name)
                             : fmt::format("run '{}'", name));
}

WebReply Routes::models(const WebCall& call) const {
  std::vector<openai::ModelEntry> models;
  for (const openai::ServedModel& each : parts_.models) {
    const std::int64_t length = each.model.context_length().value_or(0);
    models.push_back({each.name, length});
    models.push_back({each.name + std::string(assistant::kVerifiedSuffix), length});
  }
  const std::int64_t now = unix_milliseconds() / 1000;
  if (call.path == kModels) return json_reply(openai::models_reply(models, now));
  const std::string name = call.path.substr(kModels.size() + 1);
  const auto at = std::ranges::find(models, name, &openai::ModelEntry::name);
  return at == models.end() ? no_such_model(name, std::string(kModels))
                            : json_reply(openai::model_reply(*at, now));
}

WebReply Routes::info(const WebCall&) const {
  Json names = Json::array();
  for (const openai::ServedModel& each : parts_.models) names.push_back(each.name);
  return json_reply({{"models", std::move(names)},
                     {"judged_by", parts_.judged_by},
                     {"may_time", parts_.may_time},
                     {"errors", error_words()},
                     {"runs", parts_.runs != nullptr}});
}

// Each source is as a file has it, with its instruction.
WebReply Routes::tasks(const WebCall&) const {
  Json tasks = Json::array();
  for (const Task& task : parts_.suite) {
    const std::string first =
        task.instruction.empty() ? "" : fmt::format("# instruction: {}\n", task.instruction);
    tasks.push_back({{"id", task.id}, {"is", task.composition}, {"source", first + task.source}});
  }
  return json_reply({{"tasks", std::move(tasks)}});
}

WebReply Routes::health(const WebCall&) const {
  std::string trouble;
  for (const openai::ServedModel& each : parts_.models)
    if (const auto broken = each.model.error())
      trouble += fmt::format("{}{}: {}", trouble.empty() ? "" : "; ", each.name, broken->message);
  return json_reply({{"status", trouble.empty() ? "ok" : "broken"}, {"trouble", trouble}},
                    trouble.empty() ? 200 : 503);
}

WebReply Routes::metrics(const WebCall&) const {
  openai::ModelLoad load;
  for (const openai::ServedModel& each : parts_.models) load += each.model.load();
  const assistant::SearchCounts searches = parts_.assistant.counts();
  std::string text;
  const auto add = [&](std::string_view name, std::string_view kind, std::string_view help,
                       std::uint64_t value) {
    text += fmt::format(
        "# HELP tritonsmith_serve_{0} {2}\n# TYPE tritonsmith_serve_{0} {1}\n"
        "tritonsmith_serve_{0} {3}\n",
        name, kind, help, value);
  };
  add("requests_running", "gauge", "Requests that the models work on.", load.running);
  add("requests_finished_total", "counter", "Requests with a completion.", load.finished);
  add("requests_cancelled_total", "counter", "Requests whose client left.", load.cancelled);
  add("prompt_tokens_total", "counter", "Prompt tokens of finished requests.", load.prompt_tokens);
  add("completion_tokens_total", "counter", "Tokens written for finished requests.",
      load.completion_tokens);
  add("searches_running", "gauge", "Searches that run.",
      static_cast<std::uint64_t>(searches.running));
  add("searches_waiting", "gauge", "Searches that wait for their turn.",
      static_cast<std::uint64_t>(searches.waiting));
  add("verdicts_total", "counter", "Kernels that were judged.", parts_.judge.judged());
  return {.content_type = "text/plain; version=0.0.4", .body = std::move(text)};
}

}  // namespace tritonsmith::serve::web
