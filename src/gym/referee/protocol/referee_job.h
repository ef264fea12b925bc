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

namespace tritonsmith::gym {

struct RefereeBudget {
  double seconds = 20;                                // all trials of one job together
  std::int64_t memory_bytes = std::int64_t{2} << 30;  // live tensors of one job
};

// A kernel of the candidate's plan as a compiler worker made it, ready to launch.
struct KernelBinary {
  std::string cubin;
  std::string name;
  int num_warps = 4;  // of a block
  int shared_bytes = 0;
};

struct RefereeJob {
  std::string task_key;               // names the task plan's content
  std::string candidate_plan;         // empty: only the task's own findings are asked for
  std::vector<KernelBinary> kernels;  // of the plan, in its order; empty when evaluated
  std::string
      secret;  // seed material of this job, which no guest can know: HMAC(run's secret, job)
  int trials = 3;
  Policy policy = Policy::strict;
  std::optional<double> tolerance;  // tightens the dtype's own
  RefereeBudget budget;
};

struct RefereeReport {
  bool ran = false;      // the candidate's forward ran to its end in some trial
  bool correct = false;  // all trials agreed
  // Why it went no further. `fault` says whose: a candidate's mistake, or `none` for what is
  // nobody's (too large to evaluate, an operator we lack, a task that cannot be judged).
  // Infrastructure: the referee itself failed.
  std::optional<VerdictError> error;
  Fault fault = Fault::none;
  bool deadline_hit = false;  // the time budget ended it: a retry on a quiet machine may say more
  std::vector<Finding> findings;
  std::optional<Numerics> numerics;
  std::vector<std::pair<std::string, double>> stage_ms;
};

// The head of a job as one JSON line; the plans travel beside it, unescaped.
Json to_json(const RefereeJob& job);
Result<RefereeJob> referee_job_from_json(const Json& json);

Json to_json(const RefereeReport& report);
Result<RefereeReport> referee_report_from_json(const Json& json);

}  // namespace tritonsmith::gym
