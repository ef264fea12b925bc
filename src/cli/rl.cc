// `tritonsmith rl CONFIG.toml | RUN_DIR`: reinforcement learning against the gym.
// docs/settings.md lists the config.
#include "train/rl/rl.h"

#include <fmt/format.h>

#include "base/log.h"
#include "cli/call/command.h"
#include "cli/call/help.h"
#include "cli/call/output.h"
#include "cli/call/version.h"
#include "cli/setup/judges.h"
#include "cli/setup/ranks.h"
#include "cli/setup/shared_gpu.h"
#include "cli/setup/training.h"
#include "cli/setup/training_gym.h"
#include "curriculum/suite.h"

namespace tritonsmith::cli {
namespace {

using train::RlConfig;

// Returns the tasks on which the run may train.
Result<std::vector<Task>> training_tasks(const TrainingCall& call, const RlConfig& config) {
  TRY_ASSIGN(const auto source, data_file(call, "tasks.jsonl", config.tasks.path, "tasks.path"));
  TRY_ASSIGN(std::vector<Task> tasks, curriculum::load_suite(source.string()));
  const std::size_t heldout =
      std::erase_if(tasks, [](const Task& task) { return task.split == TaskSplit::heldout; });
  if (tasks.empty())
    return fail("{}: all of its {} tasks are held out for evaluation", source.string(), heldout);
  LOG("rl: {} tasks from {}", tasks.size(), source.string());
  if (heldout > 0) LOG("rl: {} tasks are held out for evaluation and left out", heldout);
  return tasks;
}

Result<train::References> references(const TrainingCall& call, const RlConfig& config) {
  if (config.tasks.references.empty()) return train::References();
  TRY_ASSIGN(const auto file,
             data_file(call, "references.jsonl", config.tasks.references, "tasks.references"));
  return train::read_references(file);
}

Status preview(const RlConfig& config, const std::vector<Task>& tasks,
               const std::vector<std::string>& fetched) {
  if (!fetched.empty()) {
    print_preview_without_models(
        settings_of(config), config.run, fetched,
        fmt::format("{} tasks, {} samples a step", tasks.size(), config.samples_per_step()));
    return ok();
  }
  TRY_ASSIGN(const auto found, train::preview_rl(config, tasks));
  print_preview(settings_of(config), config.run, found.run,
                fmt::format("{} tasks, {} samples a step", found.tasks, config.samples_per_step()));
  return ok();
}

// The tasks of a run, and the gym that judges them.
struct Material {
  std::vector<Task> tasks;
  train::References references;
  GymChoice gym;
};

// This is only a warning, because a dry run may take place on a machine without a GPU.
void warn_of_what_nothing_measures(const RlConfig& config, const GymChoice& gym) {
  const bool wants_speed =
      config.reward.speed > 0 || config.reward.coverage > 0 || config.algorithm.prs;
  if (wants_speed && gym.url.empty() && visible_gpus() == 0)
    LOG("rl: reward.speed, reward.coverage and algorithm.prs need a GPU that judges; there is none "
        "here, so they pay and reject nothing (judge.url names a gym that has one)");
}

// Opens the judges. Every rank judges its own samples, and the ranks of a host share a secret and a
// store.
Result<std::unique_ptr<gym::api::Judge>> open_judges(const RlConfig& config, const GymChoice& gym,
                                                     distributed::Ranks& ranks) {
  const auto open_first = [&]() -> Result<std::unique_ptr<gym::api::Judge>> {
    // This check must come before the judge writes to the directory.
    TRY(train::RunDirectory::would_go_on(config.run.dir, "rl", settings_of(config)));
    return open_judge(config.run.dir, gym);
  };
  if (!ranks.is_first()) {
    TRY(ranks.agree(ok(), "opening the gym"));
    return open_judge(config.run.dir, gym);
  }
  auto judge = open_first();
  TRY(ranks.agree(judge ? ok() : Status(tl::unexpected(judge.error())), "opening the gym"));
  return judge;
}

Result<train::RlSummary> reinforce(const RlConfig& config, Material material,
                                   const train::StopFlag& stop, distributed::Ranks& ranks) {
  TRY_ASSIGN(const auto judge, open_judges(config, material.gym, ranks));
  // This program's judge, or a service on this machine, may time kernels on the GPU that trains.
  const std::filesystem::path lease =
      config.judge.lease ? lease_of_model(config.model.device) : std::filesystem::path();
  const train::RlParts parts{.judge = *judge,
                             .make_engine =
                                 [&](const model::Transformer& model) {
                                   return make_leased_engine(model, config.engine, lease);
                                 },
                             .references = std::move(material.references),
                             .ranks = ranks,
                             .gpu_lease = lease,
                             .program = program_name()};
  return train::run_rl(config, material.tasks, parts, stop);
}

// Refuses ranks on several hosts without a common gym. A local judge's secret and store stay on its
// host.
Status check_gym_of_hosts(const GymChoice& gym, const distributed::LaunchInfo& launch) {
  if (!launch.spans_hosts() || !gym.url.empty()) return ok();
  return fail(
      "ranks on several hosts share no gym of this machine: start `tritonsmith gym serve` where "
      "all reach it, and give its URL (--gym or judge.url)");
}

Status train_by_reward(const TrainingCall& call, const GymChoice& gym, distributed::Ranks& ranks,
                       const distributed::LaunchInfo& launch) {
  TRY_ASSIGN(RlConfig config, config_of<RlConfig>(call));
  std::vector<std::string*> models = {&config.model.path};
  if (config.teacher.is_on()) models.push_back(&config.teacher.path);
  TRY_ASSIGN(const auto fetched, find_models(call, models));
  TRY(train::check(config,
                   fetched.empty() ? train::ModelLocation::here : train::ModelLocation::on_hub));
  // The run's own config records the class, so that a resumed run asks for the same one.
  if (!gym.device.empty()) config.judge.device = gym.device;
  Material material{.tasks = {}, .references = {}, .gym = gym_of(config, gym)};
  TRY(check_device_choice(material.gym));
  TRY(check_gym_of_hosts(material.gym, launch));
  if (ranks.is_first()) warn_of_what_nothing_measures(config, material.gym);
  material.gym.processes = launch.local_size;
  TRY_ASSIGN(material.tasks, training_tasks(call, config));
  TRY_ASSIGN(material.references, references(call, config));
  if (call.is_dry_run) return ranks.is_first() ? preview(config, material.tasks, fetched) : ok();
  train::StopFlag stop = false;
  const train::StopSignals signals(stop);
  TRY_ASSIGN(const auto summary, reinforce(config, std::move(material), stop, ranks));
  if (!summary.is_finished) return stopped(summary.steps, config, "rl");
  if (!ranks.is_first()) return ok();
  show("{} steps, reward {:.3f}, accepted {:.0f} %\n", summary.steps, summary.reward,
       100 * summary.accepted);
  print_model(summary.checkpoint);
  return ok();
}

void add_rl_command(CLI::App& app, Run& run) {
  auto call = std::make_shared<TrainingCall>();
  CLI::App* command = add_training_command(
      app, "rl", "Train a model by the gym's verdicts on what it writes", call);
  add_example(*command, "rl configs/rl-small.toml --set run.steps=20");
  add_example(*command, "rl runs/rl-small");
  command->footer([] { return "settings:\n" + config_help<RlConfig>(); });
  // This overrides judge.url. A run may resume with another gym.
  const auto gym = std::make_shared<GymChoice>();
  add_gym_options(*command, *gym);
  command->callback([&run, call, gym] {
    run = [call, gym] {
      return finish(with_ranks(
          [&](distributed::Ranks& ranks, const distributed::LaunchInfo& launch) -> Status {
            return train_by_reward(*call, *gym, ranks, launch);
          }));
    };
  });
}

const Command rl_command(CommandGroup::train, "rl", add_rl_command);

}  // namespace
}  // namespace tritonsmith::cli
