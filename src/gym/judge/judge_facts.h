// JudgeFacts: the versions and devices that are equal for all verdicts of a judge. The versions are
// known once the zygote is warm. The coordinator's thread learns them, and any thread may ask for
// versions().
#pragma once

#include <atomic>
#include <mutex>
#include <optional>
#include <span>

#include "gym/judge/job_progress.h"
#include "gym/judge/local_judge.h"

namespace tritonsmith::gym::judge {

class JudgeFacts {
 public:
  // Asks the pool for its versions, unless they are known. Waits until it answers, for two minutes
  // at most. Returns early if `is_stopping` becomes true.
  Status learn(capture::CapturePool& pool, const LocalJudgeConfig& config,
               std::span<const ReplayGpu> gpus, const std::optional<Ceilings>& ceilings,
               const std::atomic<bool>& is_stopping);

  // Returns empty versions until learn() has succeeded.
  JudgeVersions versions() const;
  const VerdictContext& context() const { return context_; }

 private:
  VerdictContext context_;
  mutable std::mutex mutex_;
  JudgeVersions versions_;
};

}  // namespace tritonsmith::gym::judge
