#include "cli/tasks/curate.h"

#include <fmt/ranges.h>

#include "base/file.h"
#include "base/log.h"
#include "cli/call/command_line.h"
#include "cli/call/help.h"
#include "cli/call/output.h"
#include "cli/setup/judges.h"
#include "curate/curate.h"
#include "curate/plan_reader.h"
#include "curriculum/suite.h"
#include "datasets/export.h"

namespace tritonsmith::cli {
namespace {

namespace fs = std::filesystem;

struct CurateOptions {
  std::vector<std::string> folders, away_from, settings, data;
  std::string out, split = "train", licence;
  datasets::ExampleLayout layout = datasets::ExampleLayout::sft;
  curate::Want want = curate::Want::all;
  bool reads_plans = false;
};

struct Suite {
  std::string name;
  std::vector<Task> tasks;
};

Result<curate::Query> query_of(const CurateOptions& options) {
  curate::Query query{.want = options.want};
  TRY_ASSIGN(const Settings settings, settings_from_overrides(options.settings));
  TRY(apply_settings(query, settings, "--set"));
  return query;
}

// Returns what `tasks distil` paid for these folders, in the currency of its prices.
double cost_of(const std::vector<std::string>& folders) {
  double cost = 0;
  for (const std::string& folder : folders) {
    const auto text = read_file(fs::path(folder) / "api.json");
    const auto json = text ? parse_json(*text) : Result<Json>(Json());
    if (json && json->is_object() && json->value("cost", Json()).is_number())
      cost += (*json)["cost"].get<double>();
  }
  return cost;
}

// Plans of the accepted kernels too, of which some may be copies of others.
Result<std::unique_ptr<curate::PlanReader>> read_plans(const CurateOptions& options,
                                                       const std::vector<Suite>& suites,
                                                       const curate::Material& material) {
  gym::capture::CaptureConfig guests;
  TRY_ASSIGN(guests.data, data_folders(options.data));
  TRY_ASSIGN(auto reader, curate::PlanReader::start(guests));
  std::size_t count = material.tasks.size();
  for (const Suite& each : suites) count += each.tasks.size();
  std::vector<curate::KernelOfTask> kernels;
  for (const curate::Conversation& each : material.conversations)
    for (const curate::Answer& answer : each.answers)
      if (answer.is_accepted) kernels.push_back({&material.tasks[each.task], answer.kernel});
  Progress progress("reading plans", count + kernels.size());
  std::size_t before = 0;
  const auto tell = [&](std::size_t read) { progress.advance_to(before + read); };
  TRY(reader->read_tasks(material.tasks, tell));
  before += material.tasks.size();
  for (const Suite& each : suites) {
    TRY(reader->read_tasks(each.tasks, tell));
    before += each.tasks.size();
  }
  TRY(reader->read_kernels(kernels, tell));
  return reader;
}

curate::Plans plans_of(const curate::PlanReader* reader) {
  if (reader == nullptr) return {};
  return {.of_task = [reader](const Task& task) { return reader->signature_of(task); },
          .of_kernel =
              [reader](const Task& task, const std::string& kernel) {
                return reader->signature_of(curate::KernelOfTask{&task, kernel});
              }};
}

// "data/teacher (answers of openai:NAME)"
std::string source_named(const std::string& folder) {
  const auto text = read_file(fs::path(folder) / "options.json");
  const auto json = text ? parse_json(*text) : Result<Json>(Json());
  const bool has_model = json && json->is_object() && json->value("model", Json()).is_string();
  if (!has_model) return folder;
  return fmt::format("{} (answers of {})", folder, (*json)["model"].get<std::string>());
}

std::string suites_named(const CurateOptions& options) {
  if (options.away_from.empty()) return "Its tasks were compared with those of no measuring suite.";
  return fmt::format("Tasks of {} were left out. They were sought by source, by syntax tree{}.",
                     fmt::join(options.away_from, ", "),
                     options.reads_plans ? " and by launch plan" : "");
}

// Returns the text that the data card shows below the rows' licences.
std::string report_of(const CurateOptions& options, const curate::Query& query,
                      const curate::Curated& curated, const std::string& elsewhere, double cost) {
  std::vector<std::string> sources;
  for (const std::string& each : options.folders) sources.push_back(source_named(each));
  std::string text = fmt::format("## How it was made\n\nFrom judged answers in {}. {}\n\n{}\n",
                                 fmt::join(sources, ", "), suites_named(options),
                                 funnel_table(curated.funnel, cost));
  if (!curated.copies.empty()) {
    text += "Copies that were left out, by what they have in common:";
    for (const auto& [by, count] : curated.copies) text += fmt::format(" {} {};", by, count);
    text.back() = '.';
    text += "\n\n";
  }
  if (!curated.failures.empty()) {
    text += "Answers that were not accepted:";
    for (const auto& [why, count] : curated.failures) text += fmt::format(" {} {};", why, count);
    text.back() = '.';
    text += "\n\n";
  }
  if (!elsewhere.empty())
    text += fmt::format("Answers timed on other GPUs, whose speed-ups do not count: {}.\n\n",
                        elsewhere);
  text += fmt::format("Wanted: {}. Settings:", name_of(query.want));
  for (const auto& [name, value] : settings_of(query))
    text += fmt::format(" `{}={}`", name, to_line(value));
  text += "\n";
  if (curated.removed.empty()) return text;
  text +=
      "\n## Tasks of measuring suites that were left out\n\n| task | is | by |\n|---|---|---|\n";
  for (const curate::Removed& each : curated.removed)
    text += fmt::format("| {} | {} | {} |\n", each.task, each.found.task, name_of(each.found.by));
  return text;
}

// Beside a file, or in a folder of the hub's layout.
fs::path beside(const fs::path& out, const char* name) {
  if (!datasets::is_row_file(out)) return out / name;
  return out.string() + "." + name;
}

void show_funnel(const curate::Curated& curated) {
  for (const curate::FunnelStep& each : curated.funnel)
    show("{:>8} answers, {:>6} tasks  {}\n", each.answers, each.tasks, each.name);
  if (!curated.removed.empty())
    show("{} tasks are of measuring suites and were left out\n", curated.removed.size());
}

void show_curated(const curate::Curated& curated, const CurateOptions& options) {
  show_funnel(curated);
  show("{} examples: {}\n", curated.examples.size(), options.out);
}

Result<std::vector<Suite>> suites_of(const CurateOptions& options) {
  std::vector<Suite> suites;
  for (const std::string& each : options.away_from) {
    TRY_ASSIGN(auto tasks, curriculum::load_suite(each));
    suites.push_back({.name = each, .tasks = std::move(tasks)});
  }
  return suites;
}

Status make_set(const CurateOptions& options) {
  TRY_ASSIGN(const curate::Query query, query_of(options));
  if (options.layout == datasets::ExampleLayout::preference &&
      query.want != curate::Want::preferences)
    return fail("--layout preference needs --want preferences");
  TRY_ASSIGN(const auto suites, suites_of(options));
  curate::Material material;
  for (const std::string& each : options.folders) TRY(material.read(each));
  const std::string elsewhere = material.keep_speeds_of(query.device);
  if (!elsewhere.empty())
    LOG("answers timed on other GPUs count as not timed: {} (--set device=NAME chooses the GPU)",
        elsewhere);
  std::unique_ptr<curate::PlanReader> reader;
  if (options.reads_plans) {
    TRY_ASSIGN(reader, read_plans(options, suites, material));
  }
  const curate::Plans plans = plans_of(reader.get());
  curate::Contamination contamination;
  for (const Suite& each : suites) contamination.add(each.name, each.tasks, plans.of_task);
  if (suites.empty())
    LOG("no suite was given to keep away from: --away-from KernelBench's folder, for one");
  TRY_ASSIGN(const auto curated, curate::curate(material, query, contamination, plans));
  const double cost = cost_of(options.folders);
  if (curated.examples.empty()) {
    show_funnel(curated);
    return fail("no answer is left: the last step, '{}', left none", curated.funnel.back().name);
  }
  const std::string report = report_of(options, query, curated, elsewhere, cost);
  TRY(datasets::export_examples(curated.examples, options.layout,
                                {.out = options.out,
                                 .split = options.split,
                                 .licence = options.licence,
                                 .card = report + "\n![the funnel](funnel.svg)\n"}));
  if (datasets::is_row_file(options.out))
    TRY(write_file_atomic(beside(options.out, "report.md"), report));
  TRY(write_file_atomic(beside(options.out, "funnel.svg"), funnel_picture(curated.funnel)));
  show_curated(curated, options);
  return ok();
}

}  // namespace

void add_curate_command(CLI::App& tasks, Run& run) {
  auto options = std::make_shared<CurateOptions>();
  CLI::App* command =
      tasks.add_subcommand("curate", "Make a training set of judged answers, by a query");
  command
      ->add_option("DIR", options->folders,
                   "Folders that `tasks distil`, `tasks pairs` or `rl` wrote")
      ->required();
  command
      ->add_option("--out", options->out,
                   "A .parquet, .jsonl or .json, also packed (.gz, .zst), or a folder, which gets "
                   "the Hugging Face hub's layout and a data card")
      ->required();
  add_choice(*command, "--want", options->want, "Which answers become examples");
  command->add_option(
      "--away-from", options->away_from,
      "Leave out the tasks of this suite, which serves only to measure (repeatable)");
  command->add_flag("--by-plan", options->reads_plans,
                    "Also compare tasks and kernels by their launch plans. The command reads about "
                    "ten plans in a second");
  add_choice(*command, "--layout", options->layout, "The columns of the set");
  command->add_option("--split", options->split, "The name of the split, if a folder is written")
      ->capture_default_str();
  command->add_option("--licence", options->licence,
                      "The licence that the README names, if a folder is written");
  add_data_option(*command, options->data);
  command->add_option("--set", options->settings,
                      "KEY=VALUE, of:\n" + config_help<curate::Query>());
  note_settings<curate::Query>(*command);
  add_example(*command,
              "tasks curate data/teacher --want best --away-from ~/KernelBench --out set.jsonl");
  add_example(*command,
              "tasks curate data/teacher --want repairs --layout messages --out data/repairs");
  command->callback([&run, options] { run = [options] { return finish(make_set(*options)); }; });
}

}  // namespace tritonsmith::cli
