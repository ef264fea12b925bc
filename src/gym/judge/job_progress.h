// Judging: the life of one job between its submission and its verdict, as data, and the pure
// functions that put the verdict together from what inspection, capture, compilers and referee
// found. No threads, no waiting: the coordinator moves it on.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "gym/api/judge.h"
#include "gym/capture/capture_pool.h"
#include "gym/judge/referee_client.h"
#include "gym/plan/plan.h"

namespace tritonsmith::gym::judge {

// A kernel to compile, and the plan's kernels it stands for: equal ones compile once.
struct CompileUnit {
  compile::CompileRequest request;
  std::vector<std::size_t> kernels;  // indices into Plan::kernels
  std::optional<compile::CompileOutcome> outcome;
};

struct JobProgress {
  std::uint64_t serial = 0;  // one for each attempt
  api::JudgeJob job;
  std::string key;                       // verdict_key
  std::string lint_key;                  // TaskLints::key_of, once its task is captured
  std::vector<std::uint64_t> followers;  // ids of equal jobs that wait for this one's verdict
  bool cancelled = false;

  int infrastructure_faults = 0;
  int kills = 0;       // times somebody killed its guest
  bool alone = false;  // its second chance after a deadline hit: nothing runs beside it
  TimePoint submitted = system_clock().now();
  double queue_ms = 0;

  std::vector<Finding> inspection;
  std::uint64_t pool_id = 0;  // of the capture under way
  std::optional<capture::CaptureOutcome> capture;
  std::optional<plan::Plan> plan;
  std::string plan_json;
  std::string plan_error;  // why what the guest handed over is no plan
  std::vector<CompileUnit> units;
  std::vector<std::size_t> passed_over;  // kernels of configs that do not fit the chip
  std::optional<RefereeOutcome> referee;
  std::size_t pending = 0;  // compilations and the referee, still to come
};

std::vector<CompileUnit> compile_units(const plan::Plan& plan);
// Once all is compiled: an autotuner passes over configs that need more shared memory or registers
// than the chip has, as long as one is left; so they leave the plan.
void pass_over_configs(JobProgress& progress);
// By the plan's index, empty where passed over; nothing where a kernel did not compile.
std::optional<std::vector<language::KernelBinary>> binaries_of(const JobProgress& progress);

// How an attempt ended: with a verdict, or with something that deserves another attempt.
// deadline: others may have been the reason. killed: somebody sent its guest SIGKILL, which may be
// a neighbour's doing (a machine short of memory).
enum class Ending { verdict, deadline, killed, infrastructure };
Ending ending_of(const JobProgress& progress);

// Versions and the like, equal for all verdicts of a judge.
struct VerdictContext {
  Environment environment;
  Environment replay_environment;  // of verdicts from a GPU
};

// From everything that is there; to be called when the attempt is over.
Verdict verdict_of(const JobProgress& progress, const VerdictContext& context);
// A job whose task cannot be judged; the failure is the task's.
Verdict task_failure_verdict(const JobProgress& progress, const VerdictError& error,
                             const VerdictContext& context);
Verdict infrastructure_verdict(const JobProgress& progress, const std::string& message,
                               const VerdictContext& context);
// What the infrastructure said when it failed.
std::string infrastructure_message(const JobProgress& progress);

// For another attempt: keeps the job, forgets what this one found.
void start_over(JobProgress& progress);

}  // namespace tritonsmith::gym::judge
