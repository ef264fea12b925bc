#include "gym/schedule/local_judge.h"

#include "gym/client/outbox.h"
#include "gym/gpu/driver.h"
#include "gym/schedule/baseline_referee.h"
#include "gym/schedule/coordinator.h"
#include "gym/schedule/secret.h"

namespace tritonsmith::gym {

Fields<LocalJudgeConfig> LocalJudgeConfig::fields() {
  using C = LocalJudgeConfig;
  Fields<C> all = {
      field("referees", &C::referees, "processes that run plans", between(1, 256)),
      field("gpus", &C::gpus, "GPUs that run plans; -1: all that are here", between(-1, 64)),
      field("baselines", &C::baselines, "how else a task is timed on a GPU: eager, torch_compile"),
      field("in_flight", &C::in_flight, "jobs judged at a time", between(1, 4096)),
      field("queue", &C::queue, "unfinished jobs at most", between(1, 1 << 20)),
      field("referee_seconds", &C::referee_seconds, "time of one job's trials together",
            at_least(0.01)),
      field("referee_memory_mib", &C::referee_memory_mib, "live tensors of one job",
            between(1, 1 << 20)),
      field("referee_grace_seconds", &C::referee_grace_seconds, "before a silent referee is killed",
            between(0, 3600)),
      field("task_plans", &C::task_plans, "captured tasks kept", between(1, 1 << 20)),
      field("task_plans_mib", &C::task_plans_mib, "likewise, in MiB", between(1, 1 << 20)),
      field("directory", &C::directory,
            "holds the verdict store and the secret; empty: nothing is kept"),
      field("target", &C::target, "chip that kernels are compiled for"),
  };
  append_section(all, "capture", &C::capture);
  return all;
}

Result<std::unique_ptr<LocalJudge>> LocalJudge::start(const LocalJudgeConfig& config,
                                                      Inspect inspect, RefereeProgram program) {
  for (const std::string& name : config.baselines)
    if (name != "eager" && name != "torch_compile")
      return fail("baselines: `{}` is neither eager nor torch_compile", name);
  LocalJudgeParts parts;
  parts.inspect = std::move(inspect);
  if (config.directory.empty()) {
    TRY_ASSIGN(parts.secret, fresh_secret());
  } else {
    const std::filesystem::path directory = config.directory;
    TRY_ASSIGN(parts.secret, load_or_make_secret(directory / "judge.secret"));
    TRY_ASSIGN(parts.store, VerdictStore::open(directory / "verdicts.sqlite"));
  }
  program.grace_seconds = config.referee_grace_seconds;
  parts.make_referee = [program] { return std::make_unique<RefereeProcess>(program); };
  parts.make_replay_referee = [program, config](int gpu) -> std::unique_ptr<RefereeClient> {
    RefereeProgram on_gpu = program;
    on_gpu.gpu = gpu;
    auto referee = std::make_unique<RefereeProcess>(on_gpu);
    if (config.baselines.empty()) return referee;
    const ReferenceShellOptions shell{.python = config.capture.python,
                                      .device = fmt::format("cuda:{}", gpu)};
    return std::make_unique<BaselineReferee>(std::move(referee), shell, config.baselines);
  };
  LocalJudgeConfig used = config;
  if (config.gpus != 0) {
    for (const gpu::GpuFacts& facts : gpu::list_gpus()) {
      if (config.gpus > 0 && parts.gpus.size() == static_cast<std::size_t>(config.gpus)) break;
      parts.gpus.push_back({.name = facts.name, .driver = facts.driver});
      used.target = facts.target;
    }
  }
  CaptureConfig capture = config.capture;
  if (!config.directory.empty() && capture.compile_cache_directory.empty())
    capture.compile_cache_directory = config.directory + "/kernels";
  TRY_ASSIGN(parts.pool, CapturePool::start(capture));
  return std::make_unique<LocalJudge>(used, std::move(parts));
}

LocalJudge::LocalJudge(const LocalJudgeConfig& config, LocalJudgeParts parts)
    : queue_(static_cast<std::size_t>(config.queue)),
      has_gpu_(!parts.gpus.empty()),
      outbox_(std::make_unique<Outbox>()),
      coordinator_(std::make_unique<Coordinator>(config, std::move(parts), *outbox_)) {}

LocalJudge::~LocalJudge() = default;

Status LocalJudge::submit(JudgeJob job) {
  if (job.backend == Backend::automatic)
    job.backend = has_gpu_ ? Backend::replay : Backend::evaluate;
  if (job.backend == Backend::replay && !has_gpu_)
    return fail(
        "backend replay needs a GPU referee, which this judge has not; ask for evaluate or auto");
  TRY(outbox_->enter(queue_));
  coordinator_->submit(std::move(job));
  return ok();
}

Result<std::optional<Judged>> LocalJudge::next(Deadline deadline) {
  return outbox_->take(deadline);
}

void LocalJudge::cancel(std::uint64_t id) { coordinator_->cancel(id); }

}  // namespace tritonsmith::gym
