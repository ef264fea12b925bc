// `tritonsmith mcp`: the judge as tools for a coding agent, over standard input and output
// (docs/mcp.md). The agent starts it. It judges on this machine, or asks a `gym serve`.
#include <httplib.h>

#include "base/cache_directory.h"
#include "base/file.h"
#include "base/temp_dir.h"
#include "cli/call/command.h"
#include "cli/call/help.h"
#include "cli/setup/device_facts.h"
#include "cli/setup/gym_worker.h"
#include "cli/setup/judges.h"
#include "curriculum/suite.h"
#include "gym/api/token.h"
#include "gym/remote/remote_judge.h"
#include "gym/remote/service_client.h"
#include "gym/service/service.h"
#include "gym/service/sqlite_job_store.h"
#include "serve/mcp/stdio.h"

namespace tritonsmith::cli {
namespace {

struct McpOptions {
  GymChoice gym;
  std::string suite;
};

// Asks the service's own tool, since its devices judge.
Result<Json> facts_of_service(const GymChoice& gym) {
  TRY_ASSIGN(const auto service, gym::api::service_url(gym.url, gym.token_file));
  TRY_ASSIGN(const auto client, gym::remote::service_client(service));
  const Json request = {{"jsonrpc", "2.0"},
                        {"id", 1},
                        {"method", "tools/call"},
                        {"params", {{"name", "device_facts"}}}};
  const auto reply = client->Post("/mcp", to_line(request), "application/json");
  if (!reply) return fail_by_fault("{} does not answer", service.url);
  TRY_ASSIGN(const Json json, parse_json(reply->body));
  const Json::json_pointer pointer("/result/structuredContent");
  if (!json.contains(pointer))
    return fail_by_fault("{}: HTTP status {}", service.url, reply->status);
  return json[pointer];
}

gym::service::MakeJudge judge_maker(const McpOptions& options,
                                    const gym::judge::LocalJudgeConfig& config) {
  return [options,
          config](const std::stop_token& stopping) -> Result<std::unique_ptr<gym::api::Judge>> {
    if (!options.gym.url.empty())
      return gym::remote::RemoteJudge::open({.url = options.gym.url,
                                             .token_file = options.gym.token_file,
                                             .device = options.gym.device});
    TRY_ASSIGN(auto local, start_judge(config));
    if (stopping.stop_requested()) return fail("stopped");
    return std::unique_ptr<gym::api::Judge>(std::move(local));
  };
}

Status serve_mcp(const McpOptions& options) {
  gym::judge::LocalJudgeConfig config;
  config.directory = cache_directory("judge");
  TRY_ASSIGN(config.capture.data, data_folders(options.gym.data));
  TRY(check_device_choice(options.gym));
  if (!options.gym.url.empty() && !options.gym.data.empty())
    return fail("--data shows folders of this machine; the service at {} has its own",
                options.gym.url);
  if (!config.directory.empty()) TRY(make_directories(config.directory));
  std::vector<Task> tasks;
  if (!options.suite.empty()) {
    TRY_ASSIGN(tasks, curriculum::load_suite(options.suite));
  }
  const serve::Suite suite(std::move(tasks));
  TRY_ASSIGN(const TempDir folder, TempDir::make("mcp"));
  TRY_ASSIGN(const auto job_store,
             gym::service::SqliteJobStore::open(folder.path() / "jobs.sqlite", {}, {}));
  gym::service::ServiceMetrics metrics;
  gym::service::JobDispatcher dispatcher(*job_store, judge_maker(options, config),
                                         worker_settings(config), metrics);
  const gym::service::Service service(*job_store, dispatcher.health(), metrics, {});
  const serve::mcp::Tools tools(
      suite, service.context().limits,
      [&]() -> Result<Json> {
        return options.gym.url.empty() ? device_facts(config) : facts_of_service(options.gym);
      },
      serve::mcp::FileAccess::own);
  const serve::mcp::McpServer server({service.context()}, tools);
  return serve::mcp::serve_stdio(server, {}, {});
}

void add_mcp_command(CLI::App& app, Run& run) {
  CLI::App* command =
      app.add_subcommand("mcp", "Serve the judge as tools for a coding agent (MCP over stdio)");
  const auto options = std::make_shared<McpOptions>();
  command->add_option("--suite", options->suite,
                      "Tasks that the agent may name by id: curriculum, a folder in KernelBench's "
                      "layout, or JSONL");
  add_gym_options(*command, options->gym);
  add_example(*command, "mcp");
  add_example(*command, "mcp --suite KernelBench --gym http://gym:8800");
  command->callback([options, &run] { run = [options] { return finish(serve_mcp(*options)); }; });
}

const Command mcp_command(CommandGroup::judge, "mcp", add_mcp_command);

}  // namespace
}  // namespace tritonsmith::cli
