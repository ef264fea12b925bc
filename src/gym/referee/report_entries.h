// What a referee writes into its report, entry by entry. One thread; nothing fails.
#pragma once

#include <string>
#include <vector>

#include "gym/referee/protocol/referee_job.h"
#include "gym/trial/trial.h"

namespace tritonsmith::gym::referee {

// A report that says nothing but why there is none.
RefereeReport ended(std::string error_class, std::string message, Fault fault);

// To the stage of this name.
void add_time(RefereeReport& report, const std::string& name, double milliseconds);
// Each once.
void add_findings(RefereeReport& report, const std::vector<Finding>& findings);
// Of a trial: its times, findings and numerics.
void add_trial(RefereeReport& report, const trial::TrialResult& result);
// Puts the trial's failure into the report; false when there is none.
bool take_failure(RefereeReport& report, const trial::TrialResult& result);

}  // namespace tritonsmith::gym::referee
