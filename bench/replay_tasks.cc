// Shows which tasks of a folder replay natively, and whether a timing treats both sides alike. It
// captures every file below the folder and judges each task's plan against itself, with the
// reference as its own candidate. On a GPU it also prints the difference between the two medians of
// one plan. It prints one line for each task that was timed, or whose verdict is not "correct".
//
//   replay_tasks FOLDER [cpu|gpu] [seconds a task] [of them for rounds of timing]
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>

#include "base/bounded_queue.h"
#include "base/cores.h"
#include "base/file.h"
#include "base/hash.h"
#include "gym/capture/capture_pool.h"
#include "gym/cuda/driver.h"
#include "gym/judge/secret.h"
#include "gym/plan/plan.h"
#include "referee_program.h"

namespace tritonsmith {
namespace {

namespace fs = std::filesystem;

struct Captured {
  std::string name, source;
  gym::capture::CaptureOutcome outcome;
};

// Converts the reference's plan into a candidate's plan. The steps that draw inputs are left out.
std::string as_candidate(const std::string& json) {
  gym::plan::Plan plan = *gym::plan::parse_plan(json);
  plan.role = gym::plan::PlanRole::candidate;
  std::erase_if(plan.steps, [](const gym::plan::PlanStep& step) {
    return step.phase == gym::plan::Phase::inputs;
  });
  return to_line(gym::plan::to_json(plan));
}

std::vector<fs::path> tasks_below(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.path().extension() == ".py") files.push_back(entry.path());
  std::ranges::sort(files);
  return files;
}

struct Tally {
  int tasks = 0, correct = 0, native = 0;
  std::vector<double> apart;  // relative difference of the two medians
  std::map<std::string, int> endings;

  void fail(const std::string& name, const std::string& how, const std::string& message) {
    ++endings[how];
    fmt::print("{}: {}: {}\n", name, how, message.substr(0, message.find('\n')));
  }
};

void take_report(const gym::referee::RefereeReport& report, const std::string& name, Tally& tally) {
  if (report.error) return tally.fail(name, class_name(*report.error), report.error->message);
  ++tally.correct;
  if (!report.timing || report.timing->reference.median <= 0) return;
  const double ratio = report.timing->candidate.median / report.timing->reference.median;
  tally.apart.push_back(ratio - 1);
  fmt::print("{}: {:.4f} ms as a candidate, {:.4f} ms as the reference, {:+.2f} %\n", name,
             report.timing->candidate.median, report.timing->reference.median, 100 * (ratio - 1));
}

void judge(gym::judge::RefereeClient& referee, const Captured& captured,
           const gym::referee::RefereeBudget& budget, Tally& tally) {
  ++tally.tasks;
  if (const auto* failure = std::get_if<gym::sandbox::CandidateFailure>(&captured.outcome.result))
    return tally.fail(captured.name, class_name(failure->error),
                      fmt::format("line {}: {}", failure->error.line, failure->error.message));
  if (const auto* fault = std::get_if<gym::sandbox::InfrastructureFault>(&captured.outcome.result))
    return tally.fail(captured.name, "infrastructure", fault->message);
  const std::string& plan = std::get<gym::capture::CapturedPlan>(captured.outcome.result).json;
  if (const auto parsed = gym::plan::parse_plan(plan); !parsed || !parsed->unplanned.empty())
    return tally.fail(captured.name, "no plan of forward",
                      parsed ? parsed->unplanned : parsed.error().message);
  ++tally.native;
  const gym::referee::RefereeJob job{.task_key = content_key(captured.source),
                                     .candidate_plan = as_candidate(plan),
                                     .secret = content_key(*gym::judge::fresh_secret()),
                                     .trials = 1,
                                     .policy = Policy::open,
                                     .budget = budget};
  const auto outcome = referee.judge(job, plan);
  if (const auto* failure = std::get_if<gym::judge::RefereeFailure>(&outcome))
    return tally.fail(captured.name, "no verdict", failure->message);
  take_report(std::get<gym::referee::RefereeReport>(outcome), captured.name, tally);
}

Status run(const fs::path& folder, bool on_gpu, const gym::referee::RefereeBudget& budget) {
  const auto files = tasks_below(folder);
  BoundedQueue<Captured> captured(files.size() + 1);
  gym::capture::CaptureConfig config;
  config.slots = std::max(2, usable_cores());
  TRY_ASSIGN(const auto pool, gym::capture::CapturePool::start(config));
  gym::judge::RefereeProgram program = referee_program();
  if (on_gpu) program.gpu = 0;
  gym::judge::RefereeProcess referee(program);
  const Stopwatch watch;
  for (const fs::path& file : files) {
    TRY_ASSIGN(const std::string source, read_file(file));
    pool->capture({.role = gym::capture::CaptureRole::task, .source = source, .path = "task.py"},
                  [&captured, source, name = file.lexically_relative(folder).string()](
                      gym::capture::CaptureOutcome outcome) {
                    captured.push({name, source, std::move(outcome)});
                  });
  }
  Tally tally;
  for (std::size_t k = 0; k < files.size(); ++k) judge(referee, *captured.pop(), budget, tally);
  fmt::print("{} tasks in {:.0f} s: {} captured, {} replayed right on the {}", tally.tasks,
             watch.seconds(), tally.native, tally.correct, on_gpu ? "GPU" : "CPU");
  for (const auto& [how, count] : tally.endings) fmt::print(", {} {}", count, how);
  std::ranges::sort(tally.apart);
  if (!tally.apart.empty())
    fmt::print("; the two sides' medians {:+.2f} % apart (median), {:+.2f} to {:+.2f} %",
               100 * tally.apart[tally.apart.size() / 2], 100 * tally.apart.front(),
               100 * tally.apart.back());
  fmt::print("\n");
  return tally.tasks > 0 && tally.correct == tally.tasks ? ok() : fail("not all replay");
}

}  // namespace
}  // namespace tritonsmith

int main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print(stderr,
               "replay_tasks FOLDER [cpu|gpu] [seconds a task] [of them for rounds of timing]\n");
    return 2;
  }
  const bool here = !tritonsmith::gym::cuda::list_gpus().empty();
  const bool on_gpu = argc > 2 ? std::string_view(argv[2]) == "gpu" : here;
  std::setvbuf(stdout, nullptr, _IOLBF, 0);  // so a call that is cut off has printed its results
  tritonsmith::gym::referee::RefereeBudget budget{.seconds = 60};
  if (argc > 3) budget.seconds = std::atof(argv[3]);
  if (argc > 4) budget.timing_seconds = std::atof(argv[4]);
  const auto status = tritonsmith::run(argv[1], on_gpu, budget);
  if (!status) fmt::print(stderr, "replay_tasks: {}\n", status.error().message);
  return status ? 0 : 1;
}
