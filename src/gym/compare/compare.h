// Compares a candidate's result with the reference's. Types, shapes and integers must be equal.
// Floating values must lie within KernelBench's tolerance. NaN and infinity must stand in the same
// positions. If a float64 replay of the reference exists, values must also lie within a budget
// around it, which scales with the output. So small outputs are checked, too. Comparison::allclose
// leaves the budget out.
//
// Some outputs are less exact than the tolerance even in PyTorch: cos(3 * sum(x)) depends on the
// last bits of the sum. There a candidate passes if it is about as exact as PyTorch.
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
// Tells whether KernelBench has a tolerance for the dtype (fp32, fp16, bf16). We set the others.
bool is_kernelbenchs(c10::ScalarType dtype);

// The factor of the tolerance's absolute part. one: 1, as in KernelBench. output_size: the output's
// own size if that is above 1, for trials with enlarged inputs.
enum class AbsoluteUnit { one, output_size };

// The wrong elements of one tensor.
struct Mismatch {
  std::int64_t first = -1, count = 0, unwritten = 0;
  bool only_exact = false;  // all lie within KernelBench's tolerance, and outside the budget
  double max_abs = 0, max_rel = 0;
  // The error of the worst finite element, divided by the error that is allowed there. It exceeds 1
  // if an element is wrong. 0: unknown, as on a GPU.
  double worst = 0;
};

struct CompareOptions;

// How exact a reference is.
struct ReferenceQuality {
  bool is_finite = true;
  double own_error = 0;  // as own_error() returns it
};

// The source of the exact values: a tensor, or a kernel that computes them from other tensors.
struct ExactValues {
  at::Tensor values;
  const cuda::FusedOracle* fused = nullptr;
  std::vector<at::Tensor> leaves;  // contiguous
};

// The result of one pass, which does not tell which element is wrong.
struct QuickJudgement {
  // True if the candidate is right by the rules of compare(). If false, only compare() decides.
  bool is_right = false;
  ReferenceQuality reference;
  double max_abs = 0, max_rel = 0;
};

// Compares tensors in a device's memory by the rules of compare.cc. `candidate` must be contiguous,
// and the oracle may be undefined.
class DeviceComparison {
 public:
  virtual ~DeviceComparison() = default;
  virtual Mismatch compare(const at::Tensor& candidate, const at::Tensor& reference,
                           const at::Tensor& oracle, const CompareOptions& comparison) = 0;
  // Does a quick comparison and measure() in one pass. The tensors must be contiguous and floating,
  // and must have the same shape and type.
  virtual QuickJudgement judge(const at::Tensor& candidate, const at::Tensor& reference,
                               const ExactValues& exact, const CompareOptions& comparison) = 0;
  // Measures how exact the reference is. Both tensors must be floating and have the same shape.
  virtual ReferenceQuality measure(const at::Tensor& reference, const at::Tensor& oracle) = 0;
};

struct CompareOptions {
  Comparison rule = Comparison::budget;
  Strides strides = Strides::any;
  Tolerance tolerance = compare::tolerance_of(Precision::bits_32);
  double widened = 1;  // the tolerance is this factor times its type's tolerance
  AbsoluteUnit unit = AbsoluteUnit::one;
  double final_scale = 1;  // of the budget's floor; see ToleranceRules::budget_slack
  // The tolerance extension that an earlier comparison found for the same reference (Numerics). An
  // element within it is right.
  double tolerance_extension = 0;
  // Large numbers that the task itself writes, such as a mask's -1e9. Elements that hold one of
  // them are compared apart, so that their size does not loosen the budget of all others.
  std::vector<double> fills = {};
  tensors::Filler filler = tensors::Filler::nan;  // content of the candidate's unwritten elements
  // Also measures how near right elements come to the limit (Numerics::worst_share). CPU only.
  bool measures_right_elements = false;
  DeviceComparison* device = nullptr;  // null: the CPU reaches the tensors
};

// Returns a mask of the elements that hold one of these numbers, or an undefined tensor if none
// does.
at::Tensor filled_elements(const at::Tensor& reference, const std::vector<double>& fills);

// Compares one tensor, adds to `numerics`, and returns an error if the candidate is wrong.
std::optional<VerdictError> compare_tensors(const std::string& what, const at::Tensor& candidate,
                                            const at::Tensor& reference, const at::Tensor& oracle,
                                            const CompareOptions& comparison, Numerics& numerics);

// Returns the largest rounding error of PyTorch's result, in units of the output's size, or
// infinity if it is unknown. A result of zeros for exact zeros has no error. Elements that are not
// finite on both sides do not count.
double own_error(const at::Tensor& reference, const at::Tensor& oracle);

// Does the same as own_error() in other units: an element's own size plus the output's, at least 1.
// It serves outputs whose elements differ much in size, as on perturbed inputs.
double own_error_by_element(const at::Tensor& reference, const at::Tensor& oracle);

// A result as a tree of values. Two sides match if they have the same lists, tuples, dicts and
// keys, the same constants, and equal tensors.
struct OutputSide {
  const plan::Value& value;
  const tensors::TensorTable& tensors;
};
std::optional<VerdictError> compare_outputs(const OutputSide& candidate,
                                            const OutputSide& reference,
                                            const tensors::TensorTable& oracle,
                                            const CompareOptions& comparison, Numerics& numerics);

}  // namespace tritonsmith::gym::compare
