// `tritonsmith quickstart`: the whole loop on this machine. A small model from scratch learns to
// write Triton kernels: supervised warm-up on a teacher's solutions, then reinforcement learning
// against the gym, with an evaluation on held-out tasks after each phase. Each phase goes on where
// a killed quickstart stopped.
//
//   OUT/start       the untrained model and its tokenizer
//   OUT/sft, OUT/rl run directories
//   OUT/eval-*      evaluations on the held-out tasks
//   OUT/summary.json, OUT/report.html
#include <fmt/format.h>

#include "base/file.h"
#include "base/log.h"
#include "cli/call/command.h"
#include "cli/call/command_line.h"
#include "cli/call/help.h"
#include "cli/call/output.h"
#include "cli/call/version.h"
#include "cli/setup/judges.h"
#include "cli/setup/new_model.h"
#include "cli/setup/prompted_writer.h"
#include "cli/setup/quickstart_config.h"
#include "cli/setup/shared_gpu.h"
#include "cli/setup/teacher_examples.h"
#include "cli/setup/training_gym.h"
#include "curriculum/suite.h"
#include "report/report.h"
#include "train/rl/rl.h"

namespace tritonsmith::cli {
namespace {

namespace fs = std::filesystem;

struct QuickstartOptions {
  std::uint64_t seed = 1;
  std::string out = "runs/quickstart";
  std::vector<std::string> set;
};

struct Phase {
  Evaluation evaluation;
  double seconds = 0;  // of training and evaluation
};

struct CurriculumTasks {
  std::vector<curriculum::GeneratedTask> all;
  std::vector<Task> train, heldout;
};

// One quickstart in progress.
class Quickstart {
 public:
  Quickstart(QuickstartConfig config, const train::StopFlag& stop)
      : config_(std::move(config)), out_(config_.out), stop_(stop) {}

  Status run() {
    TRY(make_directories(out_));
    TRY(claim_directory());
    make_tasks();
    TRY_ASSIGN(judge_, open_judge(out_ / "gym", gym_of(config_.rl)));
    TRY(make_examples());
    TRY(make_start());
    TRY(finish_phase("untrained", out_ / "start", Stopwatch()));
    TRY(supervise());
    TRY(reinforce());
    return report();
  }

 private:
  // The directory belongs to one config. Another config needs another directory.
  Status claim_directory() {
    const fs::path record = out_ / "config.toml";
    const std::string resolved = toml_from_settings(settings_of(config_));
    if (!fs::exists(record)) return write_file_atomic(record, resolved);
    TRY_ASSIGN(const std::string recorded, read_file(record));
    if (recorded != resolved)
      return fail("{} holds a quickstart with other settings; choose another --out, or remove it",
                  out_.string());
    LOG("quickstart: going on in {}", out_.string());
    return ok();
  }

  void make_tasks() {
    tasks_.all = curriculum::generate_tasks(config_.curriculum);
    for (const curriculum::GeneratedTask& generated : tasks_.all)
      (generated.task.split == TaskSplit::heldout ? tasks_.heldout : tasks_.train)
          .push_back(generated.task);
    if (tasks_.heldout.size() > static_cast<std::size_t>(config_.heldout))
      tasks_.heldout.resize(static_cast<std::size_t>(config_.heldout));
  }

  Status make_examples() {
    const train::JudgeSection& judge = config_.rl.judge;
    TRY_ASSIGN(TeacherExamples made,
               teacher_examples(tasks_.all, {.teacher = config_.teacher,
                                             .prompt = config_.rl.prompt,
                                             .policy = judge.policy,
                                             .backend = judge.backend,
                                             .trials = judge.trials,
                                             .judge = [this] { return judge_.get(); }}));
    examples_ = std::move(made.examples);
    return ok();
  }

  // Makes the untrained model with its tokenizer.
  Status make_start() {
    const fs::path directory = out_ / "start";
    if (fs::exists(directory / "config.json")) return ok();  // this file is written last
    return make_new_model(
        directory,
        {.seed = config_.seed,
         .vocabulary = config_.vocabulary,
         .prompt = text::PromptRecord{.prompt = config_.rl.prompt,
                                      .max_new_tokens = config_.rl.rollout.sampling.max_new_tokens},
         .shape = config_.model},
        examples_);
  }

  Status supervise() {
    Stopwatch watch;
    train::SftConfig sft = config_.sft;
    sft.run.dir = out_ / "sft";
    sft.model.path = out_ / "start";
    TRY_ASSIGN(const train::SftSummary summary,
               train::run_sft(sft, {.examples = examples_, .program = program_name()}, stop_));
    if (!summary.is_finished) return fail_by_fault("stopped; the same command goes on from here");
    sft_model_ = summary.checkpoint;
    return finish_phase("sft", summary.checkpoint, watch);
  }

  Status reinforce() {
    Stopwatch watch;
    train::RlConfig rl = config_.rl;
    rl.run.dir = out_ / "rl";
    rl.model.path = sft_model_;
    const fs::path lease = rl.judge.lease ? lease_of_model(rl.model.device) : fs::path();
    const train::RlParts parts{.judge = *judge_,
                               .make_engine =
                                   [&](const model::Transformer& model) {
                                     return make_leased_engine(model, rl.engine, lease);
                                   },
                               .gpu_lease = lease,
                               .program = program_name()};
    TRY_ASSIGN(const train::RlSummary summary, train::run_rl(rl, tasks_.train, parts, stop_));
    if (!summary.is_finished) return fail_by_fault("stopped; the same command goes on from here");
    rl_model_ = summary.checkpoint;
    return finish_phase("rl", summary.checkpoint, watch);
  }

  Status finish_phase(const std::string& name, const fs::path& model, const Stopwatch& watch) {
    const Placement placement = {config_.rl.model.device, config_.rl.model.precision};
    TRY_ASSIGN(auto opened, ModelWriter::open(model, placement, config_.rl.prompt));
    TRY_ASSIGN(auto evaluation, eval::evaluate(tasks_.heldout,
                                               {.name = name,
                                                .suite = "curriculum, held-out",
                                                .model = model,
                                                .samples = config_.samples,
                                                .sampling = config_.rl.rollout.sampling,
                                                .policy = config_.rl.judge.policy,
                                                .backend = config_.rl.judge.backend,
                                                .trials = config_.trials,
                                                .seed = config_.seed,
                                                .directory = out_ / ("eval-" + name),
                                                .program = program_name()},
                                               opened->prompted_writer(), *judge_));
    phases_.push_back({std::move(evaluation), watch.seconds()});
    return ok();
  }

  Status report() {
    Json phases = Json::array();
    std::vector<Evaluation> evaluations;
    for (const Phase& phase : phases_) {
      const Evaluation& e = phase.evaluation;
      Json pass_at = Json::object();
      for (const auto& [k, share] : e.pass_at) pass_at[std::to_string(k)] = share;
      phases.push_back({{"name", e.name},
                        {"compiled", e.sampled.compiled},
                        {"correct", e.sampled.correct},
                        {"accepted", e.sampled.accepted},
                        {"greedy", e.greedy.value_or(Rates()).accepted},
                        {"pass_at", pass_at},
                        {"tasks", e.tasks},
                        {"samples", e.samples},
                        {"seconds", phase.seconds}});
      evaluations.push_back(e);
    }
    TRY(write_file_atomic(
        out_ / "summary.json",
        Json{{"schema", 1}, {"seed", config_.seed}, {"phases", phases}}.dump(2) + "\n"));
    TRY_ASSIGN(const auto runs, report::read_runs(out_));
    TRY(write_file_atomic(out_ / "report.html", report::render_report("Quickstart", runs)));
    show("{}\nreport: {}\n", report::evaluation_table(evaluations),
         fs::absolute(out_ / "report.html").string());
    return invite();
  }

  // Writes the held-out tasks as files, and prints the command with which the model solves one.
  Status invite() {
    TRY(curriculum::export_folder(out_ / "heldout", tasks_.heldout));
    show("try it: tritonsmith write {} --model {}\n",
         (out_ / "heldout" / (tasks_.heldout.front().id + ".py")).string(), rl_model_.string());
    return ok();
  }

  QuickstartConfig config_;
  fs::path out_;
  const train::StopFlag& stop_;
  CurriculumTasks tasks_;
  std::vector<train::SftExample> examples_;
  std::unique_ptr<gym::api::Judge> judge_;
  fs::path sft_model_, rl_model_;
  std::vector<Phase> phases_;
};

Status quickstart(const QuickstartOptions& options) {
  QuickstartConfig config = QuickstartConfig::with_seed(options.seed);
  config.out = options.out;
  TRY_ASSIGN(const Settings on_top, settings_from_overrides(options.set));
  TRY(apply_settings(config, on_top, "--set"));
  train::StopFlag stop = false;
  const train::StopSignals signals(stop);
  return Quickstart(std::move(config), stop).run();
}

void add_quickstart_command(CLI::App& app, Run& run) {
  auto options = std::make_shared<QuickstartOptions>();
  CLI::App* command =
      app.add_subcommand("quickstart", "Train a small model to write kernels, on this machine");
  command->add_option("--seed", options->seed, "Every random choice follows from this number");
  command->add_option(
      "--out", options->out,
      "The folder for all files of the quickstart. A quickstart that stopped there continues");
  command->add_option("--set", options->set,
                      "A setting as key=value in place of its default (repeatable)");
  note_settings<QuickstartConfig>(*command);
  add_example(*command, "quickstart --seed 1 --out runs/quickstart");
  command->footer([] { return "settings:\n" + config_help<QuickstartConfig>(); });
  command->callback([&run, options] { run = [options] { return finish(quickstart(*options)); }; });
}

const Command quickstart_command(CommandGroup::start, "quickstart", add_quickstart_command);

}  // namespace
}  // namespace tritonsmith::cli
