// Runs trials in which a task's call counter starts high. They serve tasks whose results may depend
// on the number of the call: an Adam step, a warm-up, a cache of some slots. Two calls never reach
// such counts.
#pragma once

#include "gym/referee/run_trials.h"

namespace tritonsmith::gym::referee {

// Returns false if the job ends here. Nothing runs unless the candidate has each counter, by its name
// and in its form, and its Python reads none of them.
bool run_counter_trials(Equipment& equipment, const TrialContext& context, const Soundness& plain,
                        RefereeReport& report);

// Returns the numbers of calls after which such trials begin, of which the secret chooses some.
std::vector<std::int64_t> calls_to_try(const plan::Plan& task,
                                       const std::vector<plan::analysis::CallCounter>& counters,
                                       std::string_view secret);

// Says whether the candidate has each counter and its Python reads none of them.
bool holds_counters(const plan::Plan& task, const plan::Plan& candidate,
                    const std::vector<plan::analysis::CallCounter>& counters);

}  // namespace tritonsmith::gym::referee
