// Chooses the trials of a candidate with tuned launches: the config that each launch takes in each
// trial. An autotuner may pick any config of any launch, so every config is tried. Pure.
#pragma once

#include <string_view>
#include <vector>

#include "gym/plan/plan.h"
#include "gym/replay/choices.h"
#include "gym/trial/perturb/perturbation.h"

namespace tritonsmith::gym::trial {

struct ChoiceTrial {
  Perturbation perturbation = Perturbation::plain;
  replay::Choices choices;
  bool operator==(const ChoiceTrial&) const = default;
};

// Returns the kinds of trial that check a mixture of configs.
std::vector<Perturbation> perturbations_for_choices(const plan::Plan& task);

// All other trials take the first config of each launch. Every further config is tried plainly
// and on each other kind of trial. If there are many configs, the secret decides on which kinds
// each is tried. With several tuned launches, each trial of one kind takes another mixture of
// configs. If there are as many kinds as configs, every config of the first launch meets every
// config of the second.
std::vector<ChoiceTrial> choice_trials(const plan::Plan& task, const plan::Plan& candidate,
                                       std::string_view secret);

}  // namespace tritonsmith::gym::trial
