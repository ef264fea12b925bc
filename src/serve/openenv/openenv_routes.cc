#include "serve/openenv/openenv_routes.h"

#include <atomic>
#include <list>
#include <mutex>

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

HttpReply step(Episodes& episodes, const HttpCall& call) {
  const auto body = parse_json(call.body);
  if (!body || !body->is_object() || !body->contains("action"))
    return error_reply(
        {.code = ErrorCode::validation_error, .message = "the body is an object with `action`"});
  JsonReader reader(*body);
  const std::string id = reader.string("episode_id", "");
  if (const auto read = reader.status(); !read)
    return error_reply({.code = ErrorCode::validation_error, .message = read.error().message});
  const auto episode = episodes.find(key_of(call, id));
  if (!episode) return unknown_episode();
  const std::lock_guard lock(episode->mutex);
  // Its only resets may have been refused. Status 503 would make the client repeat the step.
  if (!episode->environment.has_episode()) return unknown_episode();
  auto ended = episode->environment.begin_step((*body)["action"]);
  while (ended && !*ended) ended = episode->environment.await_step(std::chrono::seconds(1));
  return ended ? json_reply(200, **ended) : error_reply(ended.error());
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
       .answer = [episodes](const HttpCall& call, const auto&) { return step(*episodes, call); }},
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
