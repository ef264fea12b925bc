// EveryTaskJudge: a Judge that judges each kernel for several tasks, such as one module with inputs
// of several shapes. Another judge, which must outlive it, gives the verdicts. A kernel's one
// verdict is the first that is not accepted, and its message names that task. If all are accepted,
// it is the one with the smallest speed-up. With one task it only passes jobs on. One thread calls
// it.
#pragma once

#include <map>
#include <string>

#include "gym/api/judge.h"

namespace tritonsmith::gym::api {

class EveryTaskJudge : public Judge {
 public:
  // At least one task. They replace the tasks of jobs.
  EveryTaskJudge(Judge& judge, std::vector<Task> tasks);

  Status submit(JudgeJob job) override;
  Result<std::optional<Judged>> next(Deadline deadline) override;
  void cancel(std::uint64_t id) override;
  std::vector<DeviceUse> devices() const override { return judge_.devices(); }

  // The verdicts of an accepted kernel in the order of the tasks. Empty for any other kernel.
  std::vector<Verdict> accepted(const std::string& kernel) const;

 private:
  struct Job {
    std::string kernel;                            // empty: its PTX was edited
    std::vector<std::optional<Verdict>> verdicts;  // of each task
  };
  struct Part {
    std::uint64_t job = 0;
    std::size_t task = 0;
  };
  std::optional<Verdict> verdict_of(Part part, Verdict verdict);
  void drop_parts_of(std::uint64_t job);

  Judge& judge_;
  std::vector<Task> tasks_;
  std::uint64_t last_part_ = 0;
  std::map<std::uint64_t, Job> jobs_;    // by the caller's ids
  std::map<std::uint64_t, Part> parts_;  // by the ids that judge_ knows
  std::map<std::string, std::vector<Verdict>> accepted_;
};

}  // namespace tritonsmith::gym::api
