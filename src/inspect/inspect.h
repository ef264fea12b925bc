// Inspection: what the source of a candidate shows without running it. The gym runs it before
// anything else, and a finding with severity reject ends the judgement there. Rules are for what is
// plain in the text: a kernel that is missing or never launched, code that reaches for files,
// processes, frames or the judge's own tools. What needs data flow (did the kernel compute the
// output, what did torch compute) is left to the launch plan, which cannot be talked around. Honest
// code must pass: each rule has an honest twin among the tests.
//
// A pure function of hostile bytes; any thread. Costs about a millisecond for a typical kernel.
#pragma once

#include <string_view>
#include <vector>

#include "data/finding.h"
#include "data/verdict.h"

namespace tritonsmith::inspect {

// In the order of the rules' table (rules.cc), lines ascending within each; at most a few findings
// per rule.
std::vector<Finding> inspect_kernel(std::string_view source, Policy policy);

}  // namespace tritonsmith::inspect
