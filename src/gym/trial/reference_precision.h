// Measures how exact the reference itself is. In 16 bits, and on inputs that the judge changed,
// PyTorch's own rounding may be as large as the tolerance. A trial then widens the tolerance, or
// is inconclusive.
#pragma once

#include "gym/trial/sides.h"
#include "gym/trial/trial_result.h"

namespace tritonsmith::gym::trial {

// Writes into the result whether the reference is finite, and its error. On a GPU, and in
// trials of extreme inputs, every output is measured. Elsewhere a CPU measures only where it
// costs next to nothing.
void measure_reference(const Sides& sides, const tensors::TensorTable& exact, TrialResult& result);

// Returns the factor by which the tolerance grows with PyTorch's own error; 1 if it does not grow.
// The result's error becomes smaller by the same factor.
double widen_tolerance(const Sides& sides, const tensors::TensorTable& exact, TrialResult& result);

// Says whether the candidate gives NaN or infinity where PyTorch gives a number that is not large.
// Such an overflow is wrong however coarse PyTorch is there.
bool breaks_down(const Sides& sides, const tensors::TensorTable& exact);

// Says whether an output of the reference holds a number whose square is no float32.
bool is_large(const Sides& sides);

// Looks for a wrong output among those in which PyTorch is exact. It does so only if there
// are several outputs: an output that overflows, or in which PyTorch loses its digits,
// excuses no other.
void find_wrong_exact_output(const Sides& sides, const tensors::TensorTable& exact,
                             const compare::CompareOptions& how, TrialResult& result);

}  // namespace tritonsmith::gym::trial
