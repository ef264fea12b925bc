// VerifyingJudge: a Judge whose verdicts wait for a verifier's votes. Another judge gives the
// verdicts; the verifier is asked about each kernel of its scope, and its findings stand in the
// verdict. Both must outlive it. One thread calls it.
#pragma once

#include <deque>
#include <map>
#include <set>

#include "gym/api/judge.h"
#include "verifier/verifier.h"

namespace tritonsmith::verifier {

class VerifyingJudge : public gym::api::Judge {
 public:
  // The verifier works for this judge alone while jobs are in flight.
  VerifyingJudge(gym::api::Judge& judge, Verifier& verifier) : judge_(judge), verifier_(verifier) {}

  Status submit(gym::api::JudgeJob job) override;
  Result<std::optional<gym::api::Judged>> next(Deadline deadline) override;
  void cancel(std::uint64_t id) override;
  std::vector<gym::api::DeviceUse> devices() const override { return judge_.devices(); }

 private:
  Status take_verdict(Deadline deadline);
  Status take_opinion(Deadline deadline);

  gym::api::Judge& judge_;
  Verifier& verifier_;
  std::map<std::uint64_t, gym::api::JudgeJob> jobs_;    // without a verdict
  std::map<std::uint64_t, gym::api::Judged> reviewed_;  // with a verdict, without an opinion
  std::deque<gym::api::Judged> finished_;
};

}  // namespace tritonsmith::verifier
