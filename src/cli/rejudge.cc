// `tritonsmith rejudge`: judges the kernels that a run's records call accepted again, on other
// sizes, other input distributions and with more trials; the exit code tells whether all still
// pass.
#include "eval/rejudge.h"

#include <fmt/format.h>

#include <map>
#include <set>

#include "base/file.h"
#include "base/log.h"
#include "cli/commands.h"
#include "cli/judges.h"
#include "curriculum/suite.h"
#include "data/sample.h"

namespace tritonsmith::cli {
namespace {

struct Options {
  std::string suite;
  std::vector<std::string> records;
  int trials = 12;
  std::uint64_t seed = 1;
  std::string policy = "strict", backend = "auto";
};

// The tasks each task of the suite is judged again on, by id: itself, and its relatives where the
// suite is one that can make them.
Result<std::map<std::string, std::vector<Task>>> tasks_by_id(const Options& options) {
  std::map<std::string, std::vector<Task>> found;
  TRY_ASSIGN(auto lessons, curriculum::load_lessons(options.suite));
  if (lessons) {
    for (const curriculum::Lesson& lesson : *lessons) {
      std::vector<Task> tasks = curriculum::relatives(lesson, options.seed);
      tasks.push_back(lesson.task);
      found.emplace(lesson.task.id, std::move(tasks));
    }
    return found;
  }
  LOG("{} is not made by a grammar: its tasks are judged again as they are, with {} trials",
      options.suite, options.trials);
  TRY_ASSIGN(auto tasks, curriculum::load_suite(options.suite));
  for (Task& task : tasks) {
    std::string id = task.id;
    found.emplace(std::move(id), std::vector<Task>{std::move(task)});
  }
  return found;
}

// Accepted kernels, each once per task.
Status add_suspects(const std::string& file, std::map<std::string, std::vector<Task>>& tasks,
                    std::set<std::string>& seen, std::vector<eval::Suspect>& suspects) {
  TRY_ASSIGN(const auto lines, read_lines(file));
  for (std::size_t i = 0; i < lines.size(); ++i) {
    auto json = parse_json(lines[i]);
    if (!json && i + 1 == lines.size()) break;  // cut short by a kill
    TRY_WITHIN(fmt::format("{}:{}", file, i + 1), json);
    TRY_ASSIGN(Sample sample, sample_from_json(*json));
    if (!sample.verdict.accepted || !seen.insert(sample.task_id + '\n' + sample.kernel).second)
      continue;
    const auto at = tasks.find(sample.task_id);
    if (at == tasks.end())
      return fail("{}:{}: task {} is not in this suite; name the suite the run was made on", file,
                  i + 1, sample.task_id);
    suspects.push_back({.origin = fmt::format("{}:{}", file, i + 1),
                        .kernel = std::move(sample.kernel),
                        .tasks = at->second});
  }
  return ok();
}

Status rejudge_records(const Options& options) {
  eval::RejudgeOptions how{.trials = options.trials};
  TRY_ASSIGN(how.policy, enum_from_name<Policy>(options.policy));
  TRY_ASSIGN(how.backend, enum_from_name<Backend>(options.backend));
  TRY_ASSIGN(auto tasks, tasks_by_id(options));
  std::set<std::string> seen;
  std::vector<eval::Suspect> suspects;
  for (const std::string& file : options.records) TRY(add_suspects(file, tasks, seen, suspects));
  TRY_ASSIGN(auto judge, open_judge(""));
  TRY_ASSIGN(const eval::Rejudgement report, eval::rejudge(suspects, how, *judge));
  for (const eval::Refusal& refusal : report.refusals)
    fmt::print("refused: {} on {}: {}\n", refusal.origin, refusal.verdict.task_id,
               refusal.verdict.error ? refusal.verdict.error->message
                                     : std::string(name_of(refusal.verdict.stage)));
  fmt::print("{} accepted kernels, {} verdicts of {} trials each, {} refused\n", report.kernels,
             report.verdicts, options.trials, report.refusals.size());
  if (report.refusals.empty()) return ok();
  return fail("{} verdicts refused what was accepted before", report.refusals.size());
}

}  // namespace

void add_rejudge_command(CLI::App& app, Run& run) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(
      "rejudge", "Judge accepted kernels again, on other sizes and inputs, with more trials");
  command->add_option("SAMPLES", options->records, "samples.jsonl of runs and evaluations")
      ->required();
  command
      ->add_option(
          "--suite", options->suite,
          "Where their tasks come from: 'quickstart:seed=1,train=6000', a folder, a .jsonl")
      ->required();
  command->add_option("--trials", options->trials, "Inputs that each kernel is tried on")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  command->add_option("--seed", options->seed, "Of the other sizes")->capture_default_str();
  command->add_option("--policy", options->policy, "strict, fused or open")->capture_default_str();
  command->add_option("--backend", options->backend, "auto, evaluate or replay")
      ->capture_default_str();
  command->callback(
      [&run, options] { run = [options] { return finish(rejudge_records(*options)); }; });
}

}  // namespace tritonsmith::cli
