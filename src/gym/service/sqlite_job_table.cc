#include "gym/service/sqlite_job_table.h"

#include <random>

#include "gym/service/stored_submission.h"

namespace tritonsmith::gym::service {
namespace {

std::string random_epoch() {
  std::random_device device;
  return fmt::format("{:08x}{:08x}", device(), device());
}

// Returns the first column of all rows.
Result<std::vector<std::string>> texts_of(Result<SqliteRows> rows) {
  if (!rows) return tl::unexpected(std::move(rows).error());
  std::vector<std::string> texts;
  while (true) {
    TRY_ASSIGN(const bool more, rows->next());
    if (!more) return texts;
    texts.push_back(rows->text(0));
  }
}

}  // namespace

Result<std::vector<std::pair<std::string, UnfinishedJob>>> SqliteJobTable::load() {
  TRY(database_.run("INSERT OR IGNORE INTO facts VALUES ('epoch', ?)", random_epoch()));
  TRY(database_.run("UPDATE facts SET value = value + 1 WHERE name = 'run'"));
  TRY_ASSIGN(auto facts, database_.query("SELECT name, value FROM facts"));
  while (true) {
    TRY_ASSIGN(const bool more, facts.next());
    if (!more) break;
    if (facts.text(0) == "run") run_ = facts.integer(1);
    if (facts.text(0) == "last_event") last_event_ = facts.integer(1);
    if (facts.text(0) == "epoch") epoch_ = facts.text(1);
  }
  TRY_ASSIGN(auto rows, database_.query("SELECT name, priority, sequence, deadline_ms, owner, "
                                        "submission FROM jobs LEFT JOIN owners ON job = name "
                                        "WHERE state = 'queued'"));
  std::vector<std::pair<std::string, UnfinishedJob>> queued;
  while (true) {
    TRY_ASSIGN(const bool more, rows.next());
    if (!more) return queued;
    TRY_ASSIGN(const api::Submission submission, parse_stored_submission(rows.text(5)));
    queued.emplace_back(rows.text(0),
                        UnfinishedJob{.priority = static_cast<api::Priority>(rows.integer(1)),
                                      .sequence = rows.integer(2),
                                      .deadline_ms = rows.integer(3),
                                      .device = api::device_class(submission.job),
                                      .submitter = rows.text(4)});
  }
}

Result<std::optional<SqliteJobTable::Row>> SqliteJobTable::read(const std::string& name) const {
  TRY_ASSIGN(auto row, database_.query("SELECT state, verdict, submitted_ms, finished_ms, run, "
                                       "final FROM jobs WHERE name = ?",
                                       name));
  TRY_ASSIGN(const bool found, row.next());
  if (!found) return std::optional<Row>();
  TRY_ASSIGN(const JobState state, enum_from_name<JobState>(row.text(0)));
  const bool is_queued = state == JobState::queued;
  TRY_ASSIGN(std::string doubt, is_queued ? gpus_.doubt_about(name) : Result<std::string>(""));
  return std::optional<Row>(
      Row{.view = {.name = name,
                   .state = state,
                   .verdict = is_queued ? "" : row.text(1),
                   .submitted_ms = row.integer(2),
                   .finished_ms = row.integer(3),
                   .doubt = std::move(doubt)},
          .is_settled = state == JobState::done && row.integer(5) != 0 && row.integer(4) == run_});
}

Result<api::Submission> SqliteJobTable::submission_of(const std::string& name) const {
  TRY_ASSIGN(auto row, database_.query("SELECT submission FROM jobs WHERE name = ?", name));
  TRY_ASSIGN(const bool found, row.next());
  CHECK(found, "the unfinished job {} is not in the list", name);
  return parse_stored_submission(row.text(0));
}

Result<JobView> SqliteJobTable::enter_queued(const std::string& name,
                                             const api::Submission& submission,
                                             UnfinishedJob& entry, std::int64_t now_ms) {
  TRY(database_.run("DELETE FROM jobs WHERE name = ?", name));
  TRY(gpus_.forget(name));
  TRY(
      database_.run("INSERT INTO jobs (name, state, priority, deadline_ms, submitted_ms, "
                    "submission) VALUES (?, 'queued', ?, ?, ?, ?)",
                    name, static_cast<std::int64_t>(entry.priority), entry.deadline_ms, now_ms,
                    to_line(api::to_json(submission))));
  if (!entry.submitter.empty())
    TRY(database_.run("INSERT OR REPLACE INTO owners VALUES (?, ?)", name, entry.submitter));
  TRY_ASSIGN(auto row, database_.query("SELECT last_insert_rowid()"));
  TRY(row.next());
  entry.sequence = row.integer(0);
  return JobView{.name = name, .state = JobState::queued, .submitted_ms = now_ms};
}

Result<JobView> SqliteJobTable::enter_done(const std::string& name,
                                           const api::Submission& submission,
                                           const Verdict& verdict, std::int64_t now_ms) {
  JobView view{.name = name,
               .state = JobState::done,
               .verdict = to_line(to_json(verdict)),
               .submitted_ms = now_ms,
               .finished_ms = now_ms};
  TRY(database_.run("DELETE FROM jobs WHERE name = ?", view.name));
  TRY(
      database_.run("INSERT INTO jobs (name, state, priority, deadline_ms, submitted_ms, "
                    "finished_ms, run, final, submission, verdict) "
                    "VALUES (?, 'done', ?, 0, ?, ?, ?, 1, ?, ?)",
                    view.name, static_cast<std::int64_t>(submission.priority), now_ms, now_ms, run_,
                    to_line(api::to_json(submission)), view.verdict));
  ++concluded_since_cleaning_;
  return view;
}

Status SqliteJobTable::update(const std::string& name, const UnfinishedJob& entry) {
  return database_.run("UPDATE jobs SET priority = ?, deadline_ms = ? WHERE name = ?",
                       static_cast<std::int64_t>(entry.priority), entry.deadline_ms, name);
}

Status SqliteJobTable::conclude(const ConcludedJob& concluded, std::int64_t now_ms) {
  TRY(gpus_.note_verdict(concluded.name, concluded.gpu));
  const std::int64_t is_final = concluded.verdict.fault != Fault::infrastructure ? 1 : 0;
  TRY(
      database_.run("UPDATE jobs SET state = 'done', finished_ms = ?, run = ?, final = ?, "
                    "verdict = ? WHERE name = ?",
                    now_ms, run_, is_final, to_line(to_json(concluded.verdict)), concluded.name));
  TRY_ASSIGN(const auto clients,
             texts_of(database_.query("SELECT client FROM wanted WHERE job = ? AND event IS NULL",
                                      concluded.name)));
  for (const std::string& client : clients)
    TRY(database_.run("UPDATE wanted SET event = ? WHERE client = ? AND job = ?", ++last_event_,
                      client, concluded.name));
  TRY(write_last_event());
  ++concluded_since_cleaning_;
  return database_.run("DELETE FROM owners WHERE job = ?", concluded.name);
}

Status SqliteJobTable::cancel(const std::string& name, std::int64_t now_ms) {
  TRY(database_.run("UPDATE jobs SET state = 'cancelled', finished_ms = ? WHERE name = ?", now_ms,
                    name));
  return database_.run("DELETE FROM owners WHERE job = ?", name);
}

Result<std::optional<UnfinishedJob>> SqliteJobTable::queue_again(const std::string& name) {
  TRY_ASSIGN(auto row, database_.query("SELECT priority, sequence FROM jobs WHERE name = ? AND "
                                       "state = 'done'",
                                       name));
  TRY_ASSIGN(const bool is_done, row.next());
  if (!is_done) return std::optional<UnfinishedJob>();
  TRY(database_.run("UPDATE jobs SET state = 'queued', deadline_ms = 0 WHERE name = ?", name));
  return std::optional(UnfinishedJob{.priority = static_cast<api::Priority>(row.integer(0)),
                                     .sequence = row.integer(1)});
}

Status SqliteJobTable::forget_old(int kept) {
  constexpr std::int64_t often = 1000;
  if (concluded_since_cleaning_ < often) return ok();
  concluded_since_cleaning_ = 0;
  TRY(
      database_.run("DELETE FROM jobs WHERE state != 'queued' AND sequence NOT IN (SELECT sequence "
                    "FROM jobs WHERE state != 'queued' ORDER BY finished_ms DESC LIMIT ?)",
                    std::int64_t{kept}));
  TRY(gpus_.forget_old());
  TRY(database_.run("DELETE FROM wanted WHERE job NOT IN (SELECT name FROM jobs)"));
  return database_.run("DELETE FROM aliases WHERE job NOT IN (SELECT name FROM jobs)");
}

Status SqliteJobTable::want(const std::string& client, const std::string& name, bool is_done) {
  if (!is_done)
    return database_.run("INSERT OR REPLACE INTO wanted VALUES (?, ?, NULL)", client, name);
  TRY(database_.run("INSERT OR REPLACE INTO wanted VALUES (?, ?, ?)", client, name, ++last_event_));
  return write_last_event();
}

Result<bool> SqliteJobTable::unwant(const std::string& client, const std::string& name) {
  TRY(database_.run("DELETE FROM wanted WHERE job = ? AND client = ?", name, client));
  TRY_ASSIGN(auto others, database_.query("SELECT 1 FROM wanted WHERE job = ? LIMIT 1", name));
  return others.next();
}

Result<std::vector<std::string>> SqliteJobTable::wanted_by(const std::string& client) const {
  return texts_of(
      database_.query("SELECT job FROM wanted WHERE client = ? AND event IS NULL", client));
}

Result<std::int64_t> SqliteJobTable::awaited_by(const std::string& client) const {
  TRY_ASSIGN(
      auto row,
      database_.query("SELECT COUNT(*) FROM wanted WHERE client = ? AND event IS NULL", client));
  TRY(row.next());
  return row.integer(0);
}

Result<std::vector<VerdictEvent>> SqliteJobTable::events(const std::string& client,
                                                         std::int64_t after, int limit) const {
  TRY_ASSIGN(auto rows,
             database_.query("SELECT event, job, verdict FROM wanted JOIN jobs ON name = job "
                             "WHERE client = ? AND event > ? AND verdict != '' AND state IN "
                             "('done', 'queued') ORDER BY event LIMIT ?",
                             client, after, std::int64_t{limit}));
  std::vector<VerdictEvent> events;
  while (true) {
    TRY_ASSIGN(const bool more, rows.next());
    if (!more) return events;
    events.push_back({.number = rows.integer(0), .job = rows.text(1), .verdict = rows.text(2)});
  }
}

Status SqliteJobTable::write_last_event() {
  return database_.run("UPDATE facts SET value = ? WHERE name = 'last_event'", last_event_);
}

}  // namespace tritonsmith::gym::service
