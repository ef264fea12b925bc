// Judge: the interface through which training, evaluation and the assistant use the gym. The caller
// submits jobs and receives verdicts in the order in which they finish. LocalJudge judges in this
// program, RemoteJudge asks a `gym serve`, and testing/fake_judge.h has a fake for tests. One
// thread calls submit, next and cancel.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "data/calibration.h"
#include "data/task.h"
#include "data/verdict.h"

namespace tritonsmith::gym::api {

// Settings that only the self-test of a LocalJudge uses (gym/judge/start_check.h).
struct SelfTestJob {
  // The number of the referee that runs the plan. Other jobs go to any free referee.
  int referee = 0;
  bool is_right = false;  // the known answer: whether the kernel is correct
  // If the referee's process dies, each process that replaces it gets this job, too.
  bool is_asked_again = false;
};

struct JudgeJob {
  // The caller chooses it, and gets it back with the verdict. It differs between jobs in flight.
  std::uint64_t id = 0;
  Task task;
  std::string kernel;  // the candidate's Python source, which defines ModelNew
  Policy policy = Policy::strict;
  Comparison comparison = Comparison::budget;
  Strides strides = Strides::any;
  Backend backend = Backend::automatic;
  int trials = 3;
  // The class of devices that must judge the job: "NVIDIA H200", "sm_90", "gpu" or "cpu". Empty:
  // any device may. A judge of one machine ignores this and uses the devices that it has.
  std::string device;
  // Baselines to time on a GPU beside the reference: eager, torch_compile.
  std::vector<std::string> baselines;
  bool use_store = true;  // answer repeated jobs from the verdict store, and add to it
  // Edited PTX that replaces a kernel's own, by the kernel's name (KernelReport::ptx_name). The job
  // fails if it has no kernel of that name. With `shows_ptx` the verdict holds the compiler's own
  // PTX. Only a LocalJudge supports these two members. It never answers such jobs from its store.
  std::map<std::string, std::string> ptx = {};
  bool shows_ptx = false;
  std::optional<SelfTestJob> self_test;
};

// Fails with one line that names an unknown baseline.
Status check_baselines(const std::vector<std::string>& baselines);
// Fails with one line if the job contradicts itself. A caller calls it before any work starts.
Status check_job(const JudgeJob& job);

struct Judged {
  std::uint64_t id = 0;
  Verdict verdict;        // fault == infrastructure only after the gym's own retries were used up
  std::string name = {};  // the service's name for the job; empty for a local judge
  // The UUID of the GPU that ran the plan; empty if none did, or if an earlier verdict answers.
  std::string gpu = {};
};

// The work of one device that runs plans, since its judge began.
struct DeviceUse {
  std::string name;            // "cuda:0"; "cpu:1" is the second referee on the CPU
  std::uint64_t verdicts = 0;  // plans of candidates that it ran
  double busy_seconds = 0;
  std::uint64_t restarts = 0;  // times that another process replaced its referee
  std::string gpu = {};        // its UUID; empty: it is no GPU
  // The number of calibrations so far. `calibration` is the result of the last one, and
  // `calibrated` the time when it began.
  std::uint64_t calibrations = 0;
  Calibration calibration = {};
  TimePoint calibrated = {};
};

class Judge {
 public:
  virtual ~Judge() = default;
  // Blocks while the queue is full. Fails only when the gym itself is broken.
  virtual Status submit(JudgeJob job) = 0;
  // Returns the next finished verdict, or nothing at the deadline or when no job is in flight.
  virtual Result<std::optional<Judged>> next(Deadline deadline) = 0;
  // Drops the job. A verdict that is already finished may still arrive.
  virtual void cancel(std::uint64_t id) = 0;
  // Returns the devices of this program. A judge on another machine returns none.
  virtual std::vector<DeviceUse> devices() const { return {}; }
};

}  // namespace tritonsmith::gym::api
