// JobProgress: one job between its submission and its verdict, as data, and the pure functions that
// build the verdict from the results of inspection, capture, compilers and referee. No threads and
// no waiting: the coordinator moves the job on.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "gym/api/judge.h"
#include "gym/capture/capture_pool.h"
#include "gym/judge/referee_client.h"
#include "gym/plan/plan.h"

namespace tritonsmith::gym::judge {

// A kernel to compile, and the kernels of the plan that it stands for. Equal kernels compile once.
struct CompileUnit {
  compile::CompileRequest request;
  std::vector<std::size_t> kernels;  // indices into Plan::kernels
  // The kernel's name; "NAME.2" is the second of that name in the plan's order.
  std::string name;
  std::uint64_t pool_id = 0;  // the compilation under way
  bool is_dropped = false;    // its outcome would change nothing
  std::optional<compile::CompileOutcome> outcome;
};

struct JobProgress {
  std::uint64_t serial = 0;  // a new one for each attempt
  api::JudgeJob job;
  std::string key;                       // verdict_key
  std::string task_key;                  // names the content of its task's source
  std::string lint_key;                  // TaskLints::key_of; set once its task is captured
  std::vector<std::uint64_t> followers;  // ids of equal jobs that wait for this one's verdict
  bool cancelled = false;

  int infrastructure_faults = 0;
  int kills = 0;       // how often somebody killed its guest or its compiler
  bool alone = false;  // the retry after a deadline hit: nothing runs beside it
  TimePoint submitted = system_clock().now();
  double queue_ms = 0;

  std::vector<Finding> inspection;
  std::uint64_t pool_id = 0;  // the capture under way; 0: none
  std::optional<capture::CaptureOutcome> capture;
  std::optional<plan::Plan> plan;
  std::string plan_json;
  std::string plan_error;     // why the guest's result is no plan
  std::string request_error;  // what the job asks for and the plan does not have
  std::vector<CompileUnit> units;
  std::vector<std::size_t> passed_over;  // kernels of configs that do not fit the chip
  std::optional<RefereeOutcome> referee;
  std::string gpu;          // the UUID of the GPU whose referee that was; empty: none
  std::size_t pending = 0;  // compilations and the referee's run that are still to come
};

std::vector<CompileUnit> compile_units(const plan::Plan& plan);
// Puts edited PTX into the units of its names. Fails if a name is that of no unit.
Status put_ptx(const std::map<std::string, std::string>& ptx, std::vector<CompileUnit>& units);
// Returns the index of the first unit whose failure decides that the candidate does not compile.
// No unit behind it can change the verdict. A config that does not fit the chip decides only once
// its launch has no other config.
std::optional<std::size_t> deciding_failure(const JobProgress& progress);
// Removes configs from the plan that need more shared memory or registers than the chip has,
// as long as one config is left. An autotuner passes over them, too. Aborts while kernels are being
// compiled.
void pass_over_configs(JobProgress& progress);
// Returns the binaries by the plan's kernel index. A binary is empty if its kernel was passed over.
// Returns nothing if a kernel did not compile.
std::optional<std::vector<language::KernelBinary>> binaries_of(const JobProgress& progress);

// How an attempt ended: with a verdict, or with a reason for another attempt. deadline: other jobs
// may have been the reason. killed: somebody sent its guest or its compiler SIGKILL, perhaps
// because another process left the machine short of memory.
enum class Ending { verdict, deadline, killed, infrastructure };
Ending ending_of(const JobProgress& progress);

// Versions and other facts that are equal for all verdicts of a judge.
struct VerdictContext {
  Environment environment;
  Environment replay_environment;    // of verdicts from a GPU
  std::optional<Ceilings> ceilings;  // of that GPU, where it was measured
};

// Builds the verdict from all results. Call it when the attempt is over.
Verdict verdict_of(const JobProgress& progress, const VerdictContext& context);
// Returns the verdict of a job whose task cannot be judged. The failure is the task's.
Verdict task_failure_verdict(const JobProgress& progress, const VerdictError& error,
                             const VerdictContext& context);
Verdict infrastructure_verdict(const JobProgress& progress, const std::string& message,
                               const VerdictContext& context);
// Returns the infrastructure's own message about its failure.
std::string infrastructure_message(const JobProgress& progress);

// Prepares another attempt: keeps the job and forgets the results of this attempt.
void start_over(JobProgress& progress);

}  // namespace tritonsmith::gym::judge
