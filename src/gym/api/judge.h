// Judge: all that training, evaluation and the assistant see of the gym. Jobs go in, verdicts come
// out as a stream in whatever order they finish. LocalJudge runs the pool in this program,
// RemoteJudge speaks to `gym serve`, and testing/fake_judge.h serves the tests. One thread calls
// submit, next and cancel.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "data/task.h"
#include "data/verdict.h"

namespace tritonsmith::gym::api {

// What only the self-test of a LocalJudge asks for (gym/judge/start_check.h).
struct SelfTestJob {
  int referee = 0;              // by its number, the one that runs the plan: else whoever is free
  bool is_right = false;        // what is known of the kernel
  bool is_asked_again = false;  // of each process that takes that referee's place
};

struct JudgeJob {
  std::uint64_t id =
      0;  // the caller's; comes back with the verdict, must differ between jobs in flight
  Task task;
  std::string kernel;  // the candidate's Python source, which defines ModelNew
  Policy policy = Policy::strict;
  Comparison comparison = Comparison::budget;
  Backend backend = Backend::automatic;
  int trials = 3;
  // What else the task is timed by on a GPU, beside what the judge always times: eager,
  // torch_compile.
  std::vector<std::string> baselines;
  bool use_store = true;  // answer repeats from the verdict store, and add to it
  std::optional<SelfTestJob> self_test;
};

// Empty, or a line that says which of them is none.
Status check_baselines(const std::vector<std::string>& baselines);
// What contradicts itself in a job, in one line, before anything is done for it.
Status check_job(const JudgeJob& job);

struct Judged {
  std::uint64_t id = 0;
  Verdict verdict;        // fault == infrastructure only after the gym's own retries were used up
  std::string name = {};  // what a service calls the job; empty: it was judged here
};

// What one device that runs plans has done since its judge began.
struct DeviceUse {
  std::string name;            // "cuda:0"; "cpu:1" is the second referee on the CPU
  std::uint64_t verdicts = 0;  // plans of candidates that it ran
  double busy_seconds = 0;
  std::uint64_t restarts = 0;  // times that another process took the place of its referee
};

class Judge {
 public:
  virtual ~Judge() = default;
  // Waits while the queue is full. Fails only when the gym itself is broken.
  virtual Status submit(JudgeJob job) = 0;
  // The next finished verdict; nothing when the deadline passes first or no job is in flight.
  virtual Result<std::optional<Judged>> next(Deadline deadline) = 0;
  // The job's verdict will not come; one already finished may still.
  virtual void cancel(std::uint64_t id) = 0;
  // The devices of this program. A judge elsewhere has none here.
  virtual std::vector<DeviceUse> devices() const { return {}; }
};

}  // namespace tritonsmith::gym::api
