#include "gym/judge/judge_facts.h"

namespace tritonsmith::gym::judge {
namespace {

Result<capture::CapturePool::Versions> versions_of(capture::CapturePool& pool,
                                                   const std::atomic<bool>& is_stopping) {
  const auto patience = Deadline::after(std::chrono::seconds(120));
  Result<capture::CapturePool::Versions> versions = fail("the judge was shut down");
  // short waits, since a judge may be destroyed before the zygote is warm
  while (!versions && !is_stopping) {
    const auto a_moment = Deadline::after(std::chrono::milliseconds(100));
    versions = pool.versions(a_moment);
    if (!versions && (!a_moment.passed() || patience.passed())) break;
  }
  return versions;
}

}  // namespace

Status JudgeFacts::learn(capture::CapturePool& pool, const LocalJudgeConfig& config,
                         std::span<const ReplayGpu> gpus, const std::optional<Ceilings>& ceilings,
                         const std::atomic<bool>& is_stopping) {
  if (!versions_.evaluate.empty()) return ok();
  TRY_ASSIGN(const auto versions, versions_of(pool, is_stopping));
  context_.environment.torch = versions.torch;
  context_.environment.triton = versions.triton;
  context_.environment.target = config.target;
  context_.environment.gpu = config.target + " (compiled, not run)";
  context_.replay_environment = context_.environment;
  context_.ceilings = ceilings;
  if (!gpus.empty()) {
    context_.replay_environment.gpu = gpus.front().name;
    context_.replay_environment.driver = gpus.front().driver;
  }
  const std::lock_guard lock(mutex_);
  versions_.evaluate =
      fmt::format("torch {}, triton {}, {}", versions.torch, versions.triton, config.target);
  if (config.adequacy_secrets > 0)
    versions_.evaluate += fmt::format(", adequacy under {} secrets", config.adequacy_secrets);
  if (gpus.empty()) return ok();
  versions_.replay = versions_.evaluate + ", " + context_.replay_environment.gpu;
  for (const std::string& baseline : config.baselines) versions_.replay += ", " + baseline;
  if (ceilings) versions_.replay += ", speed of light";  // earlier verdicts lack it
  return ok();
}

JudgeVersions JudgeFacts::versions() const {
  const std::lock_guard lock(mutex_);
  return versions_;
}

}  // namespace tritonsmith::gym::judge
