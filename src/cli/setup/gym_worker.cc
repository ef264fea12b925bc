#include "cli/setup/gym_worker.h"

#include <sys/utsname.h>

#include "base/clock.h"
#include "base/log.h"
#include "cli/setup/judges.h"
#include "gym/cuda/driver.h"
#include "gym/judge/replay_gpus.h"
#include "gym/judge/start_check.h"
#include "gym/judge/verdict_store.h"
#include "gym/service/redis/sealed_text.h"

namespace tritonsmith::cli {
namespace {

// The classes of JudgeJob::device. A judge that fails to start says why; here it has no GPU.
std::vector<std::string> device_classes(const gym::judge::LocalJudgeConfig& config) {
  const auto here = gym::cuda::list_gpus();
  const auto gpus = gym::judge::choose_gpus(config, here);
  if (!gpus || gpus->empty()) return {"cpu"};
  return {"cpu", "gpu", gpus->front().target, gpus->front().name};
}

std::string judging_version() { return fmt::format("{}", gym::judge::kJudgingVersion); }

}  // namespace

std::string name_of_host() {
  utsname system{};
  return ::uname(&system) == 0 ? system.nodename : "";
}

gym::service::MakeJudge tested_judges(const gym::judge::LocalJudgeConfig& config,
                                      gym::judge::KnownVerdicts& known, MakePool make_pool) {
  return [config, &known, make_pool = std::move(make_pool)](
             const std::stop_token& stopping) -> Result<std::unique_ptr<gym::api::Judge>> {
    const Stopwatch watch;
    TRY_ASSIGN(auto local, start_untested_judge(config, make_pool ? make_pool() : nullptr));
    TRY(gym::judge::self_test(*local, {.referees = local->referees()}, stopping));
    LOG("gym: the self-test passed, {:.1f} s after the start", watch.seconds());
    // The store is not used beside data that tasks read (coordinator.cc).
    if (config.capture.data.empty()) known.learn(local->versions());
    return std::unique_ptr<gym::api::Judge>(std::move(local));
  };
}

gym::service::WorkerSettings worker_settings(const gym::judge::LocalJudgeConfig& config) {
  return {.at_once = 2 * config.in_flight,
          .host = name_of_host(),
          .version = judging_version(),
          .devices = device_classes(config)};
}

Result<std::unique_ptr<gym::service::RedisJobStore>> open_shared_store(
    const SharedStore& shared, const gym::service::JobStoreLimits& limits,
    gym::service::RecallVerdict recall) {
  TRY_ASSIGN(auto address, gym::service::parse_redis_address(shared.url));
  std::string key;
  if (!shared.verdict_key_file.empty()) {
    TRY_ASSIGN(key, gym::service::read_store_key(shared.verdict_key_file));
  }
  return gym::service::RedisJobStore::open({.address = std::move(address),
                                            .limits = limits,
                                            .version = judging_version(),
                                            .waits_for = shared.waits_for,
                                            .recall = std::move(recall),
                                            .verdict_key = std::move(key)});
}

}  // namespace tritonsmith::cli
