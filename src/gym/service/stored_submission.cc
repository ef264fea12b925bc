#include "gym/service/stored_submission.h"

namespace tritonsmith::gym::service {

Result<api::Submission> parse_stored_submission(const std::string& text) {
  TRY_ASSIGN(const Json json, parse_json(text));
  constexpr api::SubmissionLimits any{.source_bytes = std::size_t{1} << 30};
  return api::submission_from_json(json, any);
}

}  // namespace tritonsmith::gym::service
