// KnownVerdicts: reads a verdict store beside the judge that writes it. A service uses it to answer
// known jobs before it queues them. It finds nothing until it has learned the versions in the
// judge's keys. Any thread may call it. If the store cannot be read, it finds nothing, and the
// judge reports the error.
#pragma once

#include <mutex>

#include "gym/judge/verdict_store.h"

namespace tritonsmith::gym::judge {

class KnownVerdicts {
 public:
  static Result<std::unique_ptr<KnownVerdicts>> open(const std::filesystem::path& file);

  void learn(JudgeVersions versions);
  std::optional<Verdict> find(const api::JudgeJob& job);
  // Forgets all verdicts for which this GPU ran a plan.
  Status forget(const std::string& gpu);

 private:
  explicit KnownVerdicts(VerdictStore store) : store_(std::move(store)) {}

  std::mutex mutex_;  // guards the members below
  VerdictStore store_;
  JudgeVersions versions_;
};

}  // namespace tritonsmith::gym::judge
