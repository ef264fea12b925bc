// Keeps inputs from the reference that would end the GPU's context. PyTorch's CUDA kernels assert what
// its CPU kernels refuse with an exception, such as a probability beyond 0 and 1. So where that may
// happen, the CPU runs the reference first, on the inputs of this trial.
#pragma once

#include <optional>

#include "gym/referee/equipment.h"
#include "gym/replay/replay.h"
#include "gym/trial/trial.h"

namespace tritonsmith::gym::referee {

// Returns how the reference refuses the inputs of this trial, or nothing if it takes them or no assertion
// can fail. Takes the candidate's numbers out of the trial if the reference refuses inputs only with them, so
// that no candidate decides which trials take place.
std::optional<replay::Stop> refused_by_reference(Equipment& equipment, trial::TrialConfig& config);

// Says whether the reference takes the counts of calls with which such a trial begins (call_counters.h). A
// count may be an index into memory that ends. On a CPU the reference always runs first, on a GPU only
// if an assertion can fail.
bool takes_counts(Equipment& equipment, const trial::TrialConfig& config);

}  // namespace tritonsmith::gym::referee
