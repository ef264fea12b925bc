#include "gym/schedule/local_judge.h"

#include "gym/client/outbox.h"
#include "gym/schedule/coordinator.h"
#include "gym/schedule/secret.h"

namespace tritonsmith::gym {

Fields<LocalJudgeConfig> LocalJudgeConfig::fields() {
  using C = LocalJudgeConfig;
  Fields<C> all = {
      field("referees", &C::referees, "processes that run plans", between(1, 256)),
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
  CaptureConfig capture = config.capture;
  if (!config.directory.empty() && capture.compile_cache_directory.empty())
    capture.compile_cache_directory = config.directory + "/kernels";
  TRY_ASSIGN(parts.pool, CapturePool::start(capture));
  return std::make_unique<LocalJudge>(config, std::move(parts));
}

LocalJudge::LocalJudge(const LocalJudgeConfig& config, LocalJudgeParts parts)
    : queue_(static_cast<std::size_t>(config.queue)),
      outbox_(std::make_unique<Outbox>()),
      coordinator_(std::make_unique<Coordinator>(config, std::move(parts), *outbox_)) {}

LocalJudge::~LocalJudge() = default;

Status LocalJudge::submit(JudgeJob job) {
  if (job.backend == Backend::replay)
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
