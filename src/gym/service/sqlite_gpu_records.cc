#include "gym/service/sqlite_gpu_records.h"

namespace tritonsmith::gym::service {

// judged_on: the GPU that concluded a job, until it is vindicated. doubts: the jobs that were queued
// again because of their GPU.
const char* const SqliteGpuRecords::kSchema = R"(
CREATE TABLE IF NOT EXISTS judged_on (
  job TEXT PRIMARY KEY, gpu TEXT NOT NULL, at_ms INTEGER NOT NULL) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS judged_on_by_gpu ON judged_on (gpu, at_ms);
CREATE TABLE IF NOT EXISTS doubts (job TEXT PRIMARY KEY, reason TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS quarantine (
  gpu TEXT PRIMARY KEY, device TEXT NOT NULL, host TEXT NOT NULL, reason TEXT NOT NULL,
  since_ms INTEGER NOT NULL, doubted_jobs INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS calibrations (
  gpu TEXT PRIMARY KEY, version INTEGER NOT NULL, calibration TEXT NOT NULL) WITHOUT ROWID;
INSERT OR IGNORE INTO facts VALUES ('judged_again', 0);
)";

Status SqliteGpuRecords::load() {
  TRY_ASSIGN(auto rows, store_.database.query("SELECT gpu FROM quarantine"));
  while (true) {
    TRY_ASSIGN(const bool more, rows.next());
    if (!more) break;
    held_.insert(rows.text(0));
  }
  TRY_ASSIGN(auto fact,
             store_.database.query("SELECT value FROM facts WHERE name = 'judged_again'"));
  TRY_ASSIGN(const bool found, fact.next());
  if (found) judged_again_ = fact.integer(0);
  return ok();
}

Result<Calibration> SqliteGpuRecords::first_calibration(const std::string& gpu,
                                                        const Calibration& now) {
  const std::lock_guard lock(store_.mutex);
  TRY_ASSIGN(auto row, store_.database.query(
                           "SELECT calibration FROM calibrations WHERE gpu = ? AND version = ?",
                           gpu, std::int64_t{now.version}));
  TRY_ASSIGN(const bool found, row.next());
  if (found) {
    TRY_ASSIGN(const Json json, parse_json(row.text(0)));
    return calibration_from_json(json);
  }
  TRY(store_.database.run("INSERT OR REPLACE INTO calibrations VALUES (?, ?, ?)", gpu,
                          std::int64_t{now.version}, to_line(to_json(now))));
  return now;
}

Status SqliteGpuRecords::vindicate(const std::string& gpu, Milliseconds age) {
  const std::lock_guard lock(store_.mutex);
  return store_.database.run("DELETE FROM judged_on WHERE gpu = ? AND at_ms <= ?", gpu,
                             store_.now() - age.count());
}

Result<int> SqliteGpuRecords::quarantine(const QuarantinedGpu& gpu) {
  const std::lock_guard lock(store_.mutex);
  TRY_ASSIGN(auto transaction, SqliteTransaction::begin(store_.database));
  std::vector<std::string> jobs;
  {
    TRY_ASSIGN(auto rows, store_.database.query(
                              "SELECT job FROM judged_on WHERE gpu = ? ORDER BY at_ms", gpu.gpu));
    while (true) {
      TRY_ASSIGN(const bool more, rows.next());
      if (!more) break;
      jobs.push_back(rows.text(0));
    }
  }
  std::vector<std::pair<std::string, UnfinishedJob>> doubted;
  for (const std::string& job : jobs) {
    TRY_ASSIGN(auto entry, store_.queue_again(job));
    if (!entry) continue;
    entry->device = gpu.device;
    doubted.emplace_back(job, *std::move(entry));
    TRY(store_.database.run("INSERT OR REPLACE INTO doubts VALUES (?, ?)", job,
                            fmt::format("{}: {}", gpu.gpu, gpu.reason)));
  }
  TRY(store_.database.run("DELETE FROM judged_on WHERE gpu = ?", gpu.gpu));
  TRY(store_.database.run("INSERT OR IGNORE INTO quarantine VALUES (?, ?, ?, ?, ?, 0)", gpu.gpu,
                          gpu.device, gpu.host, gpu.reason, store_.now()));
  TRY(store_.database.run("UPDATE quarantine SET doubted_jobs = doubted_jobs + ? WHERE gpu = ?",
                          std::ssize(doubted), gpu.gpu));
  TRY(transaction.commit());
  for (auto& [job, entry] : doubted) store_.enter(job, std::move(entry));
  held_.insert(gpu.gpu);
  store_.changed();
  return static_cast<int>(doubted.size());
}

Result<bool> SqliteGpuRecords::clear(const std::string& gpu, FirstCalibration first) {
  const std::lock_guard lock(store_.mutex);
  TRY(store_.database.run("DELETE FROM quarantine WHERE gpu = ?", gpu));
  if (first == FirstCalibration::anew)
    TRY(store_.database.run("DELETE FROM calibrations WHERE gpu = ?", gpu));
  const bool was_held = held_.erase(gpu) > 0;
  store_.changed();
  return was_held;
}

Result<std::vector<QuarantinedGpu>> SqliteGpuRecords::quarantined() const {
  const std::lock_guard lock(store_.mutex);
  TRY_ASSIGN(auto rows,
             store_.database.query("SELECT gpu, device, host, reason, since_ms, doubted_jobs "
                                   "FROM quarantine ORDER BY gpu"));
  std::vector<QuarantinedGpu> gpus;
  while (true) {
    TRY_ASSIGN(const bool more, rows.next());
    if (!more) return gpus;
    gpus.push_back({.gpu = rows.text(0),
                    .device = rows.text(1),
                    .host = rows.text(2),
                    .reason = rows.text(3),
                    .since_ms = rows.integer(4),
                    .doubted_jobs = static_cast<int>(rows.integer(5))});
  }
}

Result<std::string> SqliteGpuRecords::doubt_about(const std::string& job) const {
  TRY_ASSIGN(auto row, store_.database.query("SELECT reason FROM doubts WHERE job = ?", job));
  TRY_ASSIGN(const bool found, row.next());
  return found ? row.text(0) : std::string();
}

Status SqliteGpuRecords::note_verdict(const std::string& job, const std::string& gpu) {
  TRY(store_.database.run("DELETE FROM doubts WHERE job = ?", job));
  if (store_.database.changes() > 0) {
    ++judged_again_;
    TRY(store_.database.run("UPDATE facts SET value = ? WHERE name = 'judged_again'",
                            judged_again_));
  }
  if (gpu.empty()) return store_.database.run("DELETE FROM judged_on WHERE job = ?", job);
  return store_.database.run("INSERT OR REPLACE INTO judged_on VALUES (?, ?, ?)", job, gpu,
                             store_.now());
}

Status SqliteGpuRecords::forget(const std::string& job) {
  TRY(store_.database.run("DELETE FROM judged_on WHERE job = ?", job));
  return store_.database.run("DELETE FROM doubts WHERE job = ?", job);
}

Status SqliteGpuRecords::forget_old() {
  TRY(store_.database.run("DELETE FROM judged_on WHERE job NOT IN (SELECT name FROM jobs)"));
  return store_.database.run("DELETE FROM doubts WHERE job NOT IN (SELECT name FROM jobs)");
}

}  // namespace tritonsmith::gym::service
