// `tritonsmith serve`: models and their searches for verified kernels, over OpenAI's protocol and on a
// web page.
#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/file.h>

#include <algorithm>

#include "base/cache_directory.h"
#include "base/config.h"
#include "base/file.h"
#include "base/log.h"
#include "cli/call/command.h"
#include "cli/call/command_line.h"
#include "cli/call/help.h"
#include "cli/judge_text.h"
#include "cli/setup/judges.h"
#include "cli/setup/prompt_options.h"
#include "cli/setup/remote_writer.h"
#include "cli/setup/stop_signal.h"
#include "curriculum/suite.h"
#include "gym/cuda/driver.h"
#include "serve/assistant/verified_reply.h"
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
  std::vector<std::string> models, names;
  ModelChoice access;  // of each model
  GymChoice gym;
  PromptOptions prompt_options;
  std::string suite = "quickstart";
  std::string listen, directory, runs, serve_token_file, tokens_file;
  std::vector<std::string> settings;
};

// The name of a model for clients, unless --name gives another.
std::string own_name(const std::string& model) {
  if (is_remote(model)) return model.substr(kRemotePrefix.size());
  const auto folder = std::filesystem::absolute(model).lexically_normal();
  return folder.has_filename() ? folder.filename() : folder.parent_path().filename();
}

// The names of the models for clients. NAME-verified must not be the name of another model.
Result<std::vector<std::string>> names_of(const ServeModelOptions& options) {
  if (!options.names.empty() && options.names.size() != options.models.size())
    return fail("--name: give a name for each of the {} models, in their order",
                options.models.size());
  std::vector<std::string> names = options.names;
  if (names.empty()) std::ranges::transform(options.models, std::back_inserter(names), own_name);
  for (std::size_t i = 0; i < names.size(); ++i)
    for (std::size_t j = 0; j < names.size(); ++j) {
      const std::string suffix = i == j ? "" : std::string(serve::assistant::kVerifiedSuffix);
      if (i < j && names[i] == names[j])
        return fail("two models are called '{}'; give each its own --name", names[i]);
      if (i != j && names[i] + suffix == names[j])
        return fail("'{}' is the search of the model '{}'; give each its own --name", names[j],
                    names[i]);
    }
  return names;
}

// A model behind the server.
struct WritingModel {
  std::string name;
  std::unique_ptr<OpenedWriter> opened;
  int new_tokens = 0;
  std::unique_ptr<serve::openai::SharedModel> shared;  // refers to the opened model

  serve::assistant::ModelUse use() const {
    const eval::PromptedWriter writes = opened->prompted_writer();
    return {.name = name,
            .model = *shared,
            .prompt = writes.prompt,
            .feedback = writes.feedback,
            .max_new_tokens = new_tokens};
  }
  serve::openai::ServedModel served() const {
    return {.name = name,
            .model = *shared,
            .tokenizer = opened->tokenizer(),
            .default_tokens = new_tokens};
  }
};

Result<WritingModel> open_model(ModelChoice choice, const PromptOptions& prompt_options,
                                const std::filesystem::path& directory) {
  TRY(find_model(choice));
  TRY_ASSIGN(const text::PromptRecord asked, prompt_record_of(prompt_options, choice.directory));
  WritingModel model;
  TRY_ASSIGN(model.opened, open_writer(choice, asked.prompt, directory / "requests.sqlite"));
  model.new_tokens = new_tokens(asked, model.opened->positions(), choice.name);
  model.shared = std::make_unique<serve::openai::SharedModel>(
      model.opened->prompted_writer().writer, model.opened->token_writer());
  return model;
}

// Opens all models. Only those behind a server take the options that say how it is asked.
Result<std::vector<WritingModel>> open_models(const ServeModelOptions& options,
                                              const std::filesystem::path& directory) {
  TRY_ASSIGN(const std::vector<std::string> names, names_of(options));
  const bool has_remote = std::ranges::any_of(options.models, is_remote);
  std::vector<WritingModel> models;
  for (std::size_t i = 0; i < names.size(); ++i) {
    ModelChoice choice{.name = options.models[i], .placement = options.access.placement};
    if (is_remote(choice.name) || !has_remote) {
      choice = options.access;
      choice.name = options.models[i];
    }
    TRY_ASSIGN(WritingModel model,
               open_model(std::move(choice), options.prompt_options, directory));
    model.name = names[i];
    models.push_back(std::move(model));
  }
  return models;
}

// "'small' and 'small-verified', 'large' and 'large-verified'"
std::string said_of(const std::vector<WritingModel>& models) {
  std::string text;
  for (const WritingModel& each : models)
    text += fmt::format("{0}'{1}' and '{1}-verified'", text.empty() ? "" : ", ", each.name);
  return text;
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

// A gym elsewhere may get a GPU while this server runs.
bool may_time(const GymChoice& gym) { return !gym.url.empty() || !gym::cuda::list_gpus().empty(); }

Status serve_model(ServeModelOptions options) {
  set_log_times(true);
  if (options.models.empty() && options.runs.empty())
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
  if (!options.models.empty()) LOG("serve: opening {}", fmt::join(options.models, ", "));
  TRY_ASSIGN(const std::vector<WritingModel> models, open_models(options, directory));
  std::vector<serve::assistant::ModelUse> uses;
  std::vector<serve::openai::ServedModel> served;
  for (const WritingModel& each : models) {
    uses.push_back(each.use());
    served.push_back(each.served());
  }
  if (options.gym.url.empty())
    LOG("serve: starting the judge; the first time this may take half a minute");
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
          {.models = std::move(uses), .judge = shared_judge, .words = words}));
  std::unique_ptr<serve::runs::RunLibrary> runs;
  if (!options.runs.empty()) {
    TRY_ASSIGN(runs, serve::runs::RunLibrary::open(options.runs, words));
  }
  TRY_ASSIGN(std::vector<Task> suite, curriculum::load_suite(options.suite));
  const serve::web::Routes routes({.models = std::move(served),
                                   .limits = {.choices = config.choices},
                                   .assistant = *assistant,
                                   .judge = shared_judge,
                                   .judged_by = untimed,
                                   .may_time = may_time(options.gym),
                                   .suite = std::move(suite),
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
      models.empty() ? "" : fmt::format("{} at {}v1, ", said_of(models), url), url);
  stop.wait();
  LOG("serve: stopping; searches and verdicts are kept in {}", directory.string());
  return ok();
}

void add_serve_command(CLI::App& app, Run& run) {
  auto options = std::make_shared<ServeModelOptions>();
  CLI::App* command = app.add_subcommand(
      "serve", "Serve models and their verified kernels: OpenAI's protocol and a web page");
  command->add_option("--model", options->models,
                      fmt::format("{}. Repeat it to serve several; the first is the page's own "
                                  "choice",
                                  kModelHelp));
  add_model_access_options(*command, options->access);
  command
      ->add_option("--listen", options->listen, "The address HOST:PORT; port 0 takes any free one")
      ->required();
  command->add_option("--name", options->names,
                      "The model's name for clients (default: its own name). With several models, "
                      "one for each, in their order");
  command->add_option(
      "--dir", options->directory,
      "The folder of searches, verdicts and the secret (default: in the user's cache)");
  command->add_option("--runs", options->runs,
                      "The folder of runs and evaluations that the page shows to everybody who may "
                      "use the server. Without --model the page shows runs, and judges kernels");
  command->add_option(
      "--suite", options->suite,
      "The tasks that the page offers as modules: a suite, a folder, a .jsonl or a .py");
  auto* token_file = command->add_option("--serve-token-file", options->serve_token_file,
                                         "Clients must show the first line of this file as their "
                                         "key. Needed where other machines can reach HOST");
  command
      ->add_option("--tokens", options->tokens_file,
                   "A TOML file of several keys with limits, in place of --serve-token-file "
                   "(docs/gym-operator.md)")
      ->excludes(token_file);
  add_prompt_options(*command, options->prompt_options);
  add_gym_options(*command, options->gym);
  command->add_option("--set", options->settings, "KEY=VALUE, of:\n" + config_help<ServeConfig>());
  note_settings<ServeConfig>(*command);
  add_example(*command, "serve --model runs/rl-small/checkpoints/step-120 --listen 127.0.0.1:8000");
  add_example(*command, "serve --model DIR --listen 127.0.0.1:8000 --runs runs");
  add_example(*command, "serve --model DIR --model openai:NAME --listen 127.0.0.1:8000");
  add_example(*command, "serve --listen 127.0.0.1:8000 --runs runs");
  command->callback([&run, options] { run = [options] { return finish(serve_model(*options)); }; });
}

const Command serve_command(CommandGroup::model, "serve", add_serve_command);

}  // namespace
}  // namespace tritonsmith::cli
