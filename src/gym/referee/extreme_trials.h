// Trials of extreme inputs and weights, beyond the trials that were asked for. They are never
// skipped: a kernel that runs out of time in one of them fails. They say nothing where PyTorch
// itself loses its digits.
#pragma once

#include "gym/referee/equipment.h"
#include "gym/referee/trial_context.h"
#include "gym/trial/kernel_use.h"

namespace tritonsmith::gym::referee {

// Whether to look for launches that only copy.
inline bool watches(Policy policy, const trial::KernelUse& kernel_use) {
  return kernel_use.torch_computed && kernel_use.copies.stands && policy != Policy::strict;
}

// False when the candidate's numbers do not survive large or small inputs. The trials also show
// whether kernels that seemed only to copy do more: a maximum with zero passes on positive inputs.
bool run_extreme_trials(Equipment& equipment, const TrialContext& context,
                        trial::KernelUse& kernel_use, RefereeReport& report);

// Whether a trial whose inputs the judge changed says nothing: PyTorch refuses them, or loses its
// digits there. If nobody knows how exact PyTorch is, it counts as exact on inputs that only move a
// little. `finite_else`: on the task's own inputs all its outputs are finite. Heavy weights make
// chaos of values, since one score decides a softmax; so do a few large elements among scores.
bool says_nothing(const trial::TrialResult& result, trial::Perturbation kind,
                  const plan::Plan& task, bool finite_else);

}  // namespace tritonsmith::gym::referee
