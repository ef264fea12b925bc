// TrialConfig: everything that decides what one trial does. The referee fills it for each trial. It
// refers to the plans and to the job's secret, so these must outlive the trial.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "gym/plan/analysis/call_counters.h"
#include "gym/replay/replay.h"
#include "gym/trial/element_values.h"
#include "gym/trial/perturb/candidate_numbers.h"
#include "gym/trial/perturb/perturbation.h"
#include "gym/trial/perturb/trial_numbers.h"
#include "gym/trial/reference_source.h"
#include "gym/trial/weights/weight_changes.h"

namespace tritonsmith::gym::cuda {
struct FusedOracle;
}

namespace tritonsmith::gym::trial {

// How much a trial remembers of the memory before forward: nothing, whether forward changed it, or
// a copy of all its bytes.
enum class StateKeeping { none, watched, saved };

// A small change of all inputs. uniform: all elements get the factor 1 - |units| * epsilon (weakness.h).
// by_element: about half of them get 1 - 2 * |units| * epsilon; the sign of the units tells which half.
// Both move elements towards zero only, because a GPU stops for good at a probability above 1. by_value:
// the elements, and what the reference makes of them step by step, are rounded to a grid (other_rounding.h).
enum class NudgeForm { uniform, by_element, by_value };
struct Nudge {
  // uniform, by_element: a multiple of the type's epsilon. by_value: how many neighbouring numbers become
  // one, a power of two. 0 changes nothing.
  double units = 0;
  NudgeForm form = NudgeForm::uniform;
  int round = 0;  // by_value: decides where the grid lies
  // by_value: leaves about half of the reference's steps as they are. The round decides which.
  bool leaves_steps = false;
};

// The question that a trial answers.
enum class TrialPurpose {
  judge,           // is the candidate right?
  measure_errors,  // the same, and TrialResult::errors even of a right candidate
  measure_shares,  // the same, and how near to wrong the right elements are (CompareOptions)
};

// Says what else a trial finds out about the candidate's kernels.
struct KernelQuestions {
  bool needed = false;   // do the outputs need the kernels at all?
  bool copies = false;   // do the kernels only copy?
  bool factors = false;  // which factors do products have (constant_factors.h)?
};

struct TrialConfig {
  const plan::Plan& task;
  const plan::Plan& candidate;
  std::string_view secret;
  std::string_view task_key = {};  // names the content of the task's plan
  int trial = 0;
  Perturbation kind = Perturbation::plain;
  std::optional<WeightChange> weights;     // if not set, the perturbation decides
  bool within_bounds = false;              // inputs drawn between two bounds stay there
  Nudge nudge = {};                        // also moves inputs
  language::ResultRounding rounding = {};  // of the candidate's results (weakness.h)
  TrialNumbers* kept = nullptr;            // the trial keeps here what the reference gets
  const TrialNumbers* given = nullptr;     // replace the numbers that the trial draws
  // The trial judges the second call of forward, on inputs of its own.
  bool later_call = false;
  // The counters of the task's calls begin as after `calls_before` calls. Null: as the constructor left them.
  const std::vector<plan::analysis::CallCounter>* counters = nullptr;
  std::int64_t calls_before = 0;
  const CandidateNumbers* numbers = nullptr;  // those in the candidate's code; null: not used
  replay::Choices choices;                    // the configs of tuned launches
  language::ProgramOrder order = {};
  Comparison comparison = Comparison::budget;
  Strides strides = Strides::any;
  std::optional<double> tolerance;
  Deadline deadline = Deadline::never();
  std::int64_t memory_bytes = 0;
  bool with_oracle = true;  // runs the reference in float64 as well
  TrialPurpose purpose = TrialPurpose::judge;
  KernelQuestions kernels = {};
  // Runs forward of a task whose plan lacks it. Null if the plan has it.
  ReferenceSource* python_reference = nullptr;
  ReferenceMode mode = ReferenceMode::train;  // the mode of the Python reference
  const cuda::FusedOracle* fused = nullptr;   // the task's, if it has one
  StateKeeping keeping = StateKeeping::none;
  // If set, the trial only reports the reference's values at these elements.
  const std::vector<ElementValues>* asked = nullptr;
  // Values that this trial uses as the reference's at these elements, because the reference jumps there.
  const std::vector<ElementValues>* adopted = nullptr;

  // Says whether the result tells which few elements are wrong, so that the referee may ask whether the
  // reference jumps there (jumps.h).
  bool finds_jumps() const {
    return purpose == TrialPurpose::judge && comparison == Comparison::budget;
  }
};

}  // namespace tritonsmith::gym::trial
