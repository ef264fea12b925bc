// LocalJudge: the judge of this machine. It inspects, captures, compiles and runs candidates,
// several at a time, and answers repeated jobs from its verdict store. Guests, compilers and
// referees are separate processes, and a failure of one harms only its own job. The constructor
// returns at once, and the first verdict waits until the zygote is warm.
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
  int gpus = -1;                        // the number of GPUs that run plans; -1: all
  std::vector<std::int64_t> only_gpus;  // use these GPUs, by number; empty: the first ones
  bool lease = true;  // a timing waits for the GPU's lease, so a trainer pauses (base/lease.h)
  std::vector<std::string> baselines;  // also timed on a GPU: eager, torch_compile
  // The number of spare processes for each referee. A spare is ready to replace the referee when
  // that dies. -1: one on a GPU, where a new context takes seconds, and one on eight CPU cores or
  // more.
  int spare_referees = -1;
  int in_flight = std::max(12, 3 * usable_cores());  // jobs that are judged at a time
  int queue = 256;                                   // the limit of unfinished jobs; submit waits
  double referee_seconds = 20;                       // for all trials of one job
  int referee_memory_mib = 2048;
  int referee_grace_seconds = 10;  // a silent referee is killed this long after its budget
  // The number of secrets under which each task's adequacy is measured before its first verdict.
  // The finding task_adequacy reports it. 0: adequacy is not measured.
  int adequacy_secrets = 0;
  // How often each GPU is calibrated while it judges (data/calibration.h). 0: never.
  int calibration_seconds = 0;
  // The plans of tasks that are kept, by number and by size. Those used last stay.
  int task_plans = 512;
  int task_plans_mib = 512;
  // Holds verdicts.sqlite, the secret and the compile cache. Empty: nothing is kept.
  std::string directory;
  // The chip that kernels are compiled for (compile/targets.h). The judge uses no GPU of another
  // chip. Empty: the chip of this machine's GPUs, or sm_90 without a GPU.
  std::string target;
  static Fields<LocalJudgeConfig> fields();
};

using Inspect = std::function<std::vector<Finding>(std::string_view source, Policy policy)>;

// The parts of a LocalJudge. A test passes fakes.
struct LocalJudgeParts {
  std::unique_ptr<capture::CapturePool> pool;
  MakeReferee make_referee;  // called once for each referee thread
  std::vector<ReplayGpu> gpus;
  std::optional<Ceilings> ceilings;  // of these GPUs; set if they were measured
  std::function<std::unique_ptr<RefereeClient>(int gpu)> make_replay_referee;
  Inspect inspect;
  std::optional<VerdictStore> store;
  std::string secret;
};

class LocalJudge : public api::Judge {
 public:
  // Starts a judge with the real parts. Referees run `program`. `pool` captures and compiles
  // candidates. If it is null, the judge makes a pool on this machine.
  static Result<std::unique_ptr<LocalJudge>> start(
      const LocalJudgeConfig& config, Inspect inspect, RefereeProgram program,
      std::unique_ptr<capture::CapturePool> pool = nullptr);
  LocalJudge(const LocalJudgeConfig& config, LocalJudgeParts parts);
  ~LocalJudge() override;

  // Returns the number of referees of the judge's default backend: GPU referees if it has a GPU.
  // They have the numbers from 0.
  int referees() const { return referees_; }

  Status submit(api::JudgeJob job) override;
  Result<std::optional<api::Judged>> next(Deadline deadline) override;
  void cancel(std::uint64_t id) override;
  // Returns one entry for each referee. Any thread may call it.
  std::vector<api::DeviceUse> devices() const override;
  // Returns the versions that are part of the verdict store's keys. They are empty until the first
  // job has been judged. Any thread may call it.
  JudgeVersions versions() const;

 private:
  std::size_t queue_;
  bool has_gpu_;
  int referees_;
  std::unique_ptr<api::Outbox> outbox_;
  std::unique_ptr<Coordinator> coordinator_;
};

}  // namespace tritonsmith::gym::judge
