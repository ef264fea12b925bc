// Runs a candidate's work in other orders that a GPU might choose.
//
// A GPU starts the programs of a launch in one order and seldom interrupts them. A race between them
// may never show there. So on a GPU referee, run_in_other_orders() has the evaluator run the
// candidate's programs backwards and interleaved. On every referee it also shuffles the programs of
// kernels with atomics, and keeps the lanes of a program apart. Only candidates need this whose programs
// or lanes may see each other's stores. Large candidates are left out.
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
