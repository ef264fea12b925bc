// Output: which uses of the process's streams, of traceback and of gc only print, or only tidy up. print()
// does as much: a sandbox keeps what a kernel's file prints.
#pragma once

#include <string_view>

#include "inspect/candidate.h"

namespace tritonsmith::inspect {

// Tells whether the use writes to standard output or standard error, prints the exception that is
// handled, or calls gc.collect() and drops its answer.
bool only_prints(const Candidate& candidate, const Use& use);

// Tells whether this is such a module, and whether all that the file does with it is of that kind.
bool only_prints_or_tidies(const Candidate& candidate, std::string_view module);

}  // namespace tritonsmith::inspect
