#include "gym/api/submission.h"

#include <gtest/gtest.h>

#include "base/json.h"

namespace tritonsmith::gym::api {
namespace {

std::string refusal_of(const std::string& member) {
  const Json json = {{"task", {{"source", "t"}}}, {"kernel", "k"}, {member, "1"}};
  const auto submission = submission_from_json(json, {});
  return submission ? "" : submission.error().message;
}

TEST(Submission, SaysOfAnUnknownMemberThatItIsUnknownAndWhichThereAre) {
  EXPECT_EQ(refusal_of("id"),
            "unknown member 'id' of the job; there are task, kernel, policy, backend, comparison, "
            "trials, priority, client, fresh, deadline_seconds, baselines, device, strides");
  EXPECT_EQ(refusal_of("polcy"), "unknown member 'polcy' of the job; did you mean 'policy'?");
}

}  // namespace
}  // namespace tritonsmith::gym::api
