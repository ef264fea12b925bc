// Which config each tuned launch of a plan takes. An autotuner may pick any config of any launch,
// whatever it picks for the others, so a candidate is tried on all of them, and several launches in
// mixtures that follow from the job's secret. Pure.
#pragma once

#include <cstddef>
#include <map>
#include <string_view>
#include <vector>

#include "gym/plan/plan.h"
#include "gym/referee/draw.h"

namespace tritonsmith::gym {

// By the index of the launch's step; a launch that is not named takes its first config.
using Choices = std::map<std::size_t, int>;

// The launch's config there; its last one where it has fewer.
const LaunchChoice& chosen_of(const LaunchStep& launch, std::size_t step, const Choices& choices);

// "config 2 of line 17, ...": of the launches that have several.
std::string text_of(const Choices& choices, const Plan& plan);

struct ChoiceTrial {
  TrialKind kind = TrialKind::plain;
  Choices choices;
  bool operator==(const ChoiceTrial&) const = default;
};

// The kinds of trial by which a mixture of configs is found right or wrong.
std::vector<TrialKind> kinds_for_choices(const Plan& task);

// Every config but the first, which all other trials take, is tried plainly and on each other kind;
// where configs are many, on some of the kinds, by the secret. Of several tuned launches each
// trial of one kind takes another mixture: over as many kinds as configs, every config of the first
// meets every one of the second.
std::vector<ChoiceTrial> choice_trials(const Plan& task, const Plan& candidate,
                                       std::string_view secret);

}  // namespace tritonsmith::gym
