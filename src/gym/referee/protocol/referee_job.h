// RefereeJob and RefereeReport: the questions that a client sends to a referee, and its answers. A
// job names its task plan by key, because a referee keeps the task plans that it has seen. A report
// holds only what running the plans showed, and the client turns it into a Verdict. Both are plain
// data without LibTorch, because the referee's process and its client share them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "data/adequacy.h"
#include "data/verdict.h"
#include "gym/language/kernel_binary.h"

namespace tritonsmith::gym::referee {

struct RefereeBudget {
  double seconds = 20;                                // for all trials of one job together
  std::int64_t memory_bytes = std::int64_t{2} << 30;  // for the live tensors of one job
  double timing_seconds = 2;  // for timed rounds of a correct candidate; 0: no timing
};

// The known answer about a candidate that tests whether a referee judges correctly.
enum class Probe { none, right, wrong };

struct RefereeJob {
  std::string task_key;                // names the content of the task plan
  std::string task_source;             // the task's Python; it stays with the client
  std::vector<std::string> baselines;  // further ways to time the task; they stay with the client
  Probe probe = Probe::none;           // the client repeats probes with a new referee process
  std::string candidate_plan;          // if empty, the job asks about the task alone
  // A job without a candidate asks for the task's own findings, unless `adequacy_only` is set. If
  // adequacy_secrets is above 0, it also measures the task's adequacy under so many secrets.
  bool adequacy_only = false;
  int adequacy_secrets = 0;
  // one for each kernel of the plan, in order; empty if the launches are evaluated on a CPU
  std::vector<language::KernelBinary> kernels;
  // HMAC(the run's secret, the job). All seeds of the job follow from it, and no guest can know it.
  std::string secret;
  int trials = 3;
  Policy policy = Policy::strict;
  Comparison comparison = Comparison::budget;
  Strides strides = Strides::any;
  std::optional<double> tolerance;  // a limit below the dtype's own tolerance
  RefereeBudget budget;
};

// The device time of one kernel of the plan, or of one operator, in one forward.
struct StepTiming {
  int kernel = -1;  // index in the plan; -1: an operator
  std::string op;
  int launches = 0;
  double device_us = 0;
};

// The time of one forward on a GPU, from the first step to the last, as the device measures it.
struct PlanTiming {
  // In milliseconds. The reference's `n` is 0 if the Python reference ran the task's forward.
  Timing candidate, reference;
  double coverage = 0;  // the share of the device time that the candidate's own kernels take
  std::vector<StepTiming> steps;
  UnavoidableWork work;  // of the task
  double peak_bytes = 0, reference_peak_bytes = 0;
  std::optional<Clocks> clocks;  // the medians while rounds ran, if they could be read
};

struct RefereeReport {
  bool ran = false;      // the candidate's forward ran to its end in some trial
  bool correct = false;  // all trials agreed
  // The reason if the job ended early. `fault` is `infrastructure` if the referee itself failed. It
  // is `none` if the job is too large to evaluate, needs an operator that the gym lacks, or has a
  // task that cannot be judged.
  std::optional<VerdictError> error;
  Fault fault = Fault::none;
  ReferenceKind reference = ReferenceKind::replay;
  bool deadline_hit = false;  // the time budget ran out; a retry on a quiet machine may succeed
  std::vector<Finding> findings;
  std::optional<Numerics> numerics;
  std::vector<std::pair<std::string, double>> stage_ms;
  std::optional<PlanTiming> timing;  // set for a correct candidate on a GPU
  NamedTimings baselines;            // the client measures these and adds them
  std::optional<Adequacy> adequacy;  // if the job asked for it
  bool spent = false;  // the referee's GPU context is lost, so it takes no further job
};

// The head of a job is one JSON line. The plans and the kernels' binaries follow it as they are.
Json to_json(const RefereeJob& job);
Result<RefereeJob> referee_job_from_json(const Json& json);
std::string joined_binaries(const RefereeJob& job);
// Gives the job its kernels. The head describes each kernel, and `joined` has the binaries.
Status take_binaries(RefereeJob& job, const Json& head, std::string_view joined);

Json to_json(const RefereeReport& report);
Result<RefereeReport> referee_report_from_json(const Json& json);

}  // namespace tritonsmith::gym::referee
