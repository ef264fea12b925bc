#include "gym/schedule/verdict_store.h"

#include <sqlite3.h>

#include "base/file.h"
#include "base/hash.h"

namespace tritonsmith::gym {
namespace {

struct Finalize {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using Statement = std::unique_ptr<sqlite3_stmt, Finalize>;

Statement prepare(sqlite3* database, const char* text) {
  sqlite3_stmt* statement = nullptr;
  sqlite3_prepare_v2(database, text, -1, &statement, nullptr);
  return Statement(statement);
}

void bind_text(const Statement& statement, int place, const std::string& text) {
  sqlite3_bind_text(statement.get(), place, text.data(), static_cast<int>(text.size()),
                    SQLITE_STATIC);
}

constexpr const char* kSchema =
    "PRAGMA journal_mode=WAL;"
    "PRAGMA synchronous=NORMAL;"
    "CREATE TABLE IF NOT EXISTS verdicts (key TEXT PRIMARY KEY, verdict TEXT NOT NULL) WITHOUT "
    "ROWID;";

}  // namespace

std::string verdict_key(const JudgeJob& job, Backend backend, std::string_view versions) {
  // A JSON array quotes its members, so that no two jobs run into each other.
  const Json parts = {kJudgingVersion,
                      job.task.source,
                      job.task.tolerance ? Json(*job.task.tolerance) : Json(),
                      job.kernel,
                      name_of(job.policy),
                      name_of(backend),
                      job.trials,
                      versions};
  return content_key(to_line(parts));
}

void VerdictStore::Close::operator()(sqlite3* database) const { sqlite3_close(database); }

VerdictStore::VerdictStore(std::unique_ptr<sqlite3, Close> database, std::filesystem::path file)
    : database_(std::move(database)), file_(std::move(file)) {}
VerdictStore::VerdictStore(VerdictStore&&) noexcept = default;
VerdictStore& VerdictStore::operator=(VerdictStore&&) noexcept = default;
VerdictStore::~VerdictStore() = default;

Result<VerdictStore> VerdictStore::open(const std::filesystem::path& file) {
  if (file.has_parent_path()) TRY(make_directories(file.parent_path()));
  sqlite3* opened = nullptr;
  const int code = sqlite3_open(file.c_str(), &opened);
  VerdictStore store(std::unique_ptr<sqlite3, Close>(opened), file);
  if (code != SQLITE_OK) return store.failure("cannot open");
  constexpr int wait_for_others_ms = 10'000;
  sqlite3_busy_timeout(opened, wait_for_others_ms);
  if (sqlite3_exec(opened, kSchema, nullptr, nullptr, nullptr) != SQLITE_OK)
    return store.failure("cannot use");
  return store;
}

Result<std::optional<Verdict>> VerdictStore::find(const std::string& key) {
  const Statement query = prepare(database_.get(), "SELECT verdict FROM verdicts WHERE key = ?");
  if (query == nullptr) return failure("cannot read");
  bind_text(query, 1, key);
  const int code = sqlite3_step(query.get());
  if (code == SQLITE_DONE) return std::optional<Verdict>();
  if (code != SQLITE_ROW) return failure("cannot read");
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(query.get(), 0));
  const std::string line(text, static_cast<std::size_t>(sqlite3_column_bytes(query.get(), 0)));
  TRY_ASSIGN(const Json json, parse_json(line));
  TRY_ASSIGN(Verdict verdict, verdict_from_json(json));
  verdict.from_store = true;
  return std::optional<Verdict>(std::move(verdict));
}

Status VerdictStore::put(const std::string& key, const Verdict& verdict) {
  CHECK(verdict.fault != Fault::infrastructure, "an infrastructure fault is no verdict to keep");
  const Statement insert =
      prepare(database_.get(), "INSERT OR REPLACE INTO verdicts (key, verdict) VALUES (?, ?)");
  if (insert == nullptr) return failure("cannot write");
  const std::string line = to_line(to_json(verdict));
  bind_text(insert, 1, key);
  bind_text(insert, 2, line);
  if (sqlite3_step(insert.get()) != SQLITE_DONE) return failure("cannot write");
  return ok();
}

tl::unexpected<Error> VerdictStore::failure(std::string_view doing) const {
  const int code = sqlite3_errcode(database_.get());
  const char* advice = code == SQLITE_FULL
                           ? "; free some space and start again, nothing stored is lost"
                       : code == SQLITE_NOTADB || code == SQLITE_CORRUPT
                           ? "; move the file away, verdicts will be reached anew"
                           : "";
  return fail("verdict store {}: {}: {}{}", file_.string(), doing, sqlite3_errmsg(database_.get()),
              advice);
}

}  // namespace tritonsmith::gym
