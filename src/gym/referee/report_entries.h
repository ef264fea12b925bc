// Makes the entries that a referee writes into its report. Nothing here fails.
#pragma once

#include <string>
#include <vector>

#include "base/clock.h"
#include "gym/referee/protocol/referee_job.h"
#include "gym/trial/trial_result.h"

namespace tritonsmith::gym::referee {

// Returns the report of a job that ended before it was judged.
RefereeReport ended(ErrorClass error_class, std::string message, Fault fault);

// Adds to the time of the stage of this name.
void add_time(RefereeReport& report, const std::string& name, double milliseconds);
// Adds each finding once.
void add_findings(RefereeReport& report, const std::vector<Finding>& findings);
// Adds a trial's times, findings and numerics.
void add_trial(RefereeReport& report, const trial::TrialResult& result);
// Puts the trial's failure into the report. Returns false if there is none.
bool take_failure(RefereeReport& report, const trial::TrialResult& result);
// Does the same as take_failure(), and notes whether the job's time was over.
bool ends_job(RefereeReport& report, const trial::TrialResult& result, Deadline deadline);

// Returns the note that the plain tolerance alone decides, with the reason.
Finding missing_oracle_note(const std::string& why);

}  // namespace tritonsmith::gym::referee
