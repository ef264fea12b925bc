// `tritonsmith serve`: a model and its search for verified kernels, over OpenAI's protocol and on a
// web page.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>

#include "base/cache_directory.h"
#include "base/config.h"
#include "base/file.h"
#include "base/log.h"
#include "cli/call/command.h"
#include "cli/call/help.h"
#include "cli/judge_text.h"
#include "cli/setup/asking.h"
#include "cli/setup/judges.h"
#include "cli/setup/remote_author.h"
#include "cli/setup/stop_signal.h"
#include "gym/cuda/driver.h"
#include "serve/web/web_server.h"

namespace tritonsmith::cli {
namespace {

struct ServeConfig {
  int searches = serve::assistant::AssistantConfig{}.searches;
  int waiting = serve::assistant::AssistantConfig{}.waiting;
  int choices = serve::openai::CallLimits{}.choices;
  int connections = serve::web::WebServerConfig{}.connections;
  int body_mib = 8;
  int idle_seconds = serve::web::WebServerConfig{}.idle_seconds;

  static Fields<ServeConfig> fields() {
    using C = ServeConfig;
    return {
        field("searches", &C::searches, "How many searches run at a time.", between(1, 256)),
        field("waiting", &C::waiting,
              "How many searches may wait. The server refuses further ones.", between(0, 1 << 20)),
        field("choices", &C::choices, "How many completions one request may ask for.",
              between(1, 1024)),
        field("connections", &C::connections,
              "How many connections may be open. Further ones get status 503.",
              between(2, 1 << 14)),
        field("body_mib", &C::body_mib, "The largest body of a request, in MiB.",
              between(1, 1 << 10)),
        field("idle_seconds", &C::idle_seconds,
              "The server drops a client that is silent for this long.", between(1, 3600))};
  }
};

struct ServeModelOptions {
  ModelChoice model;
  GymChoice gym;
  Asking asking;
  std::string name, listen, directory, runs, serve_token_file, tokens_file;
  std::vector<std::string> settings;
};

std::string served_name(const ServeModelOptions& options) {
  if (!options.name.empty()) return options.name;
  if (is_remote(options.model.name)) return options.model.name.substr(kRemotePrefix.size());
  const auto folder = std::filesystem::absolute(options.model.name).lexically_normal();
  return folder.has_filename() ? folder.filename() : folder.parent_path().filename();
}

// The model behind the server.
struct WritingModel {
  std::unique_ptr<OpenedAuthor> author;
  int new_tokens = 0;
  std::unique_ptr<serve::openai::SharedModel> shared;  // refers to the author

  serve::assistant::ModelUse use() const {
    const eval::Author writes = author->author();
    return {.model = *shared,
            .prompt = writes.prompt,
            .feedback = writes.feedback,
            .max_new_tokens = new_tokens};
  }
  serve::openai::ServedModel served(const ServeModelOptions& options) const {
    return {.name = served_name(options), .model = *shared, .tokenizer = author->tokenizer()};
  }
};

Result<WritingModel> open_model(ServeModelOptions& options,
                                const std::filesystem::path& directory) {
  TRY(find_model(options.model));
  TRY_ASSIGN(const text::PromptRecord asked, asked_as(options.asking, options.model.directory));
  WritingModel model;
  TRY_ASSIGN(model.author, open_author(options.model, asked.prompt, directory / "requests.sqlite"));
  model.new_tokens = new_tokens(asked, model.author->positions(), options.model.name);
  model.shared = std::make_unique<serve::openai::SharedModel>(model.author->author().writer,
                                                              model.author->token_writer());
  return model;
}

Result<std::vector<gym::service::Token>> tokens_of(const ServeModelOptions& options,
                                                   const std::string& host) {
  if (!options.tokens_file.empty()) return gym::service::read_tokens_file(options.tokens_file);
  if (!options.serve_token_file.empty()) {
    TRY_ASSIGN(const std::string token, gym::api::read_token(options.serve_token_file));
    return std::vector<gym::service::Token>{{.name = "token", .token = token}};
  }
  if (!gym::api::is_loopback(host))
    return fail("{} can be reached from other machines: give --serve-token-file or --tokens", host);
  return std::vector<gym::service::Token>();
}

Result<Fd> lock_of(const std::filesystem::path& directory) {
  TRY(make_directories(directory));
  const std::string file = directory / "lock";
  Fd lock(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!lock) return fail_errno(file);
  if (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0)
    return fail("{}: another `serve` works in this directory; give this one its own --dir",
                directory.string());
  return lock;
}

std::string untimed_reason(const GymChoice& gym) {
  if (!gym.url.empty()) return "the service has no GPU";
  return gym::cuda::list_gpus().empty() ? "this machine has no GPU" : "it ran on the CPU";
}

Status serve_model(ServeModelOptions options) {
  set_log_times(true);
  if (options.model.name.empty() && options.runs.empty())
    return fail("give --model for a model that writes, --runs for runs to browse, or both");
  ServeConfig config;
  TRY_ASSIGN(const Settings settings, settings_from_overrides(options.settings));
  TRY(apply_settings(config, settings, "--set"));
  TRY_ASSIGN(const auto address, gym::api::parse_host_and_port(options.listen));
  TRY_ASSIGN(auto tokens, tokens_of(options, address.host));
  const std::filesystem::path directory =
      options.directory.empty() ? cache_directory("serve") : options.directory;
  if (directory.empty()) return fail("say where searches and verdicts are kept: --dir DIR");
  TRY_ASSIGN(const Fd lock, lock_of(directory));
  TRY_ASSIGN(const StopSignal stop, StopSignal::install());
  WritingModel model;
  const bool has_model = !options.model.name.empty();
  if (has_model) {
    TRY_ASSIGN(model, open_model(options, directory));
  }
  TRY_ASSIGN(const auto judge, open_judge(directory / "judge", options.gym));
  // A gym elsewhere may have many GPUs, and shares them itself.
  constexpr std::size_t jobs_of_a_gym = 256;
  serve::assistant::SharedJudge shared_judge(
      *judge, options.gym.url.empty() ? serve::assistant::SharedJudge::jobs_for_this_machine()
                                      : jobs_of_a_gym);
  const std::string untimed = untimed_reason(options.gym);
  const auto words = [&](const Verdict& verdict) { return judge_text(verdict, untimed); };
  TRY_ASSIGN(
      const auto assistant,
      serve::assistant::Assistant::open(
          directory / "searches.sqlite", {.searches = config.searches, .waiting = config.waiting},
          {.use = has_model ? std::optional(model.use()) : std::nullopt,
           .judge = shared_judge,
           .words = words}));
  std::unique_ptr<serve::runs::RunLibrary> runs;
  if (!options.runs.empty()) {
    TRY_ASSIGN(runs, serve::runs::RunLibrary::open(options.runs, words));
  }
  const auto served = has_model ? std::optional(model.served(options)) : std::nullopt;
  const serve::web::Routes routes(
      {.served = served,
       .limits = {.choices = config.choices, .default_tokens = model.new_tokens},
       .assistant = *assistant,
       .judge = shared_judge,
       .judged_by = untimed,
       .runs = runs.get()});
  TRY_ASSIGN(const auto server, serve::web::WebServer::start(
                                    {.address = address,
                                     .tokens = std::move(tokens),
                                     .connections = config.connections,
                                     .body_bytes = static_cast<std::size_t>(config.body_mib) << 20,
                                     .idle_seconds = config.idle_seconds},
                                    routes));
  const std::string url = fmt::format("http://{}:{}/", address.host, server->port());
  LOG("serve: {}the page at {}",
      served ? fmt::format("'{0}' and '{0}-verified' at {1}v1, ", served->name, url) : "", url);
  stop.wait();
  LOG("serve: stopping; searches and verdicts are kept in {}", directory.string());
  return ok();
}

void add_serve_command(CLI::App& app, Run& run) {
  auto options = std::make_shared<ServeModelOptions>();
  CLI::App* command = app.add_subcommand(
      "serve", "Serve a model and its verified kernels: OpenAI's protocol and a web page");
  add_model_options(*command, options->model);
  command->get_option("--model")->required(false);
  command
      ->add_option("--listen", options->listen, "The address HOST:PORT; port 0 takes any free one")
      ->required();
  command->add_option("--name", options->name,
                      "The model's name for clients (default: its own name)");
  command->add_option(
      "--dir", options->directory,
      "The folder of searches, verdicts and the secret (default: in the user's cache)");
  command->add_option("--runs", options->runs,
                      "The folder of runs and evaluations that the page shows to everybody who may "
                      "use the server. Without --model the page shows runs, and judges kernels");
  auto* token_file = command->add_option("--serve-token-file", options->serve_token_file,
                                         "Clients must show the first line of this file as their "
                                         "key. Needed where other machines can reach HOST");
  command
      ->add_option("--tokens", options->tokens_file,
                   "A TOML file of several keys with limits, in place of --serve-token-file "
                   "(docs/gym-operator.md)")
      ->excludes(token_file);
  add_asking_options(*command, options->asking);
  add_gym_options(*command, options->gym);
  command->add_option("--set", options->settings, "KEY=VALUE, of:\n" + config_help<ServeConfig>());
  add_example(*command, "serve --model runs/rl-small/checkpoints/step-120 --listen 127.0.0.1:8000");
  add_example(*command, "serve --model DIR --listen 127.0.0.1:8000 --runs runs");
  add_example(*command, "serve --listen 127.0.0.1:8000 --runs runs");
  command->callback([&run, options] { run = [options] { return finish(serve_model(*options)); }; });
}

const Command serve_command(CommandGroup::model, "serve", add_serve_command);

}  // namespace
}  // namespace tritonsmith::cli
