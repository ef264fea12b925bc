// The worker's half of a service: a tested judge of this machine, for a JobDispatcher.
#pragma once

#include <string>

#include "gym/judge/known_verdicts.h"
#include "gym/judge/local_judge.h"
#include "gym/service/job_dispatcher.h"
#include "gym/service/redis/redis_job_store.h"

namespace tritonsmith::cli {

// Makes judges that have passed their self-test. `known` learns the versions of each; it must
// outlive what is returned.
gym::service::MakeJudge tested_judges(const gym::judge::LocalJudgeConfig& config,
                                      gym::judge::KnownVerdicts& known);

// The facts that this machine's worker shows to the others. It takes twice as many jobs as it judges at a
// time, so that the judge never has to wait.
gym::service::WorkerSettings worker_settings(const gym::judge::LocalJudgeConfig& config);

// Opens the store at redis://HOST:PORT or unix:FILE. Only verdicts of this program's judging
// version answer its jobs.
Result<std::unique_ptr<gym::service::RedisJobStore>> open_shared_store(
    const std::string& url, const gym::service::JobStoreLimits& limits,
    gym::service::RecallVerdict recall = {});

}  // namespace tritonsmith::cli
