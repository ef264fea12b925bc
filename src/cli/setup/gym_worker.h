// Builds the worker's half of a service: a tested judge of this machine, for a JobDispatcher.
#pragma once

#include <string>

#include "gym/judge/known_verdicts.h"
#include "gym/judge/local_judge.h"
#include "gym/service/job_dispatcher.h"
#include "gym/service/redis/redis_job_store.h"

namespace tritonsmith::cli {

using MakePool = std::function<std::unique_ptr<gym::capture::CapturePool>()>;

// The settings of a judge that works for a service: its GPUs are calibrated.
gym::judge::LocalJudgeConfig judge_of_service();

// Makes judges that have passed their self-test. They leave out the GPUs that `gpus` has in
// quarantine, and forget the verdicts of these. `known` learns the versions of each. Both must
// outlive what is returned. `make_pool` makes the capture pool of each judge. If it is null, each
// judge has a pool on this machine.
gym::service::MakeJudge tested_judges(const gym::judge::LocalJudgeConfig& config,
                                      gym::judge::KnownVerdicts& known,
                                      const gym::service::GpuRecords& gpus,
                                      MakePool make_pool = {});
std::string name_of_host();

// The facts that this machine's worker shows to the others. It takes twice as many jobs as it
// judges at a time, so that the judge never has to wait.
gym::service::WorkerSettings worker_settings(const gym::judge::LocalJudgeConfig& config);
// The same, for a worker whose GPUs may go into quarantine. It listens to the driver from now on.
gym::service::WorkerSettings watching_gpus(const gym::judge::LocalJudgeConfig& config);

struct SharedStore {
  std::string url;               // redis://HOST:PORT, rediss://HOST:PORT or unix:FILE
  std::string verdict_key_file;  // of the key that seals verdicts; empty: no seals
  gym::service::WaitsFor waits_for = gym::service::WaitsFor::both;
};

// Only verdicts of this program's judging version answer its jobs.
Result<std::unique_ptr<gym::service::RedisJobStore>> open_shared_store(
    const SharedStore& shared, const gym::service::JobStoreLimits& limits,
    gym::service::RecallVerdict recall = {});

}  // namespace tritonsmith::cli
