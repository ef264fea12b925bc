// Inspection: checks a candidate's source without running it. The gym runs it first, and a finding
// with severity reject ends the judgement there. The rules cover facts that are plain in the text.
// Examples are a kernel that is missing or never launched, and code that reaches for files,
// processes, frames or the judge's tools.
//
// Questions of data flow are left to the launch plan, which a candidate's text cannot deceive: did
// the kernel compute the output, and what did torch compute? Honest code must pass, so the tests of
// each rule include an honest counterpart.
//
// A pure function of hostile bytes; any thread may call it. It takes about a millisecond for a
// typical kernel.
#pragma once

#include <string_view>
#include <vector>

#include "data/finding.h"
#include "data/verdict.h"

namespace tritonsmith::inspect {

// Returns the findings in the order of the table of rules (rules.cc), with ascending lines within
// each rule. Each rule gives at most a few findings.
std::vector<Finding> inspect_kernel(std::string_view source, Policy policy);

}  // namespace tritonsmith::inspect
