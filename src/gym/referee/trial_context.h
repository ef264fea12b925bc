// TrialContext: one job's two sides and how they are compared. All trials of a job share it.
#pragma once

#include <algorithm>
#include <optional>

#include "gym/compare/tolerance_rules.h"
#include "gym/cuda/fused_oracles.h"
#include "gym/plan/analysis/input_draws.h"
#include "gym/referee/protocol/referee_job.h"
#include "gym/trial/trial.h"

namespace tritonsmith::gym::referee {

// Trials that a job adds after all tuned configs were tried have numbers from here on.
inline constexpr int kBeyondAllChoices = 1 << 20;

inline Deadline deadline_of(const RefereeJob& job) {
  return Deadline::in_seconds(std::clamp(job.budget.seconds, 0.001, 86400.0));
}

// How sound the reference's numbers are on the task's own inputs.
struct Soundness {
  bool is_finite = true;
  double error = 0;  // TrialResult::reference_error
  // The task draws whole numbers, by which a group may be empty. Its mean or maximum is then NaN or
  // infinite, in float64 too.
  bool may_have_empty_groups = false;
  // Says whether they are as sound in this trial.
  bool holds_for(const trial::TrialResult& result) const {
    // A right kernel may be so many times as far off as PyTorch (docs/numerics.md). If PyTorch itself
    // is near that, a few times its error on the task's own inputs is allowed.
    constexpr double precise = 1 / compare::kToleranceRules.own_error_factor, few = 4;
    const double share =
        result.is_error_widened ? trial::kPreciseShare : std::max(precise, few * error);
    // A finite error says that float64 is finite at the same positions.
    const bool is_known =
        may_have_empty_groups && result.is_exact_known && result.reference_is_partly_finite;
    return !result.reference_stop && (result.reference_is_finite || !is_finite || is_known) &&
           result.reference_error <= share;
  }
};
// Returns what a trial on the task's own inputs says.
inline Soundness soundness_of(const plan::Plan& task, const trial::TrialResult& result) {
  return {result.reference_is_finite, result.reference_error,
          plan::analysis::draws_whole_numbers(task)};
}

struct TrialContext {
  const RefereeJob& job;
  const plan::Plan& task;
  const plan::Plan& candidate;
  Deadline deadline;
  bool with_oracle = true;
  trial::ReferenceSource* python_reference = nullptr;  // null where the task's plan has forward
  trial::ReferenceMode mode = trial::ReferenceMode::train;
  std::optional<cuda::FusedOracle> fused = {};
  bool is_finite = true;  // the reference's outputs are finite on the task's own inputs
  trial::CandidateNumbers numbers = trial::numbers_of(candidate);

  // Returns the context of another candidate, or of this one in another form.
  TrialContext with_candidate(const plan::Plan& other) const {
    return {job, task, other, deadline, with_oracle, python_reference, mode, fused};
  }

  // The config refers to this context.
  trial::TrialConfig config_of(int trial, trial::Perturbation kind,
                               replay::Choices choices = {}) const {
    return {.task = task,
            .candidate = candidate,
            .secret = job.secret,
            .task_key = job.task_key,
            .trial = trial,
            .kind = kind,
            .numbers = &numbers,
            .choices = std::move(choices),
            .order = order_of(trial),
            .comparison = job.comparison,
            .strides = job.strides,
            .tolerance = job.tolerance,
            .deadline = deadline,
            .memory_bytes = job.budget.memory_bytes,
            .with_oracle = with_oracle,
            .python_reference = python_reference,
            .mode = mode,
            .fused = fused ? &*fused : nullptr};
  }
  // Returns the order in which the programs of a launch run. Even a job with a single trial does
  // not run them forwards.
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
