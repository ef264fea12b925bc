// Runs a candidate's work in other orders that a GPU might choose.
//
// run_in_other_orders runs a candidate on a GPU referee by the evaluator, too. A GPU starts the programs of a launch in
// one order and seldom interrupts them, so that a race between them may never show there. The
// evaluator runs them backwards and interleaved. It also shuffles those of kernels with atomics,
// and keeps the lanes of a program apart, on a referee without a GPU as well. Only candidates need this whose programs or lanes
// may see each other's stores, and only small ones are worth it.
#pragma once

#include "gym/referee/equipment.h"
#include "gym/referee/trial_context.h"

namespace tritonsmith::gym::referee {

// Returns false if the evaluator finds a race, or an access outside of a buffer, which it puts into
// the report. A candidate that it cannot run in a second stays as the GPU judged it.
bool run_in_other_orders(Equipment& equipment, const TrialContext& context, RefereeReport& report);

// Runs the steps of a candidate that uses several streams in other orders that these allow. Returns
// false if one gives a wrong result, which it puts into the report as a race.
bool run_in_stream_orders(Equipment& equipment, const TrialContext& context, RefereeReport& report);

}  // namespace tritonsmith::gym::referee
