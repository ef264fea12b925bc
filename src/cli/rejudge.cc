// `tritonsmith rejudge`: judges a run's accepted kernels again, on other sizes, other input
// distributions and with more trials. The exit code tells whether all still pass. With --refused it
// judges the kernels that the records call wrong. One that is accepted now was refused wrongly.
#include "eval/rejudge.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <set>
#include <span>

#include "base/file.h"
#include "base/jsonl.h"
#include "base/log.h"
#include "cli/call/command.h"
#include "cli/call/help.h"
#include "cli/call/output.h"
#include "cli/judge_text.h"
#include "cli/setup/judges.h"
#include "curriculum/suite.h"
#include "data/sample.h"

namespace tritonsmith::cli {
namespace {

struct RejudgeOptions {
  std::string suite;
  std::vector<std::string> records;
  int trials = 12;
  std::uint64_t seed = 1;
  Policy policy = Policy::strict;
  Backend backend = Backend::automatic;
  std::string out;
  bool rewarded = false, refused = false, use_store = false;
  std::size_t limit = 0;
  GymChoice gym;
};

// Returns for each task of the suite, by id, the tasks on which its kernels are judged again: the
// task itself, then its relatives if the suite can make them.
Result<std::map<std::string, std::vector<Task>>> tasks_by_id(const RejudgeOptions& options) {
  std::map<std::string, std::vector<Task>> found;
  TRY_ASSIGN(auto generated_tasks, curriculum::load_generated_tasks(options.suite));
  if (generated_tasks) {
    for (const curriculum::GeneratedTask& generated : *generated_tasks) {
      std::vector<Task> tasks = curriculum::relatives(generated, options.seed);
      tasks.insert(tasks.begin(), generated.task);
      found.emplace(generated.task.id, std::move(tasks));
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

// Tells whether a run paid for the sample's execution. If reward.earning was `correct`, that
// includes kernels that a finding rejects.
bool is_rewarded(const Sample& sample) {
  return std::ranges::any_of(sample.reward.terms, [](const RewardTerm& term) {
    return term.name == "correct" && term.value > 0 && term.weight > 0;
  });
}

// Tells whether the sample was refused for wrong values.
bool is_wrong(const Sample& sample) {
  return sample.verdict.error && sample.verdict.error->error_class == ErrorClass::wrong_value;
}

// The kernels to judge again, gathered file by file.
struct LineUp {
  std::map<std::string, std::vector<Task>> tasks;  // by id
  std::set<std::string> seen;                      // texts of task and kernel
  std::vector<eval::Suspect> suspects;
};

// Adds a file's accepted kernels (or rewarded, or refused ones), each once per task.
Status add_suspects(const std::string& file, const RejudgeOptions& options, LineUp& line_up) {
  const auto add = [&](const JsonLine& line) -> Status {
    TRY_ASSIGN(Sample sample, sample_from_json(line.json));
    const bool is_suspect = options.refused    ? is_wrong(sample)
                            : options.rewarded ? is_rewarded(sample)
                                               : sample.verdict.accepted;
    if (!is_suspect || !line_up.seen.insert(sample.task_id + '\n' + sample.kernel).second)
      return ok();
    const auto at = line_up.tasks.find(sample.task_id);
    if (at == line_up.tasks.end())
      return fail("task {} is not in this suite; name the suite the run was made on",
                  sample.task_id);
    line_up.suspects.push_back({.origin = fmt::format("{}:{}", file, line.number),
                                .kernel = std::move(sample.kernel),
                                .tasks = at->second});
    return ok();
  };
  TRY(for_each_json_line(file, {.last_line = LastLine::may_be_cut_off}, add));
  return ok();
}

// Keeps at most `limit` suspects, evenly from the first to the last. 0 keeps all.
void keep_evenly(std::size_t limit, std::vector<eval::Suspect>& suspects) {
  if (limit == 0 || suspects.size() <= limit) return;
  std::vector<eval::Suspect> kept;
  for (std::size_t i = 0; i < limit; ++i)
    kept.push_back(std::move(suspects[i * suspects.size() / limit]));
  suspects = std::move(kept);
}

// Returns {"kernels", "verdicts", "judged": [origin], "refusals": [{"origin", "task", "stage",
// "error", "rules"}], "warnings": {rule: [origin]}}.
Json to_json(const eval::Rejudgement& report, std::span<const eval::Suspect> suspects) {
  Json refusals = Json::array(), judged = Json::array();
  for (const eval::Suspect& suspect : suspects) judged.push_back(suspect.origin);
  for (const eval::Refusal& refusal : report.refusals) {
    Json rules = Json::array();
    for (const Finding& finding : refusal.verdict.findings)
      if (finding.severity == Severity::reject) rules.push_back(finding.rule);
    refusals.push_back({{"origin", refusal.origin},
                        {"task", refusal.verdict.task_id},
                        {"stage", name_of(refusal.verdict.stage)},
                        {"error", refusal.verdict.error ? class_name(*refusal.verdict.error) : ""},
                        {"rules", rules}});
  }
  return {{"schema", 1},      {"kernels", report.kernels}, {"verdicts", report.verdicts},
          {"judged", judged}, {"refusals", refusals},      {"warnings", report.warnings}};
}

// Returns {"kernels", "verdicts", "judged": [origin], "accepted_on_their_task": [origin],
// "accepted_on_all": [origin]}.
Json to_json(const eval::Acquittals& found, std::span<const eval::Suspect> suspects) {
  Json judged = Json::array();
  for (const eval::Suspect& suspect : suspects) judged.push_back(suspect.origin);
  return {{"schema", 1},
          {"kernels", found.kernels},
          {"verdicts", found.verdicts},
          {"judged", judged},
          {"accepted_on_their_task", found.on_their_task},
          {"accepted_on_all", found.on_all}};
}

Status write_result(const std::string& file, const Json& result) {
  return file.empty() ? ok() : write_file_atomic(file, result.dump(2) + "\n");
}

Result<ExitCode> retry_refused(const RejudgeOptions& options, const eval::RejudgeOptions& how,
                               std::span<const eval::Suspect> suspects, gym::api::Judge& judge) {
  TRY_ASSIGN(const eval::Acquittals found, eval::retry_refused(suspects, how, judge));
  TRY(write_result(options.out, to_json(found, suspects)));
  for (const std::string& origin : found.on_all) show("accepted: {}\n", origin);
  show(
      "{} kernels refused for their values, {} verdicts of {} trials each: {} are accepted now on "
      "their own task, {} of them on all its relatives too\n",
      found.kernels, found.verdicts, options.trials, found.on_their_task.size(),
      found.on_all.size());
  return ExitCode::done;
}

Result<ExitCode> rejudge_records(const RejudgeOptions& options) {
  const eval::RejudgeOptions how{.policy = options.policy,
                                 .backend = options.backend,
                                 .trials = options.trials,
                                 .use_store = options.use_store};
  if (!options.out.empty()) TRY(prepare_output_file(options.out));
  for (const std::string& file : options.records)
    if (::access(file.c_str(), R_OK) != 0) return fail_errno(fmt::format("cannot open {}", file));
  LineUp line_up;
  TRY_ASSIGN(line_up.tasks, tasks_by_id(options));
  for (const std::string& file : options.records) TRY(add_suspects(file, options, line_up));
  keep_evenly(options.limit, line_up.suspects);
  TRY_ASSIGN(auto judge, open_judge("", options.gym));
  if (options.refused) return retry_refused(options, how, line_up.suspects, *judge);
  TRY_ASSIGN(const eval::Rejudgement report, eval::rejudge(line_up.suspects, how, *judge));
  TRY(write_result(options.out, to_json(report, line_up.suspects)));
  for (const eval::Refusal& refusal : report.refusals)
    show("refused: {} on {}: {}\n", refusal.origin, refusal.verdict.task_id,
         refusal.verdict.error ? refusal.verdict.error->message
                               : std::string(name_of(refusal.verdict.stage)));
  for (const auto& [rule, origins] : report.warnings)
    show("{} kernels are warned of by {}, which rejects nothing: {}\n", origins.size(), rule,
         *origins.begin());
  show("{} accepted kernels, {} verdicts of {} trials each, {} refused\n", report.kernels,
       report.verdicts, options.trials, report.refusals.size());
  if (report.faults > 0)
    return fail_by_fault(
        "{} of {} verdicts ended in a fault of the gym; `tritonsmith doctor` may "
        "say why",
        report.faults, report.verdicts);
  if (report.refusals.empty()) return ExitCode::done;
  complain(fmt::format("{} verdicts refuse what was accepted before", report.refusals.size()));
  return ExitCode::not_accepted;
}

void add_rejudge_command(CLI::App& app, Run& run) {
  auto options = std::make_shared<RejudgeOptions>();
  CLI::App* command = app.add_subcommand(
      "rejudge", "Judge kernels of records again, on other sizes and inputs, with more trials");
  command->add_option("SAMPLES", options->records, "The samples.jsonl of runs and evaluations")
      ->required();
  command
      ->add_option("--suite", options->suite,
                   "The suite of their tasks: 'quickstart:seed=1,train=6000', a folder, a .jsonl")
      ->required();
  command->add_option("--trials", options->trials, "On how many inputs each kernel is tried")
      ->check(CLI::Range(1, 1000));
  command->add_option("--seed", options->seed, "The other sizes follow from this number");
  add_choice(*command, "--policy", options->policy, kPolicyHelp);
  add_choice(*command, "--backend", options->backend, kBackendHelp);
  CLI::Option* rewarded =
      command->add_flag("--rewarded", options->rewarded,
                        "Judge kernels that a run paid for, even if a finding rejects them");
  command
      ->add_flag("--refused", options->refused,
                 "Judge kernels that were refused for their values, and name those that this judge "
                 "accepts")
      ->excludes(rewarded);
  command->add_flag("--use-store", options->use_store,
                    "Use verdicts that an earlier call reached for other records");
  command->add_option("--limit", options->limit,
                      "Judge at most this many kernels, evenly spread over the records; 0: all");
  command->add_option("--out", options->out, "Write the result as JSON to this file");
  add_gym_options(*command, options->gym);
  add_example(*command, "rejudge runs/rl-small/samples.jsonl --suite quickstart:seed=1,train=6000");
  command->callback(
      [&run, options] { run = [options] { return finish(rejudge_records(*options)); }; });
}

const Command rejudge_command(CommandGroup::judge, "rejudge", add_rejudge_command);

}  // namespace
}  // namespace tritonsmith::cli
