// Reads a submission that a job store wrote down.
#pragma once

#include <string>

#include "gym/api/submission.h"

namespace tritonsmith::gym::service {

// What was accepted under wider limits than today's is judged all the same. Fails for a text that
// no store of this project wrote.
Result<api::Submission> parse_stored_submission(const std::string& text);

}  // namespace tritonsmith::gym::service
