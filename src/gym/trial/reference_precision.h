// How exact the reference itself is. In 16 bits, and on inputs that the judge changed, PyTorch's own
// rounding may be as large as the tolerance. A trial then widens the tolerance, or says nothing.
#pragma once

#include "gym/trial/sides.h"
#include "gym/trial/trial_result.h"

namespace tritonsmith::gym::trial {

// Fills in whether the reference is finite, and its error. A GPU measures each output, and so do
// trials of extreme inputs. Elsewhere a CPU does so where it costs next to nothing.
void measure_reference(const Sides& sides, const tensors::TensorTable& exact, TrialResult& result);

// The factor by which the tolerance grows with PyTorch's own error; 1 where it does not. A larger
// factor than 1 makes the result's error smaller by as much.
double widen_tolerance(const Sides& sides, const tensors::TensorTable& exact, TrialResult& result);

// Whether the candidate gives NaN or infinity where PyTorch gives a number that is not large. Such
// an overflow is wrong however coarse PyTorch is there.
bool breaks_down(const Sides& sides, const tensors::TensorTable& exact);

// Looks for a wrong output among those in which PyTorch is exact. It only does so where there are
// several outputs: one that overflows, or in which PyTorch loses its digits, excuses no other.
void find_wrong_exact_output(const Sides& sides, const tensors::TensorTable& exact,
                             const compare::CompareOptions& how, TrialResult& result);

}  // namespace tritonsmith::gym::trial
