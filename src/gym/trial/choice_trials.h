// The trials of a candidate with tuned launches: which config each of them takes in which trial. An
// autotuner may pick any config of any launch, so every config is tried. Pure.
#pragma once

#include <string_view>
#include <vector>

#include "gym/plan/plan.h"
#include "gym/replay/choices.h"
#include "gym/trial/perturbation.h"

namespace tritonsmith::gym::trial {

struct ChoiceTrial {
  Perturbation perturbation = Perturbation::plain;
  replay::Choices choices;
  bool operator==(const ChoiceTrial&) const = default;
};

// The kinds of trial by which a mixture of configs is found right or wrong.
std::vector<Perturbation> perturbations_for_choices(const plan::Plan& task);

// Every config but the first, which all other trials take, is tried plainly and on each other kind;
// where configs are many, on some of the kinds, by the secret. Of several tuned launches each
// trial of one kind takes another mixture: over as many kinds as configs, every config of the first
// meets every one of the second.
std::vector<ChoiceTrial> choice_trials(const plan::Plan& task, const plan::Plan& candidate,
                                       std::string_view secret);

}  // namespace tritonsmith::gym::trial
