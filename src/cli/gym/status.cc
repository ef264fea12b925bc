#include "cli/gym/status.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "base/counted.h"
#include "cli/call/help.h"
#include "cli/call/output.h"
#include "cli/gym/ask_service.h"
#include "cli/gym/quarantine.h"
#include "cli/judge_text.h"
#include "gym/api/token.h"

namespace tritonsmith::cli {
namespace {

struct StatusOptions {
  ServiceAddress service;
  std::string job;
  bool json = false;
};

std::int64_t number(const Json& json, const char* name) {
  return json.value(name, std::int64_t{0});
}

std::string queue_text(const Json& status) {
  std::int64_t waiting = 0;
  std::vector<std::string> parts;
  for (const char* priority : {"high", "normal", "low"}) {
    const std::int64_t count = number(status.value("queued", Json::object()), priority);
    waiting += count;
    if (count > 0) parts.push_back(fmt::format("{} {}", count, priority));
  }
  std::string text = counted_are(waiting, "job") + " waiting";
  if (!parts.empty()) text += fmt::format(" ({})", fmt::join(parts, ", "));
  const std::int64_t running = number(status, "running");
  return text + fmt::format(", {} {} being judged; at most {} may be unfinished\n", running,
                            are_for(running), counted(number(status, "limit"), "job"));
}

// "sm_90" and "gpu" say less than the GPU's name, which is the last class.
std::string devices_text(const Json& worker) {
  if (worker.value("role", "") == "capture") return "captures and compiles";
  const Json devices = worker.value("devices", Json::array());
  const auto gpus = worker.value("gpus", Json::array()).size();
  const std::string last = devices.empty() ? "" : devices.back().get<std::string>();
  return gpus > 1 ? fmt::format("{} x {}", gpus, last) : last;
}

TextTable workers_table(const Json& status) {
  TextTable table{.heads = {"HOST", "ROLE", "DEVICES", "LOAD", "VERSION", "SEEN", "STATE"}};
  for (const Json& worker : status.value("workers", Json::array())) {
    const std::string trouble = worker.value("trouble", "");
    table.rows.push_back(
        {worker.value("host", ""), worker.value("role", ""), devices_text(worker),
         fmt::format("{}/{}", number(worker, "running"), number(worker, "at_once")),
         worker.value("version", ""), time_ago(number(worker, "seen_ms"), number(status, "now_ms")),
         trouble.empty() ? "takes jobs" : trouble});
  }
  std::ranges::sort(table.rows);
  return table;
}

std::string verdicts_text(const Json& status) {
  std::vector<std::string> parts;
  const Json verdicts = status.value("verdicts", Json::object());
  for (const auto& [outcome, count] : verdicts.items())
    if (count.is_number_integer() && count != 0)
      parts.push_back(fmt::format("{} {}", count.dump(), outcome));
  std::string text;
  if (!parts.empty()) text = fmt::format("verdicts since its start: {}\n", fmt::join(parts, ", "));
  if (const std::int64_t again = number(status, "judged_again"); again > 0)
    text +=
        fmt::format("{} judged again because of a GPU in quarantine\n", counted_were(again, "job"));
  return text;
}

std::string job_text(const Json& job) {
  std::string text = fmt::format("{}: {}\n", job.value("id", ""), job.value("state", ""));
  if (job.contains("doubt"))
    text += fmt::format("it is judged again, because its GPU went into quarantine: {}\n",
                        job.value("doubt", ""));
  if (!job.contains("verdict")) return text;
  const auto verdict = verdict_from_json(job["verdict"]);
  return text + (verdict ? judge_text(*verdict, "the service has no GPU") : job["verdict"].dump());
}

Status show_status(const StatusOptions& options) {
  TRY_ASSIGN(const Json reply,
             ask_service(options.service,
                         {.path = options.job.empty() ? "/v1/status" : "/v1/jobs/" + options.job}));
  if (options.json)
    show("{}\n", reply.dump(2, ' ', false, Json::error_handler_t::replace));
  else if (!options.job.empty())
    show_text(job_text(reply));
  else
    show_text(status_text(gym::api::without_token(options.service.url), reply));
  return ok();
}

}  // namespace

std::string status_text(const std::string& url, const Json& status) {
  const std::string trouble = status.value("trouble", "");
  std::string state = status.value("ready", false) ? "takes jobs" : "takes no jobs yet";
  if (!trouble.empty()) state = "no verdicts come: " + trouble;
  std::string text = fmt::format("{} {}\n{}", url, state, queue_text(status));
  text += verdicts_text(status);
  const TextTable workers = workers_table(status);
  text += workers.rows.empty()
              ? "\nno worker has reported; start one with `tritonsmith gym work`, which tests "
                "itself first\n"
              : "\n" + to_text(workers);
  const Json quarantine = status.value("quarantine", Json::array());
  if (quarantine.empty()) return text;
  return text +
         "\nGPUs in quarantine, which judge no more until you clear them "
         "(`tritonsmith gym quarantine clear GPU --url URL`):\n" +
         to_text(quarantine_table(quarantine));
}

void add_gym_status(CLI::App& gym, Run& run) {
  const auto options = std::make_shared<StatusOptions>();
  CLI::App* command =
      gym.add_subcommand("status", "Show the state of a service, or of one of its jobs");
  add_service_options(*command, options->service.url, options->service.token_file);
  command->add_option("JOB", options->job, "The id of a job");
  command->add_flag("--json", options->json, "Print the service's reply as JSON");
  add_example(*command, "gym status --url http://127.0.0.1:8800");
  command->callback([options, &run] { run = [options] { return finish(show_status(*options)); }; });
}

}  // namespace tritonsmith::cli
