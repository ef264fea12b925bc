// A verdict as HTML: its result as badges, and its facts as a list.
#pragma once

#include <string>

#include "data/verdict.h"

namespace tritonsmith::report {

// "accepted" and "correct" have a badge each, because a correct kernel may be refused.
std::string badges(const Verdict& verdict);

// Returns the stage, the error, the findings, the times and the kernels.
std::string verdict_facts(const Verdict& verdict);

}  // namespace tritonsmith::report
