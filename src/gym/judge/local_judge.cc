#include "gym/judge/local_judge.h"

#include <fmt/ranges.h>

#include "base/log.h"
#include "gym/api/judge_files.h"
#include "gym/api/outbox.h"
#include "gym/compile/targets.h"
#include "gym/cuda/driver.h"
#include "gym/judge/ceilings_file.h"
#include "gym/judge/coordinator.h"
#include "gym/judge/referee_with_python.h"
#include "gym/judge/secret.h"

namespace tritonsmith::gym::judge {
namespace {

std::unique_ptr<RefereeClient> with_shell(const RefereeProgram& program,
                                          const PythonReferenceOptions& options,
                                          const std::vector<std::string>& baselines) {
  return std::make_unique<RefereeWithPython>(
      [&](PythonReference& reference) {
        return std::make_unique<RefereeProcess>(program, &reference);
      },
      options, baselines);
}

}  // namespace

Fields<LocalJudgeConfig> LocalJudgeConfig::fields() {
  using C = LocalJudgeConfig;
  Fields<C> all = {
      field("referees", &C::referees, "How many processes run plans on the CPU.", between(1, 256)),
      field("gpus", &C::gpus, "How many GPUs run plans. -1: all GPUs of this machine.",
            between(-1, 64)),
      field("only_gpus", &C::only_gpus,
            "The numbers of the GPUs that run plans. Empty: the first `gpus` of them."),
      field("lease", &C::lease,
            "Time kernels alone on a GPU: training on the same GPU pauses meanwhile."),
      field("baselines", &C::baselines,
            "Other ways to time a task on a GPU: eager, torch_compile."),
      field("spare_referees", &C::spare_referees,
            "How many spare processes each referee has. -1: one on a GPU, and one on a CPU with "
            "eight "
            "cores or more.",
            between(-1, 8)),
      field("in_flight", &C::in_flight, "How many jobs are judged at a time.", between(1, 4096)),
      field("queue", &C::queue, "How many jobs may be unfinished.", between(1, 1 << 20)),
      field("referee_seconds", &C::referee_seconds,
            "The time limit of all trials of one job together.", at_least(0.01)),
      field("referee_memory_mib", &C::referee_memory_mib,
            "The memory for the tensors of one job on the CPU, in MiB.", between(1, 1 << 20)),
      field("referee_grace_seconds", &C::referee_grace_seconds,
            "The judge kills a referee that is silent for this much longer than its limit.",
            between(0, 3600)),
      field("adequacy_secrets", &C::adequacy_secrets,
            "Under how many secrets the judge measures which faults of a task its trials refuse. "
            "Verdicts then hold the result. 0: no measurement.",
            between(0, 100)),
      field("calibration_seconds", &C::calibration_seconds,
            "How often the speed of each GPU is compared with its first one while it judges. 0: "
            "never.",
            between(0, 86400)),
      field("task_plans", &C::task_plans, "How many captured tasks are kept.", between(1, 1 << 20)),
      field("task_plans_mib", &C::task_plans_mib, "The memory for captured tasks, in MiB.",
            between(1, 1 << 20)),
      field("directory", &C::directory,
            "The folder of the verdict store and the secret. Empty: nothing is kept."),
      field("target", &C::target,
            fmt::format("The chip that kernels are compiled for: {}. Empty: the chip of this "
                        "machine's GPUs, else {}.",
                        fmt::join(compile::kTargets, ", "), compile::kDefaultTarget),
            [](const std::string& name) { return compile::check_target(name); }),
  };
  append_section(all, "capture", &C::capture);
  return all;
}

namespace {

LocalJudgeConfig with_target(LocalJudgeConfig config, std::span<const ReplayGpu> gpus) {
  config.target = target_of(config, gpus);
  return config;
}

capture::CaptureConfig with_cache(capture::CaptureConfig capture, const std::string& directory) {
  if (!directory.empty() && capture.compile_cache_directory.empty())
    capture.compile_cache_directory = std::filesystem::path(directory) / api::kKernelsDirectory;
  return capture;
}

int spares_on_cpu(const LocalJudgeConfig& config) {
  constexpr int many_cores = 8;
  if (config.spare_referees >= 0) return config.spare_referees;
  return usable_cores() >= many_cores ? 1 : 0;
}

}  // namespace

Result<std::unique_ptr<LocalJudge>> LocalJudge::start(const LocalJudgeConfig& config,
                                                      Inspect inspect, RefereeProgram program,
                                                      std::unique_ptr<capture::CapturePool> pool) {
  TRY(api::check_baselines(config.baselines));
  TRY(compile::check_target(config.target));
  LocalJudgeParts parts;
  parts.inspect = std::move(inspect);
  if (config.directory.empty()) {
    TRY_ASSIGN(parts.secret, fresh_secret());
  } else {
    const std::filesystem::path directory = config.directory;
    TRY_ASSIGN(parts.secret, load_or_make_secret(directory / api::kSecretFile));
    TRY_ASSIGN(parts.store, VerdictStore::open(directory / api::kVerdictsFile));
  }
  program.grace_seconds = config.referee_grace_seconds;
  if (config.gpus != 0) {
    TRY_ASSIGN(parts.gpus, choose_gpus(config, cuda::list_gpus()));
  }
  if (!parts.gpus.empty()) {
    const std::string& gpu = parts.gpus.front().name;
    parts.ceilings = known_ceilings(ceilings_folder(), gpu);
    if (!parts.ceilings)
      LOG("verdicts name no speed of light, because the {} was never measured; `tritonsmith "
          "doctor` "
          "measures it",
          gpu);
  }
  program.early = parts.gpus.empty();  // with GPUs, few jobs or none are evaluated
  program.spares = parts.gpus.empty() ? spares_on_cpu(config) : 0;
  parts.make_referee = [program, config]() -> std::unique_ptr<RefereeClient> {
    return with_shell(program, python_reference_options(config.capture, "cpu"), {});
  };
  // The referees are made now, so that they start while the pool does.
  const auto on_gpus = std::make_shared<std::vector<std::unique_ptr<RefereeClient>>>();
  for (const ReplayGpu& gpu : parts.gpus) {
    RefereeProgram on_gpu = program;
    on_gpu.gpu = gpu.ordinal;
    on_gpu.spares = config.spare_referees >= 0 ? config.spare_referees : 1;
    on_gpu.lease = gpu.lease;
    on_gpus->push_back(with_shell(
        on_gpu, python_reference_options(config.capture, fmt::format("cuda:{}", gpu.ordinal)),
        config.baselines));
  }
  parts.make_replay_referee = [on_gpus](int index) {
    return std::move(on_gpus->at(static_cast<std::size_t>(index)));
  };
  parts.pool = std::move(pool);
  if (!parts.pool) {
    TRY_ASSIGN(parts.pool,
               capture::CapturePool::start(with_cache(config.capture, config.directory)));
  }
  return std::make_unique<LocalJudge>(config, std::move(parts));
}

LocalJudge::LocalJudge(const LocalJudgeConfig& config, LocalJudgeParts parts)
    : queue_(static_cast<std::size_t>(config.queue)),
      has_gpu_(!parts.gpus.empty()),
      referees_(has_gpu_ ? static_cast<int>(parts.gpus.size()) : config.referees),
      outbox_(std::make_unique<api::Outbox>()),
      coordinator_(std::make_unique<Coordinator>(with_target(config, parts.gpus), std::move(parts),
                                                 *outbox_)) {}

LocalJudge::~LocalJudge() = default;

Status LocalJudge::submit(api::JudgeJob job) {
  if (job.backend == Backend::automatic)
    job.backend = has_gpu_ ? Backend::replay : Backend::evaluate;
  if (job.backend == Backend::replay && !has_gpu_)
    return fail("backend replay needs a GPU, and this judge has none; ask for evaluate or auto");
  TRY(api::check_job(job));
  TRY(outbox_->enter(queue_));
  coordinator_->submit(std::move(job));
  return ok();
}

Result<std::optional<api::Judged>> LocalJudge::next(Deadline deadline) {
  return outbox_->take(deadline);
}

void LocalJudge::cancel(std::uint64_t id) { coordinator_->cancel(id); }

std::vector<api::DeviceUse> LocalJudge::devices() const { return coordinator_->devices(); }

JudgeVersions LocalJudge::versions() const { return coordinator_->versions(); }

}  // namespace tritonsmith::gym::judge
