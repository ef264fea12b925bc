#include "cli/setup/gym_worker.h"

#include <sys/utsname.h>

#include <algorithm>
#include <memory>

#include "base/clock.h"
#include "base/log.h"
#include "cli/setup/judges.h"
#include "gym/cuda/xid_watch.h"
#include "gym/judge/replay_gpus.h"
#include "gym/judge/start_check.h"
#include "gym/judge/verdict_store.h"
#include "gym/service/redis/sealed_text.h"

namespace tritonsmith::cli {
namespace {

// A judge that fails to start says why; here it has no GPU.
std::vector<gym::judge::ReplayGpu> chosen_gpus(const gym::judge::LocalJudgeConfig& config,
                                               std::span<const gym::cuda::GpuFacts> here) {
  if (config.gpus == 0) return {};
  return gym::judge::choose_gpus(config, here).value_or(std::vector<gym::judge::ReplayGpu>());
}

// The classes of JudgeJob::device. The last one is the GPUs' own.
std::vector<std::string> device_classes(std::span<const gym::judge::ReplayGpu> gpus) {
  if (gpus.empty()) return {"cpu"};
  return {"cpu", "gpu", gpus.front().target, gpus.front().name};
}

// Listens to the driver from now on. Without its library, a GPU's errors are known only by what they
// do to jobs.
std::function<std::vector<gym::service::GpuFault>()> listen_to_driver(
    std::span<const gym::judge::ReplayGpu> gpus, std::span<const gym::cuda::GpuFacts> here) {
  std::vector<gym::cuda::WatchedGpu> watched;
  for (const gym::judge::ReplayGpu& gpu : gpus)
    watched.push_back({gpu.uuid, here[static_cast<std::size_t>(gpu.ordinal)].bus_id});
  if (watched.empty()) return {};
  auto watch = [&]() -> Result<std::shared_ptr<gym::cuda::XidWatch>> {
    TRY_ASSIGN(const gym::cuda::Nvml nvml, gym::cuda::load_nvml());
    TRY_ASSIGN(auto started, gym::cuda::XidWatch::start(nvml, watched));
    return std::shared_ptr<gym::cuda::XidWatch>(std::move(started));
  }();
  if (!watch) {
    LOG("gym: {}; errors that the driver reports of a GPU put none into quarantine",
        watch.error().message);
    return {};
  }
  return [watch = *std::move(watch)] {
    std::vector<gym::service::GpuFault> faults;
    for (const gym::cuda::GpuFault& fault : watch->take())
      faults.push_back({fault.uuid, fault.reason});
    return faults;
  };
}

std::string judging_version() { return fmt::format("{}", gym::judge::kJudgingVersion); }

}  // namespace

std::string name_of_host() {
  utsname system{};
  return ::uname(&system) == 0 ? system.nodename : "";
}

gym::judge::LocalJudgeConfig judge_of_service() {
  gym::judge::LocalJudgeConfig config;
  config.calibration_seconds = 600;
  return config;
}

gym::service::MakeJudge tested_judges(const gym::judge::LocalJudgeConfig& config,
                                      gym::judge::KnownVerdicts& known,
                                      const gym::service::GpuRecords& gpus, MakePool make_pool) {
  const bool had_gpus = !chosen_gpus(config, gym::cuda::list_gpus()).empty();
  return [config, had_gpus, &known, &gpus, make_pool = std::move(make_pool)](
             const std::stop_token& stopping) -> Result<std::unique_ptr<gym::api::Judge>> {
    const Stopwatch watch;
    TRY_ASSIGN(const auto quarantined, gpus.quarantined());
    std::vector<std::string> held;
    for (const gym::service::QuarantinedGpu& gpu : quarantined) held.push_back(gpu.gpu);
    for (const std::string& gpu : held) TRY(known.forget(gpu));
    gym::judge::LocalJudgeConfig sound = config;
    if (config.gpus != 0 && !held.empty()) {
      TRY_ASSIGN(sound, gym::judge::without_gpus(config, gym::cuda::list_gpus(), held));
    }
    if (had_gpus && chosen_gpus(sound, gym::cuda::list_gpus()).empty())
      return fail_by_fault(
          "the driver reaches no GPU of this host any more; `nvidia-smi` says more");
    TRY_ASSIGN(auto local, start_untested_judge(sound, make_pool ? make_pool() : nullptr));
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
          .devices = device_classes(chosen_gpus(config, gym::cuda::list_gpus()))};
}

gym::service::WorkerSettings watching_gpus(const gym::judge::LocalJudgeConfig& config) {
  gym::service::WorkerSettings settings = worker_settings(config);
  const auto here = gym::cuda::list_gpus();
  const auto gpus = chosen_gpus(config, here);
  for (const gym::judge::ReplayGpu& gpu : gpus) settings.gpus.push_back(gpu.uuid);
  settings.take_gpu_faults = listen_to_driver(gpus, here);
  return settings;
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
