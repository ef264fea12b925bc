// TrialResult: the findings and measurements of one trial. The referee adds it to its report.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "data/verdict.h"
#include "gym/compare/tolerance_rules.h"
#include "gym/replay/launch_trace.h"
#include "gym/replay/replay.h"
#include "gym/trial/constant_factors.h"
#include "gym/trial/element_values.h"

namespace tritonsmith::gym::trial {

// On extreme inputs PyTorch's own rounding may use up to this share of the tolerance. The rest is
// left for the rounding of another kernel. docs/numerics.md has the measurement.
inline constexpr double kPreciseShare = compare::kToleranceRules.precise_share;

// For each floating element of the outputs, `errors` holds by how much the candidate is wrong, and
// `values` holds the reference's value. Both are in units of the tolerance times the element's and the
// output's size. `values` is empty if they are unknown.
struct OutputErrors {
  std::vector<float> errors, values;
};

struct TrialResult {
  std::optional<replay::Stop> candidate_stop;
  std::optional<replay::Stop> reference_stop;
  // The reference stopped because its plan's forward does not replay.
  bool forward_refused = false;
  // An output differs, or something changed that must not change.
  std::optional<VerdictError> difference;
  bool reference_is_finite = true;
  bool reference_is_partly_finite = true;  // a quarter of each output's elements at least
  // On extreme inputs an output of the reference is so large that its square is no float32. Only
  // known where the candidate differs.
  bool reference_is_large = false;
  // PyTorch's own rounding error, in units of the tolerance times the output's size. It is 0 where
  // it was not measured, and infinite where it is unknown.
  double reference_error = 0;
  // The error above is measured by element, in units of a widened tolerance. This holds for 16 bits
  // if the judge changed inputs or weights.
  bool is_error_widened = false;
  bool is_exact_known = true;  // false: there is no reference in float64
  // On extreme inputs the candidate gives NaN or infinity where PyTorch gives a number, and the
  // float64 result is not large.
  bool breaks_down = false;
  // The candidate's errors (weakness.h), where a wrong value may show a weak algorithm, or where
  // the candidate's results were rounded otherwise.
  std::optional<OutputErrors> errors;
  // The few wrong elements with the candidate's values, with the reference's, and with those of the
  // reference in float64, if there is one. Only known with TrialConfig::finds_jumps().
  std::vector<ElementValues> few_wrong, expected_there, exact_there;
  // Indices, codes or truth values are wrong, but the reference itself gives others in float64, at a
  // quarter as many elements at least.
  bool is_undecided = false;
  std::vector<ElementValues> answer;   // to TrialConfig::asked
  bool reference_keeps_state = false;  // the reference's forward changes a weight or a buffer
  bool right_without_kernels = false;  // the outputs are right even where no kernel runs
  // The share of output elements that are wrong if no kernel runs, of those that the reference does
  // not take from an input as they are. Only known where a trial ran without kernels.
  std::optional<double> needed_share;
  bool kernels_only_copied = false;  // only known where launches are watched
  // The reference left values unchanged too (unchanged_values.h), so `right_without_kernels` or
  // `kernels_only_copied` proves nothing.
  bool needless_is_inconclusive = false, copying_is_inconclusive = false;
  std::optional<FactorSamples> factors;  // with KernelQuestions::factors
  Numerics numerics;
  replay::LaunchTraces launches;
  std::vector<Finding> findings;
  std::string no_oracle;  // why the Python reference could not run in float64
  double draw_ms = 0, candidate_ms = 0, reference_ms = 0, compare_ms = 0;

  bool is_stopped() const { return candidate_stop || reference_stop; }
};

// Says whether the reference's forward stopped because of its operators, and not because of their
// numbers or the time they took. The Python reference may then run the task.
bool does_not_replay(const replay::Stop& stop);

}  // namespace tritonsmith::gym::trial
