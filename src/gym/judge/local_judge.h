// LocalJudge: the gym in this program. It inspects, captures, compiles and evaluates candidates,
// several at a time, and answers repeats from its verdict store. Guests, compilers and referees are
// processes of their own; what one of them does harms only its own job. Construction returns at
// once; the first verdict waits for the warm zygote.
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
  int gpus = -1;                        // that run plans; -1: all that are here
  std::vector<std::int64_t> only_gpus;  // these of them, by number; empty: the first
  bool lease = true;  // time on a GPU alone, by turns with who trains on it (base/lease.h)
  std::vector<std::string> baselines;  // on a GPU besides: eager, torch_compile
  // Started beforehand beside each referee, to take its place when it dies; -1: one on a GPU, whose
  // context takes seconds to make, and on a CPU where there are eight cores or more.
  int spare_referees = -1;
  int in_flight = std::max(12, 3 * usable_cores());  // jobs being judged at a time
  int queue = 256;                                   // unfinished jobs at most; submit waits beyond
  double referee_seconds = 20;                       // of one job's trials together
  int referee_memory_mib = 2048;
  int referee_grace_seconds = 10;  // beyond that, before a silent referee is killed
  int task_plans = 512;            // captured tasks that are kept, those used last
  int task_plans_mib = 512;        // likewise, in bytes
  std::string
      directory;  // holds verdicts.sqlite, the secret and the compile cache; empty: nothing is kept
  std::string target = "sm_90";
  static Fields<LocalJudgeConfig> fields();
};

using Inspect = std::function<std::vector<Finding>(std::string_view source, Policy policy)>;

// What a LocalJudge is made of; tests put fakes in.
struct LocalJudgeParts {
  std::unique_ptr<capture::CapturePool> pool;
  MakeReferee make_referee;  // called once for each referee thread
  std::vector<ReplayGpu> gpus;
  std::function<std::unique_ptr<RefereeClient>(int gpu)> make_replay_referee;
  Inspect inspect;
  std::optional<VerdictStore> store;
  std::string secret;
};

class LocalJudge : public api::Judge {
 public:
  // With the real parts. Referees run `program`.
  static Result<std::unique_ptr<LocalJudge>> start(const LocalJudgeConfig& config, Inspect inspect,
                                                   RefereeProgram program);
  LocalJudge(const LocalJudgeConfig& config, LocalJudgeParts parts);
  ~LocalJudge() override;

  // That run the plans of the backend which it takes by itself, numbered from 0.
  int referees() const { return referees_; }

  Status submit(api::JudgeJob job) override;
  Result<std::optional<api::Judged>> next(Deadline deadline) override;
  void cancel(std::uint64_t id) override;
  // One for each referee. Any thread.
  std::vector<api::DeviceUse> devices() const override;
  // By which the store knows its verdicts; known once there was one. Any thread.
  JudgeVersions versions() const;

 private:
  std::size_t queue_;
  bool has_gpu_;
  int referees_;
  std::unique_ptr<api::Outbox> outbox_;
  std::unique_ptr<Coordinator> coordinator_;
};

}  // namespace tritonsmith::gym::judge
