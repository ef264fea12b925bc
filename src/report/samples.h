// Shows samples of a run as cards: what was asked, what was written, how it was judged, what it
// earned.
#pragma once

#include <string>

#include "report/records.h"

namespace tritonsmith::report {

// Some of the newest samples: accepted ones, and one of each way to fail. Empty without samples.
std::string render_samples(const RunRecords& run);

}  // namespace tritonsmith::report
