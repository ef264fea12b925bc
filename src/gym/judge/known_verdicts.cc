#include "gym/judge/known_verdicts.h"

namespace tritonsmith::gym::judge {

Result<std::unique_ptr<KnownVerdicts>> KnownVerdicts::open(const std::filesystem::path& file) {
  TRY_ASSIGN(VerdictStore store, VerdictStore::open(file));
  return std::unique_ptr<KnownVerdicts>(new KnownVerdicts(std::move(store)));
}

void KnownVerdicts::learn(JudgeVersions versions) {
  const std::lock_guard lock(mutex_);
  versions_ = std::move(versions);
}

Status KnownVerdicts::forget(const std::string& gpu) {
  const std::lock_guard lock(mutex_);
  return store_.forget(gpu);
}

std::optional<Verdict> KnownVerdicts::find(const api::JudgeJob& job) {
  if (!job.use_store) return std::nullopt;
  const std::lock_guard lock(mutex_);
  const Backend backend = resolved(job.backend, versions_);
  const std::string& versions = versions_.of(backend);
  if (versions.empty()) return std::nullopt;
  auto found = store_.find(verdict_key(job, backend, versions));
  if (!found || !*found) return std::nullopt;
  (*found)->task_id = job.task.id;
  return std::move(*found);
}

}  // namespace tritonsmith::gym::judge
