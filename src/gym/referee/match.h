// Match: one job's two sides and how they are to be held against each other, as the parts of the
// referee pass them on.
#pragma once

#include <optional>

#include "gym/gpu/fused_oracles.h"
#include "gym/referee/referee.h"

namespace tritonsmith::gym {

struct Referee::Match {
  const RefereeJob& job;
  const Plan& task;
  const Plan& candidate;
  Deadline deadline;
  bool with_oracle = true;
  ReferenceSource* shell = nullptr;
  ReferenceMode mode = ReferenceMode::train;
  std::optional<gpu::FusedOracle> fused;
  TrialSetting setting(int trial, TrialKind kind, Choices choices = {}) const {
    return {.task = task,
            .candidate = candidate,
            .secret = job.secret,
            .trial = trial,
            .kind = kind,
            .choices = std::move(choices),
            .comparison = job.comparison,
            .tolerance = job.tolerance,
            .deadline = deadline,
            .memory_bytes = job.budget.memory_bytes,
            .with_oracle = with_oracle,
            .shell = shell,
            .mode = mode,
            .fused = fused ? &*fused : nullptr};
  }
};

}  // namespace tritonsmith::gym
