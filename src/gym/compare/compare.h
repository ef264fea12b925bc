// Holding a candidate's result against the reference's: types and shapes exactly, integers exactly,
// floating values within KernelBench's tolerance, and, where a float64 replay of the reference
// exists, also within a budget that scales with the output, so that small outputs are no free pass;
// by Comparison::allclose within KernelBench's tolerance alone. NaN and infinity must stand in the
// same places. Where float32 does not tell an output to the tolerance, who is about as exact as
// PyTorch is right: cos(3 * sum(x)) hangs on the last bits of the sum.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "data/verdict.h"
#include "gym/compare/tolerance_rules.h"
#include "gym/plan/plan.h"
#include "gym/tensors/replay_memory.h"
#include "gym/tensors/tensors.h"

namespace tritonsmith::gym::cuda {
struct FusedOracle;
}

namespace tritonsmith::gym::compare {

Precision precision_of(c10::ScalarType dtype);
Tolerance tolerance_of(c10::ScalarType dtype);
// KernelBench itself has one: fp32, fp16, bf16. The others are ours.
bool is_kernelbenchs(c10::ScalarType dtype);

// What the absolute part of the plain tolerance counts in: KernelBench's 1, or the output's own
// size where that is larger. The latter where the judge itself made the inputs larger.
enum class AbsoluteUnit { one, output_size };

// Elements of one tensor that are wrong.
struct Mismatch {
  std::int64_t first = -1, count = 0, unwritten = 0;
  bool only_exact = false;  // within the plain tolerance, yet outside the budget
  double max_abs = 0, max_rel = 0;
};

struct CompareOptions;

// What a reference's numbers are worth.
struct ReferenceQuality {
  bool is_finite = true;
  double own_error = 0;  // as own_error() gives it
};

// Where the exact values come from: a tensor, or a kernel that computes them from others.
struct ExactValues {
  at::Tensor values;
  const cuda::FusedOracle* fused = nullptr;
  std::vector<at::Tensor> leaves;  // contiguous
};

// What one pass finds that does not say which element is wrong.
struct QuickJudgement {
  bool is_right = false;  // surely, by the rules of compare(); else only a close look can tell
  ReferenceQuality reference;
  double max_abs = 0, max_rel = 0;
};

// Compares where the tensors are, by the rules of compare.cc. `candidate` is contiguous; the oracle
// may be undefined.
class DeviceComparison {
 public:
  virtual ~DeviceComparison() = default;
  virtual Mismatch compare(const at::Tensor& candidate, const at::Tensor& reference,
                           const at::Tensor& oracle, const CompareOptions& comparison) = 0;
  // The same and measure() in one pass over contiguous floating tensors of one shape and type.
  virtual QuickJudgement judge(const at::Tensor& candidate, const at::Tensor& reference,
                               const ExactValues& exact, const CompareOptions& comparison) = 0;
  // Of floating tensors of one shape.
  virtual ReferenceQuality measure(const at::Tensor& reference, const at::Tensor& oracle) = 0;
};

struct CompareOptions {
  Comparison rule = Comparison::budget;
  Tolerance tolerance = compare::tolerance_of(Precision::bits_32);
  double widened = 1;  // by how much it is above what its type has
  AbsoluteUnit unit = AbsoluteUnit::one;
  // The tolerance extension that Numerics has of the same reference. A candidate no farther from the
  // reference is right.
  double tolerance_extension = 0;
  tensors::Filler filler = tensors::Filler::nan;  // what unwritten elements of the candidate hold
  DeviceComparison* device = nullptr;             // for tensors that the CPU does not reach
};

// What the comparison of one tensor found; the error is empty when the candidate's is as good as
// the reference's.
std::optional<VerdictError> compare_tensors(const std::string& what, const at::Tensor& candidate,
                                            const at::Tensor& reference, const at::Tensor& oracle,
                                            const CompareOptions& comparison, Numerics& numerics);

// How far PyTorch's own rounding takes it from the exact result, in units of the output's size;
// infinite where that is not known. Nothing but zeros where zeros belong is no error, and what is
// no number in both is left out.
double own_error(const at::Tensor& reference, const at::Tensor& oracle);

// The same by element: in units of its own size and the output's (or 1, where that is above), as a
// value is compared on perturbed inputs. For outputs of very different elements.
double own_error_by_element(const at::Tensor& reference, const at::Tensor& oracle);

// Both results as trees of values: the same lists, tuples, dicts and keys, with the same constants,
// and equal tensors.
struct OutputSide {
  const plan::Value& value;
  const tensors::TensorTable& tensors;
};
std::optional<VerdictError> compare_outputs(const OutputSide& candidate,
                                            const OutputSide& reference,
                                            const tensors::TensorTable& oracle,
                                            const CompareOptions& comparison, Numerics& numerics);

}  // namespace tritonsmith::gym::compare
