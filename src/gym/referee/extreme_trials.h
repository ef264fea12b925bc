// Runs trials of extreme inputs and weights, beyond the trials that the job asked for. They are
// never skipped: a kernel that runs out of time in one of them fails. They are inconclusive where
// PyTorch itself loses its digits.
#pragma once

#include "gym/referee/equipment.h"
#include "gym/referee/trial_context.h"
#include "gym/trial/findings/kernel_use.h"

namespace tritonsmith::gym::referee {

// Says whether trials should look for launches that only copy.
inline bool watches(const trial::KernelUse& kernel_use) {
  return kernel_use.torch_computed && kernel_use.copies.stands;
}

// Returns false if the candidate's numbers do not survive large or small inputs. The trials
// also show whether kernels that seemed only to copy do more: a maximum with zero copies
// positive inputs.
bool run_extreme_trials(Equipment& equipment, const TrialContext& context,
                        trial::KernelUse& kernel_use, RefereeReport& report);

// Takes a failure that only shows a weak algorithm out of the result, and tells it as a finding. For
// that it runs the trial again, with inputs that moved a little.
void tell_weakness(Equipment& equipment, const trial::TrialConfig& config,
                   trial::TrialResult& result);

// Runs a trial of extreme inputs. If it is inconclusive and the task draws an input between two bounds,
// it runs again with inputs within these bounds, and the config says so.
struct ExtremeTrial {
  trial::TrialResult result;
  bool is_conclusive = false;
};
ExtremeTrial run_conclusively(Equipment& equipment, const plan::Plan& task, bool finite_else,
                              trial::TrialConfig& config);

// Says whether a trial whose inputs the judge changed is inconclusive, because PyTorch refuses the
// inputs or loses its digits there. If PyTorch's error is unknown, PyTorch counts as exact on
// inputs that only move a little. `finite_else` says that all outputs are finite on the task's own
// inputs. Heavy weights make outputs chaotic, since one score decides a softmax. A few large
// elements among scores do the same.
bool says_nothing(const trial::TrialResult& result, trial::Perturbation kind,
                  const plan::Plan& task, bool finite_else);

}  // namespace tritonsmith::gym::referee
