// Reads a submission that a job store wrote down.
#pragma once

#include <string>

#include "gym/api/submission.h"

namespace tritonsmith::gym::service {

// Reads a submission again, without today's limits: it may have been accepted under wider ones.
// Fails for a text that no store of this project wrote.
Result<api::Submission> parse_stored_submission(const std::string& text);

}  // namespace tritonsmith::gym::service
