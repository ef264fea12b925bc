// What a referee is asked and what it answers. A job names its task plan by key, because a referee
// keeps the task plans it has seen; a report holds only what running the plans showed. Whoever
// asked turns it into a Verdict. Plain data, no torch: the referee's own process and its client
// share this file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "data/verdict.h"
#include "gym/language/kernel_binary.h"

namespace tritonsmith::gym::referee {

struct RefereeBudget {
  double seconds = 20;                                // all trials of one job together
  std::int64_t memory_bytes = std::int64_t{2} << 30;  // live tensors of one job
  double timing_seconds = 2;  // of them for rounds, once it is right; 0: it is not timed
};

// What is known beforehand of a candidate by which a referee shows that it judges.
enum class Probe { none, right, wrong };

struct RefereeJob {
  std::string task_key;                // names the task plan's content
  std::string task_source;             // its Python, which stays with who asks
  std::vector<std::string> baselines;  // that it is timed by besides, likewise
  Probe probe = Probe::none;           // put again to whoever takes the referee's place; likewise
  std::string candidate_plan;          // empty: only the task's own findings are asked for
  std::vector<language::KernelBinary> kernels;  // of the plan, in its order; empty when evaluated
  std::string
      secret;  // seed material of this job, which no guest can know: HMAC(run's secret, job)
  int trials = 3;
  Policy policy = Policy::strict;
  Comparison comparison = Comparison::budget;
  std::optional<double> tolerance;  // tightens the dtype's own
  RefereeBudget budget;
};

// One kernel of the plan, or one operator, in one forward.
struct StepTiming {
  int kernel = -1;  // index in the plan; -1: an operator
  std::string op;
  int launches = 0;
  double device_us = 0;
};

// How long forward took on a GPU, from the first step to the last, as the device tells.
struct PlanTiming {
  Timing candidate, reference;  // milliseconds; the reference's n is 0 where Python runs it
  double coverage = 0;          // share of device time in own kernels
  std::vector<StepTiming> steps;
};

struct RefereeReport {
  bool ran = false;      // the candidate's forward ran to its end in some trial
  bool correct = false;  // all trials agreed
  // Why it went no further. `fault` says whose: a candidate's mistake, or `none` for what is
  // nobody's (too large to evaluate, an operator we lack, a task that cannot be judged).
  // Infrastructure: the referee itself failed.
  std::optional<VerdictError> error;
  Fault fault = Fault::none;
  ReferenceKind reference = ReferenceKind::replay;
  bool deadline_hit = false;  // the time budget ended it: a retry on a quiet machine may say more
  std::vector<Finding> findings;
  std::optional<Numerics> numerics;
  std::vector<std::pair<std::string, double>> stage_ms;
  std::optional<PlanTiming> timing;  // of a correct candidate, on a GPU
  NamedTimings baselines;            // added by the client: they are not the referee's to take
  bool spent = false;                // the referee's GPU context is lost: it takes no further job
};

// The head of a job as one JSON line; the plans and the kernels' binaries travel beside it, as they
// are.
Json to_json(const RefereeJob& job);
Result<RefereeJob> referee_job_from_json(const Json& json);
std::string joined_binaries(const RefereeJob& job);
// Gives the job its kernels: what each is, from the head, its binary from the joined ones.
Status take_binaries(RefereeJob& job, const Json& head, std::string_view joined);

Json to_json(const RefereeReport& report);
Result<RefereeReport> referee_report_from_json(const Json& json);

}  // namespace tritonsmith::gym::referee
