#include "gym/api/judge_all.h"

#include <utility>

namespace tritonsmith::gym::api {

Result<std::vector<Verdict>> judge_all(Judge& judge, std::vector<JudgeJob> jobs) {
  for (std::size_t id = 0; id < jobs.size(); ++id) {
    jobs[id].id = id;
    TRY(judge.submit(std::move(jobs[id])));
  }
  std::vector<Verdict> verdicts(jobs.size());
  for (std::size_t count = 0; count < verdicts.size(); ++count) {
    TRY_ASSIGN(auto judged, judge.next(Deadline::never()));
    if (!judged)
      return fail_by_fault("the judge gave {} verdicts for {} jobs", count, verdicts.size());
    CHECK(judged->id < verdicts.size(), "a verdict for job {}", judged->id);
    verdicts[judged->id] = std::move(judged->verdict);
  }
  return verdicts;
}

}  // namespace tritonsmith::gym::api
