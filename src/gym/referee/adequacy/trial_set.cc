#include "gym/referee/adequacy/trial_set.h"

#include <algorithm>
#include <cmath>

#include "gym/plan/faults/plan_editor.h"
#include "gym/referee/extreme_trials.h"
#include "gym/referee/refusals.h"
#include "gym/referee/run_trials.h"

namespace tritonsmith::gym::referee {
namespace {

bool refuses_its_arguments(const replay::Stop& stop) {
  const ErrorClass kind = stop.error.error_class;
  return kind == ErrorClass::exception || kind == ErrorClass::bad_plan ||
         kind == ErrorClass::not_evaluable;
}

TrialAnswer answer_of(const trial::TrialResult& result) {
  TrialAnswer answer{.kind = TrialAnswer::Kind::right,
                     .differs = result.numerics.max_abs > 0,
                     .worst_share = std::min(result.numerics.worst_share, 1.0),
                     .error = {}};
  if (result.candidate_stop)
    answer.error = result.candidate_stop->error;
  else if (result.difference)
    answer.error = result.difference;
  if (!answer.error) return answer;
  answer.kind = TrialAnswer::Kind::wrong;
  answer.differs = true;
  answer.worst_share = result.numerics.worst_share;
  answer.does_not_run = result.candidate_stop && refuses_its_arguments(*result.candidate_stop);
  // A margin of 1 or less belongs to right elements: something else told the candidate.
  if (answer.error->error_class != ErrorClass::wrong_value || !(*answer.worst_share > 1))
    answer.worst_share.reset();
  return answer;
}

}  // namespace

std::string name_of(const SetTrial& trial) {
  if (trial.is_later_call) return "second call";
  return std::string(tritonsmith::name_of(trial.kind));
}

TrialSet::TrialSet(Equipment& equipment, RefereeJob job, const plan::Plan& task, Deadline deadline)
    : equipment_(equipment),
      job_(std::move(job)),
      task_(task),
      deadline_(deadline),
      with_oracle_(has_room_for_oracle(job_, task, equipment.device)) {}

tl::expected<TrialSet, std::string> TrialSet::of_task(Equipment& equipment, RefereeJob job,
                                                      const plan::Plan& task, Deadline deadline) {
  TrialSet set(equipment, std::move(job), task, deadline);
  if (auto why = set.begin()) return tl::unexpected(*std::move(why));
  return set;
}

trial::TrialConfig TrialSet::config_of(const plan::Plan& candidate, const SetTrial& trial) const {
  const TrialContext context{job_, task_, candidate, deadline_, with_oracle_};
  trial::TrialConfig config = context.config_of(trial.number, trial.kind);
  config.order = {};  // no plan here has launches
  config.numbers = nullptr;
  config.later_call = trial.is_later_call;
  config.purpose = trial::TrialPurpose::measure_shares;
  return config;
}

std::optional<std::string> TrialSet::begin() {
  if (auto refused = too_large(job_, task_, task_, equipment_.device))
    return refused->error->message;
  const plan::Plan itself = plan::faults::as_candidate(task_);
  const trial::TrialResult result = run_ordered_trial(equipment_, config_of(itself, {}));
  if (result.reference_stop) return result.reference_stop->error.message;
  if (result.candidate_stop) return result.candidate_stop->error.message;
  plain_ = soundness_of(task_, result);
  for (int trial = 0; trial < std::max(1, job_.trials); ++trial) {
    trials_.push_back({.number = trial, .kind = trial::perturbation_of_trial(trial)});
    if (trial == 0 && result.reference_keeps_state && !task_.first_call_only)
      trials_.push_back({.number = job_.trials, .is_later_call = true});
  }
  for (const trial::Perturbation kind : trial::extreme_perturbations(task_))
    trials_.push_back({.number = job_.trials, .kind = kind});
  return std::nullopt;
}

bool TrialSet::is_skipped(const SetTrial& trial, const std::set<trial::Perturbation>& right) const {
  return trial::is_extreme(trial.kind) &&
         trial::says_what_others_said(trial.kind, right, trial::form_of(task_));
}

TrialAnswer TrialSet::run(const plan::Plan& candidate, const SetTrial& trial) {
  trial::TrialConfig config = config_of(candidate, trial);
  if (!trial::is_extreme(trial.kind)) {
    const trial::TrialResult result = trial.is_later_call
                                          ? run_ordered_trial(equipment_, config)
                                          : run_usable_trial(equipment_, config, plain_);
    return result.reference_stop ? TrialAnswer{} : answer_of(result);
  }
  auto [result, is_conclusive] = run_conclusively(equipment_, task_, plain_.is_finite, config);
  if (result.reference_stop || !is_conclusive) return {.differs = result.difference.has_value()};
  tell_weakness(equipment_, config, result);
  return answer_of(result);
}

}  // namespace tritonsmith::gym::referee
