// Chooses the config that each tuned launch of a plan takes. An autotuner may choose any config for
// any launch, independently of the others. So trials run a candidate with all of them, and mix the
// configs of several launches by the job's secret. Pure.
#pragma once

#include <cstddef>
#include <map>
#include <string_view>
#include <vector>

#include "gym/plan/plan.h"

namespace tritonsmith::gym::replay {

// Choices by the index of the launch's step. A launch without a choice takes its first config.
using Choices = std::map<std::size_t, int>;

// Returns the launch's chosen config, or its last one if it has fewer.
const plan::LaunchChoice& chosen_of(const plan::LaunchStep& launch, std::size_t step,
                                    const Choices& choices);

// Says whether the choices run a step that belongs to some choices of the next launch. Any step of a
// launch that the plan lost belongs to none, and runs.
bool runs_step(const plan::Plan& plan, std::size_t step, const Choices& choices);

// Describes the choices as "config 2 in line 17, ...".
std::string text_of(const Choices& choices, const plan::Plan& plan);

}  // namespace tritonsmith::gym::replay
