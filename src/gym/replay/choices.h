// Which config each tuned launch of a plan takes. An autotuner may pick any config of any launch,
// whatever it picks for the others, so a candidate is tried on all of them, and several launches in
// mixtures that follow from the job's secret. Pure.
#pragma once

#include <cstddef>
#include <map>
#include <string_view>
#include <vector>

#include "gym/plan/plan.h"

namespace tritonsmith::gym::replay {

// By the index of the launch's step; a launch that is not named takes its first config.
using Choices = std::map<std::size_t, int>;

// The launch's config there; its last one where it has fewer.
const plan::LaunchChoice& chosen_of(const plan::LaunchStep& launch, std::size_t step,
                                    const Choices& choices);

// "config 2 of line 17, ...": of the launches that have several.
std::string text_of(const Choices& choices, const plan::Plan& plan);

}  // namespace tritonsmith::gym::replay
