// TrialSet: the trials that the judge runs for one task under one secret, in its order, for plans of
// PyTorch operators. measure.h runs a task's faults and legitimate variants through them. The
// trials and the comparison are the judge's own (run_trials.h, extreme_trials.h). The referee's
// thread owns a set. The task must outlive it.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "gym/referee/equipment.h"
#include "gym/referee/trial_context.h"

namespace tritonsmith::gym::referee {

struct SetTrial {
  int number = 0;
  trial::Perturbation kind = trial::Perturbation::plain;
  bool is_later_call = false;
  bool operator==(const SetTrial&) const = default;
};
std::string name_of(const SetTrial& trial);

struct TrialAnswer {
  // nothing: the trial does not count, because the reference is not sound there.
  enum class Kind { nothing, right, wrong };
  Kind kind = Kind::nothing;
  bool differs = false;               // a value is another than the reference's
  std::optional<double> worst_share;  // Numerics::worst_share; nothing if no number tells
  std::optional<VerdictError> error;  // of a wrong candidate
  bool does_not_run = false;          // the candidate's operators refuse their arguments
};

class TrialSet {
 public:
  // Runs the task as its own candidate, to know how sound it is. Fails with the reason why the task
  // does not run. The equipment and the task must outlive the set.
  static tl::expected<TrialSet, std::string> of_task(Equipment& equipment, RefereeJob job,
                                                     const plan::Plan& task, Deadline deadline);
  const std::vector<SetTrial>& trials() const { return trials_; }
  TrialAnswer run(const plan::Plan& candidate, const SetTrial& trial);
  // Says whether the judge would skip the trial after these were right.
  bool is_skipped(const SetTrial& trial, const std::set<trial::Perturbation>& right) const;
  const RefereeJob& job() const { return job_; }

 private:
  TrialSet(Equipment& equipment, RefereeJob job, const plan::Plan& task, Deadline deadline);
  std::optional<std::string> begin();
  trial::TrialConfig config_of(const plan::Plan& candidate, const SetTrial& trial) const;

  Equipment& equipment_;
  RefereeJob job_;
  const plan::Plan& task_;
  Deadline deadline_;
  bool with_oracle_;
  Soundness plain_;
  std::vector<SetTrial> trials_;
};

}  // namespace tritonsmith::gym::referee
