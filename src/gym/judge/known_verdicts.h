// KnownVerdicts: a verdict store as who takes submissions reads it, beside the judge that writes
// it: what is in it is answered before anything is queued. It knows nothing until it has learned
// what the judge's keys say of the program and the machine. Any thread. A store that cannot be read
// answers nothing: the judge then says why.
#pragma once

#include <mutex>

#include "gym/judge/verdict_store.h"

namespace tritonsmith::gym::judge {

class KnownVerdicts {
 public:
  static Result<std::unique_ptr<KnownVerdicts>> open(const std::filesystem::path& file);

  void learn(JudgeVersions versions);
  std::optional<Verdict> find(const api::JudgeJob& job);

 private:
  explicit KnownVerdicts(VerdictStore store) : store_(std::move(store)) {}

  std::mutex mutex_;  // guards all below
  VerdictStore store_;
  JudgeVersions versions_;
};

}  // namespace tritonsmith::gym::judge
