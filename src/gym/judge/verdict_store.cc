#include "gym/judge/verdict_store.h"

#include "base/hash.h"

namespace tritonsmith::gym::judge {

Backend resolved(Backend backend, const JudgeVersions& versions) {
  if (backend != Backend::automatic) return backend;
  return versions.replay.empty() ? Backend::evaluate : Backend::replay;
}

std::string verdict_key(const api::JudgeJob& job, Backend backend, std::string_view versions) {
  // A JSON array quotes its members, so that no two jobs run into each other.
  Json parts = {kJudgingVersion,
                job.task.source,
                job.task.tolerance ? Json(*job.task.tolerance) : Json(),
                job.kernel,
                name_of(job.policy),
                name_of(backend),
                job.trials,
                versions};
  // Verdicts of the default comparison keep the keys that they had before other
  // comparisons existed.
  if (job.comparison != Comparison::budget) parts.push_back(name_of(job.comparison));
  if (job.strides != Strides::any) parts.push_back({{"strides", name_of(job.strides)}});
  if (!job.baselines.empty()) parts.push_back({{"baselines", job.baselines}});
  if (!job.ptx.empty()) parts.push_back({{"ptx", job.ptx}});
  return content_key(to_line(parts));
}

Result<VerdictStore> VerdictStore::open(const std::filesystem::path& file) {
  TRY_ASSIGN(
      auto database,
      Sqlite::open(file, "verdict store",
                   "CREATE TABLE IF NOT EXISTS verdicts (key TEXT PRIMARY KEY, verdict TEXT "
                   "NOT NULL) WITHOUT ROWID;"
                   "CREATE TABLE IF NOT EXISTS judged_on (key TEXT PRIMARY KEY, gpu TEXT NOT "
                   "NULL) WITHOUT ROWID;",
                   SqliteDurability::normal));
  return VerdictStore(std::move(database));
}

Result<std::optional<Verdict>> VerdictStore::find(const std::string& key) {
  TRY_ASSIGN(auto rows, database_->query("SELECT verdict FROM verdicts WHERE key = ?", key));
  TRY_ASSIGN(const bool found, rows.next());
  if (!found) return std::optional<Verdict>();
  TRY_ASSIGN(const Json json, parse_json(rows.text(0)));
  TRY_ASSIGN(Verdict verdict, verdict_from_json(json));
  verdict.from_store = true;
  return std::optional<Verdict>(std::move(verdict));
}

Status VerdictStore::put(const std::string& key, const Verdict& verdict, const std::string& gpu) {
  CHECK(verdict.fault != Fault::infrastructure, "an infrastructure fault is no verdict to keep");
  // The GPU is noted first: no verdict of it is ever without the note.
  if (gpu.empty())
    TRY(database_->run("DELETE FROM judged_on WHERE key = ?", key));
  else
    TRY(database_->run("INSERT OR REPLACE INTO judged_on (key, gpu) VALUES (?, ?)", key, gpu));
  return database_->run("INSERT OR REPLACE INTO verdicts (key, verdict) VALUES (?, ?)", key,
                        to_line(to_json(verdict)));
}

Status VerdictStore::forget(const std::string& gpu) {
  TRY(database_->run("DELETE FROM verdicts WHERE key IN (SELECT key FROM judged_on WHERE gpu = ?)",
                     gpu));
  return database_->run("DELETE FROM judged_on WHERE gpu = ?", gpu);
}

}  // namespace tritonsmith::gym::judge
