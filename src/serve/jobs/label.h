// Label: what a data set says about a task, as a job without its kernel. The Python package takes
// the same forms. A label is one of:
//
//   the source of a task
//   the id of a task in the service's suite
//   a JSON object, or its text: `task` (or `source`, `reference_code`, ...) with either of the above,
//   and any of `id`, `policy`, `comparison`, `backend`, `trials`, `baselines`, `priority`,
//   `tolerance`, `fresh` and `weights` of the reward
//
// Other members belong to the data set and are passed over. The functions are pure, and treat every
// byte as hostile.
#pragma once

#include "gym/api/submission.h"
#include "reward/config.h"
#include "serve/jobs/suite.h"

namespace tritonsmith::serve {

struct LabelledJob {
  gym::api::Submission submission;  // its kernel is empty
  reward::RewardConfig weights;
};

// Fails with one line that names the member at fault.
Result<LabelledJob> job_from_label(const Json& label, const Suite& suite,
                                   const gym::api::SubmissionLimits& limits);

// Applies an object of settings of `reward` to their defaults.
Result<reward::RewardConfig> weights_from_json(const Json& weights);

}  // namespace tritonsmith::serve
