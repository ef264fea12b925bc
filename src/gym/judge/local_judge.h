// LocalJudge: the gym in this program. It inspects, captures, compiles and evaluates candidates,
// several at a time, and answers repeats from its verdict store. Guests, compilers and referees are
// separate processes, and a failure of one harms only its own job. Construction returns at once;
// the first verdict waits for the warm zygote.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/config.h"
#include "gym/api/judge.h"
#include "gym/capture/capture_pool.h"
#include "gym/judge/referee_process.h"
#include "gym/judge/replay_gpus.h"
#include "gym/judge/verdict_store.h"

namespace tritonsmith::gym::api {
class Outbox;
}

namespace tritonsmith::gym::judge {

class Coordinator;

struct LocalJudgeConfig {
  capture::CaptureConfig capture;
  int referees = std::max(1, usable_cores() / 4);
  int gpus = -1;                        // how many run plans; -1: all of this machine
  std::vector<std::int64_t> only_gpus;  // use these GPUs, by number; empty: the first ones
  bool lease = true;  // time alone on a GPU, in turns with a trainer there (base/lease.h)
  std::vector<std::string> baselines;  // also timed on a GPU: eager, torch_compile
  // Referees that are started beforehand beside each referee, to replace it when it dies. -1: one
  // on a GPU, whose context takes seconds to make, and one on a CPU with eight cores or more.
  int spare_referees = -1;
  int in_flight = std::max(12, 3 * usable_cores());  // jobs that are judged at a time
  int queue = 256;                                   // unfinished jobs at most; submit waits beyond
  double referee_seconds = 20;                       // for all trials of one job
  int referee_memory_mib = 2048;
  int referee_grace_seconds = 10;  // the time beyond the budget before a silent referee is killed
  // Each task's adequacy is measured under so many secrets before its first verdict, and each verdict
  // tells it (the finding task_adequacy); 0: it is not.
  int adequacy_secrets = 0;
  // How often each GPU is calibrated while it judges (data/calibration.h). 0: never.
  int calibration_seconds = 0;
  int task_plans = 512;      // captured tasks that are kept; those used last stay
  int task_plans_mib = 512;  // the same limit in MiB
  std::string
      directory;  // holds verdicts.sqlite, the secret and the compile cache; empty: nothing is kept
  // The chip that kernels are compiled for (compile/targets.h). GPUs of another chip are left out, so
  // that a judge may have none. Empty: the chip of this machine's GPUs, else sm_90.
  std::string target;
  static Fields<LocalJudgeConfig> fields();
};

using Inspect = std::function<std::vector<Finding>(std::string_view source, Policy policy)>;

// The parts of a LocalJudge. Tests put fakes in.
struct LocalJudgeParts {
  std::unique_ptr<capture::CapturePool> pool;
  MakeReferee make_referee;  // called once for each referee thread
  std::vector<ReplayGpu> gpus;
  std::optional<Ceilings> ceilings;  // of these GPUs, where they were measured
  std::function<std::unique_ptr<RefereeClient>(int gpu)> make_replay_referee;
  Inspect inspect;
  std::optional<VerdictStore> store;
  std::string secret;
};

class LocalJudge : public api::Judge {
 public:
  // Starts a judge with the real parts. Referees run `program`. Candidates are captured and compiled
  // by `pool`, or without one by this machine.
  static Result<std::unique_ptr<LocalJudge>> start(
      const LocalJudgeConfig& config, Inspect inspect, RefereeProgram program,
      std::unique_ptr<capture::CapturePool> pool = nullptr);
  LocalJudge(const LocalJudgeConfig& config, LocalJudgeParts parts);
  ~LocalJudge() override;

  // Returns the number of referees of the backend that the judge uses by default. They are
  // numbered from 0.
  int referees() const { return referees_; }

  Status submit(api::JudgeJob job) override;
  Result<std::optional<api::Judged>> next(Deadline deadline) override;
  void cancel(std::uint64_t id) override;
  // Returns one entry for each referee. Any thread may call it.
  std::vector<api::DeviceUse> devices() const override;
  // Returns the versions in the keys of the store. They are known once the first job was judged.
  // Any thread may call it.
  JudgeVersions versions() const;

 private:
  std::size_t queue_;
  bool has_gpu_;
  int referees_;
  std::unique_ptr<api::Outbox> outbox_;
  std::unique_ptr<Coordinator> coordinator_;
};

}  // namespace tritonsmith::gym::judge
