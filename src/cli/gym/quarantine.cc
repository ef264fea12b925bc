#include "cli/gym/quarantine.h"

#include <algorithm>

#include "base/counted.h"
#include "base/utc_time.h"
#include "cli/call/help.h"
#include "cli/call/output.h"
#include "cli/gym/ask_service.h"

namespace tritonsmith::cli {
namespace {

struct QuarantineOptions {
  ServiceAddress service;
  std::string gpu, reason;
  bool recalibrate = false;
  bool json = false;
};

// "2026-11-25 23:46", in UTC.
std::string minute_of(std::int64_t unix_ms) {
  std::string text = utc_time(unix_ms).substr(0, 16);
  std::ranges::replace(text, 'T', ' ');
  return text;
}

void print_json(const Json& reply) {
  show("{}\n", reply.dump(2, ' ', false, Json::error_handler_t::replace));
}

Status list(const QuarantineOptions& options) {
  TRY_ASSIGN(const Json reply, ask_service(options.service, {.path = "/v1/quarantine"}));
  const Json gpus = reply.value("gpus", Json::array());
  if (options.json)
    print_json(reply);
  else if (gpus.empty())
    show("no GPU is in quarantine\n");
  else
    show_text(to_text(quarantine_table(gpus)));
  return ok();
}

Status add(const QuarantineOptions& options) {
  Json body = {{"gpu", options.gpu}};
  if (!options.reason.empty()) body["reason"] = options.reason;
  TRY_ASSIGN(
      const Json reply,
      ask_service(options.service, {.method = "POST", .path = "/v1/quarantine", .body = body}));
  if (options.json) {
    print_json(reply);
    return ok();
  }
  const std::int64_t jobs = reply.value("doubted_jobs", std::int64_t{0});
  show("{} judges no more{}; {} judged again elsewhere\n", options.gpu,
       reply.value("is_known", false)
           ? fmt::format(" on {}", reply.value("host", ""))
           : std::string(
                 " (no worker has announced it: is this its UUID, as in `gym status --json`?)"),
       counted_are(jobs, "job"));
  return ok();
}

Status clear(const QuarantineOptions& options) {
  TRY_ASSIGN(const Json reply,
             ask_service(options.service,
                         {.method = "DELETE",
                          .path = fmt::format("/v1/quarantine/{}{}", options.gpu,
                                              options.recalibrate ? "?calibration=anew" : "")}));
  if (options.json)
    print_json(reply);
  else
    show("{} judges again{}\n", options.gpu,
         options.recalibrate ? ", and its next calibration is its first" : "");
  return ok();
}

CLI::App* add_action(CLI::App& quarantine, const char* name, const char* help,
                     const std::shared_ptr<QuarantineOptions>& options) {
  CLI::App* command = quarantine.add_subcommand(name, help);
  add_service_options(*command, options->service.url, options->service.token_file);
  command->add_flag("--json", options->json, "Print the service's reply as JSON");
  return command;
}

}  // namespace

TextTable quarantine_table(const Json& gpus) {
  TextTable table{.heads = {"GPU", "DEVICE", "HOST", "SINCE (UTC)", "JOBS AGAIN", "REASON"}};
  for (const Json& gpu : gpus)
    table.rows.push_back({gpu.value("gpu", ""), gpu.value("device", ""), gpu.value("host", ""),
                          minute_of(gpu.value("since_ms", std::int64_t{0})),
                          std::to_string(gpu.value("doubted_jobs", 0)), gpu.value("reason", "")});
  return table;
}

void add_gym_quarantine(CLI::App& gym, Run& run) {
  CLI::App* quarantine =
      gym.add_subcommand("quarantine", "Decide which GPUs judge no more: list, add, clear");
  quarantine->require_subcommand(1);
  add_example(*quarantine, "gym quarantine list --url http://127.0.0.1:8800");
  const auto options = std::make_shared<QuarantineOptions>();
  CLI::App* listing = add_action(*quarantine, "list", "List the GPUs that judge no more", options);
  add_example(*listing, "gym quarantine list --url http://127.0.0.1:8800");
  listing->callback([options, &run] { run = [options] { return finish(list(*options)); }; });

  CLI::App* adding = add_action(
      *quarantine, "add", "Let a GPU judge no more, and have its last jobs judged again", options);
  adding->add_option("GPU", options->gpu, "The UUID of the GPU, as in `gym status --json`")
      ->required();
  adding->add_option("--reason", options->reason, "The reason, in one line for other operators");
  add_example(
      *adding,
      "gym quarantine add GPU-5c8f2a10 --reason \"its fan is loud\" --url http://127.0.0.1:8800");
  adding->callback([options, &run] { run = [options] { return finish(add(*options)); }; });

  CLI::App* clearing = add_action(*quarantine, "clear", "Let a GPU judge again", options);
  clearing->add_option("GPU", options->gpu, "The UUID of the GPU")->required();
  clearing->add_flag("--recalibrate", options->recalibrate,
                     "Compare its later speeds with its next calibration instead of its first one");
  add_example(*clearing, "gym quarantine clear GPU-5c8f2a10 --url http://127.0.0.1:8800");
  clearing->callback([options, &run] { run = [options] { return finish(clear(*options)); }; });
}

}  // namespace tritonsmith::cli
