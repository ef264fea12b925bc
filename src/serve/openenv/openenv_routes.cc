#include "serve/openenv/openenv_routes.h"

#include <algorithm>
#include <atomic>
#include <list>
#include <mutex>

#include "serve/openenv/tool_step.h"

namespace tritonsmith::serve::openenv {
namespace {

using gym::service::HttpCall;
using gym::service::HttpReply;
using gym::service::json_reply;

// The environments of clients without a connection. Those that were used last are kept.
class Episodes {
 public:
  struct Episode {
    Episode(std::string its_key, const EnvironmentContext& context,
            const gym::service::Submitter& submitter, std::uint64_t number)
        : key(std::move(its_key)), environment(context, submitter, number) {}
    std::string key;
    std::mutex mutex;  // one call at a time
    KernelEnvironment environment;
  };

  std::shared_ptr<Episode> find(const std::string& key) {
    const std::lock_guard lock(mutex_);
    for (auto at = episodes_.begin(); at != episodes_.end(); ++at)
      if ((*at)->key == key) {
        episodes_.splice(episodes_.begin(), episodes_, at);
        return *at;
      }
    return nullptr;
  }
  std::shared_ptr<Episode> enter(std::shared_ptr<Episode> episode) {
    constexpr std::size_t kept = 1024;
    const std::lock_guard lock(mutex_);
    episodes_.push_front(std::move(episode));
    if (episodes_.size() > kept) episodes_.pop_back();
    return episodes_.front();
  }
  std::uint64_t next_number() { return number_++; }

 private:
  std::mutex mutex_;
  std::list<std::shared_ptr<Episode>> episodes_;
  std::atomic<std::uint64_t> number_ = 0;
};

HttpReply error_reply(const EnvironmentError& error) {
  const bool is_ours = error.code == ErrorCode::execution_error;
  return gym::service::error_reply(is_ours ? 503 : 422, name_of(error.code), error.message);
}

// The environment of one token is none of another's.
std::string key_of(const HttpCall& call, const std::string& episode) {
  return call.submitter.name + "/" + episode;
}

HttpReply reset(const EnvironmentContext& context, Episodes& episodes, const HttpCall& call) {
  const auto options = parse_json(call.body.empty() ? "{}" : call.body);
  if (!options)
    return error_reply({.code = ErrorCode::invalid_json, .message = options.error().message});
  const std::string id = options->is_object() && options->contains("episode_id") &&
                                 (*options)["episode_id"].is_string()
                             ? (*options)["episode_id"].get<std::string>()
                             : "";
  const std::string key = key_of(call, id);
  auto episode = episodes.find(key);
  if (!episode)
    episode = episodes.enter(
        std::make_shared<Episodes::Episode>(key, context, call.submitter, episodes.next_number()));
  const std::lock_guard lock(episode->mutex);
  auto begun = episode->environment.reset(*options);
  return begun ? json_reply(200, *begun) : error_reply(begun.error());
}

HttpReply unknown_episode() {
  return gym::service::error_reply(404, "unknown_episode", "reset the environment first");
}

// The members of OpenEnv's StepRequest.
struct StepRequest {
  Json action;
  std::string episode, id;
  std::optional<double> seconds;
};

Result<StepRequest> step_request(const std::string& text) {
  constexpr std::size_t longest_id = 255;  // OpenEnv's
  auto body = parse_json(text);
  if (!body || !body->is_object() || !body->contains("action"))
    return fail("the body must be an object with `action`");
  for (const char* name : {"episode_id", "request_id", "timeout_s"})
    if (body->contains(name) && (*body)[name].is_null()) body->erase(name);
  JsonReader reader(*body);
  StepRequest request{.action = (*body)["action"],
                      .episode = reader.string("episode_id", ""),
                      .id = reader.string("request_id", "")};
  if (reader.has("timeout_s")) request.seconds = reader.number("timeout_s");
  TRY(reader.status());
  const auto is_visible = [](char c) { return c > ' ' && c <= '~'; };
  if (request.id.size() > longest_id || !std::ranges::all_of(request.id, is_visible))
    return fail("request_id may have at most {} characters, all of them visible ASCII", longest_id);
  return request;
}

HttpReply call_tool(const EnvironmentContext& context, const HttpCall& call, const Json& action) {
  ToolStep step(context.mcp, call.submitter);
  auto ended = step.begin(action);
  while (ended && !*ended) ended = step.await(std::chrono::seconds(1));
  return ended ? json_reply(200, **ended) : error_reply(ended.error());
}

HttpReply submit_kernel(Episodes& episodes, const HttpCall& call, const StepRequest& request) {
  const auto episode = episodes.find(key_of(call, request.episode));
  if (!episode) return unknown_episode();
  const std::lock_guard lock(episode->mutex);
  // Its only resets may have been refused. Status 503 would make the client repeat the step.
  if (!episode->environment.has_episode()) return unknown_episode();
  auto ended = episode->environment.begin_step(request.action, request.seconds);
  while (ended && !*ended) ended = episode->environment.await_step(std::chrono::seconds(1));
  return ended ? json_reply(200, **ended) : error_reply(ended.error());
}

// The request's id comes back in a header, since OpenEnv's reply has no member for it.
HttpReply step(const EnvironmentContext& context, Episodes& episodes, const HttpCall& call) {
  const auto request = step_request(call.body);
  if (!request)
    return error_reply({.code = ErrorCode::validation_error, .message = request.error().message});
  HttpReply reply = ToolStep::is_meant(request->action) ? call_tool(context, call, request->action)
                                                        : submit_kernel(episodes, call, *request);
  if (!request->id.empty()) reply.headers.emplace_back("X-Request-Id", request->id);
  return reply;
}

HttpReply state(Episodes& episodes, const HttpCall& call) {
  const auto episode = episodes.find(key_of(call, call.parameter("episode_id")));
  if (!episode) return unknown_episode();
  const std::lock_guard lock(episode->mutex);
  return json_reply(200, episode->environment.state());
}

Json metadata() {
  return {{"name", "tritonsmith"},
          {"description",
           "Write Triton kernels for PyTorch modules. A judge compiles them, checks them on secret "
           "inputs, and times them where there is a GPU. Kernels run in a sandbox."},
          {"version", "1"},
          {"author", "Tritonsmith"},
          {"documentation_url", nullptr},
          {"readme_content", nullptr}};
}

}  // namespace

std::vector<gym::service::Route> openenv_routes(const EnvironmentContext& context) {
  const auto episodes = std::make_shared<Episodes>();
  return {
      {.method = "GET",
       .path = "/ws",
       .answer =
           [&context, episodes](const HttpCall& call, const auto&) {
             HttpReply reply;
             reply.web_socket =
                 environment_session(context, call.submitter, episodes->next_number());
             return reply;
           }},
      {.method = "POST",
       .path = "/reset",
       .answer = [&context, episodes](const HttpCall& call,
                                      const auto&) { return reset(context, *episodes, call); }},
      {.method = "POST",
       .path = "/step",
       .answer = [&context, episodes](const HttpCall& call,
                                      const auto&) { return step(context, *episodes, call); }},
      {.method = "GET",
       .path = "/state",
       .answer = [episodes](const HttpCall& call, const auto&) { return state(*episodes, call); }},
      {.method = "GET",
       .path = "/schema",
       .answer = [](const auto&, const auto&) { return json_reply(200, environment_schema()); }},
      {.method = "GET", .path = "/metadata", .answer = [](const auto&, const auto&) {
         return json_reply(200, metadata());
       }}};
}

}  // namespace tritonsmith::serve::openenv
