// Match: one job's two sides and how they are to be held against each other, as the parts of the
// referee pass them on.
#pragma once

#include <algorithm>
#include <optional>

#include "gym/cuda/fused_oracles.h"
#include "gym/referee/referee.h"
#include "gym/trial/trial.h"

namespace tritonsmith::gym::referee {

inline Deadline deadline_of(const RefereeJob& job) {
  return Deadline::in_seconds(std::clamp(job.budget.seconds, 0.001, 86400.0));
}

// What the reference's numbers are worth on the task's own distribution.
struct Referee::Soundness {
  bool is_finite = true;
  double error = 0;  // TrialResult::reference_error
  bool holds_for(const trial::TrialResult& result) const {
    // A right kernel may be 32 times as far off as PyTorch (docs/numerics.md). Where PyTorch itself
    // is near that, a few times its error on the task's own inputs must do.
    constexpr double precise = 1.0 / 32, few = 4;
    const double share =
        result.is_error_widened ? trial::kPreciseShare : std::max(precise, few * error);
    return !result.reference_stop && (result.reference_is_finite || !is_finite) &&
           result.reference_error <= share;
  }
};

struct Referee::TrialContext {
  const RefereeJob& job;
  const plan::Plan& task;
  const plan::Plan& candidate;
  Deadline deadline;
  bool with_oracle = true;
  trial::ReferenceSource* shell = nullptr;
  trial::ReferenceMode mode = trial::ReferenceMode::train;
  std::optional<cuda::FusedOracle> fused;
  bool is_finite = true;  // the reference, on what the task draws
  trial::TrialConfig setting(int trial, trial::Perturbation kind,
                             replay::Choices choices = {}) const {
    return {.task = task,
            .candidate = candidate,
            .secret = job.secret,
            .trial = trial,
            .kind = kind,
            .choices = std::move(choices),
            .order = order_of(trial),
            .comparison = job.comparison,
            .tolerance = job.tolerance,
            .deadline = deadline,
            .memory_bytes = job.budget.memory_bytes,
            .with_oracle = with_oracle,
            .shell = shell,
            .mode = mode,
            .fused = fused ? &*fused : nullptr};
  }
  // Never forwards alone, even in one trial.
  language::ProgramOrder order_of(int trial) const {
    using Kind = language::ProgramOrder::Kind;
    const int nth = job.trials > 1 ? trial : trial + 1;
    return {.kind = nth == 0       ? Kind::forwards
                    : nth % 2 == 1 ? Kind::backwards
                                   : Kind::interleaved,
            .seed = trial::trial_seed(job.secret, "programs", trial)};
  }
};

}  // namespace tritonsmith::gym::referee
