// One trial: draw inputs and weights, run the candidate on poisoned memory, then the reference,
// then its float64 twin, and hold the results against each other. The candidate goes first, when no
// expected output exists anywhere.
#pragma once

#include <optional>
#include <string>

#include "gym/referee/draw.h"
#include "gym/referee/evidence.h"
#include "gym/referee/replay.h"

namespace tritonsmith::gym {

struct TrialSetting {
  const Plan& task;
  const Plan& candidate;
  std::string_view secret;
  int trial = 0;
  TrialKind kind = TrialKind::plain;
  int choice = 0;  // of tuned launches
  std::optional<double> tolerance;
  Deadline deadline = Deadline::never();
  std::int64_t memory_bytes = 0;
  bool try_without_kernels = false;  // find out whether the outputs need the kernels at all
  bool watch_launches = false;       // find out whether kernels do anything but copy
};

struct TrialResult {
  std::optional<Stop> candidate_stop;
  std::optional<Stop> reference_stop;
  std::optional<VerdictError> difference;  // of outputs, or of what must not change
  bool reference_is_finite = true;
  bool reference_is_precise = true;    // PyTorch's own rounding is far within the tolerance
  bool right_without_kernels = false;  // the outputs are right even where no kernel runs
  bool kernels_only_copied = false;    // of watched launches
  Numerics numerics;
  LaunchTraces launches;
  std::vector<Finding> findings;
  double draw_ms = 0, candidate_ms = 0, reference_ms = 0, compare_ms = 0;
};

TrialResult run_trial(const TrialSetting& setting, KernelExecutor& executor);

}  // namespace tritonsmith::gym
