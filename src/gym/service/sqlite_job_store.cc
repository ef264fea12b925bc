#include "gym/service/sqlite_job_store.h"

#include <algorithm>
#include <random>
#include <ranges>

#include "gym/service/sqlite_job_schema.h"
#include "gym/service/stored_submission.h"

namespace tritonsmith::gym::service {
namespace {

std::string random_epoch() {
  std::random_device device;
  return fmt::format("{:08x}{:08x}", device(), device());
}

}  // namespace

Result<std::unique_ptr<SqliteJobStore>> SqliteJobStore::open(const std::filesystem::path& file,
                                                             const JobStoreLimits& limits,
                                                             RecallVerdict recall,
                                                             UnixMilliseconds now) {
  TRY_ASSIGN(auto database,
             Sqlite::open(file, "list of jobs", std::string(kJobSchema) + SqliteGpuRecords::kSchema,
                          SqliteDurability::full));
  std::unique_ptr<SqliteJobStore> job_store(
      new SqliteJobStore(std::move(database), limits, std::move(recall), std::move(now)));
  TRY(job_store->load());
  return job_store;
}

Status SqliteJobStore::load() {
  TRY(gpus_.load());
  TRY(database_->run("INSERT OR IGNORE INTO facts VALUES ('epoch', ?)", random_epoch()));
  TRY(database_->run("UPDATE facts SET value = value + 1 WHERE name = 'run'"));
  TRY_ASSIGN(auto facts, database_->query("SELECT name, value FROM facts"));
  while (true) {
    TRY_ASSIGN(const bool more, facts.next());
    if (!more) break;
    if (facts.text(0) == "run") run_ = facts.integer(1);
    if (facts.text(0) == "last_event") last_event_ = facts.integer(1);
    if (facts.text(0) == "epoch") epoch_ = facts.text(1);
  }
  TRY_ASSIGN(auto rows, database_->query("SELECT name, priority, sequence, deadline_ms, owner, "
                                         "submission FROM jobs LEFT JOIN owners ON job = name "
                                         "WHERE state = 'queued'"));
  while (true) {
    TRY_ASSIGN(const bool more, rows.next());
    if (!more) return ok();
    TRY_ASSIGN(const api::Submission submission, parse_stored_submission(rows.text(5)));
    unfinished_.enter(rows.text(0), {.priority = static_cast<api::Priority>(rows.integer(1)),
                                     .sequence = rows.integer(2),
                                     .deadline_ms = rows.integer(3),
                                     .device = api::device_class(submission.job),
                                     .submitter = rows.text(4)});
  }
}

void SqliteJobStore::changed() {
  ++changes_;
  changed_.notify_all();
}

Result<JobStore::Submitted> SqliteJobStore::submit(std::span<const api::Submission> submissions,
                                                   const Submitter& submitter) {
  std::vector<Offer> offers;
  for (const api::Submission& submission : submissions)
    offers.push_back({.submission = submission,
                      .name = api::job_name(submission),
                      .recalled = recall_ ? recall_(submission.job) : std::nullopt});
  const std::lock_guard lock(mutex_);
  for (const api::Submission& submission : submissions)
    if (gone_.contains(submission.client)) return Submitted(ClientGone{submission.client});
  std::vector<JobView> views;
  Admission admission{.submitter = submitter, .entries = {}};
  TRY_ASSIGN(auto transaction, SqliteTransaction::begin(*database_));
  for (const Offer& offer : offers) {
    TRY_ASSIGN(JobView view, submit_one(offer, admission));
    views.push_back(std::move(view));
  }
  if (auto full = unfinished_.lack_of_room(limits_.unfinished, submitter, admission.added))
    return Submitted(*std::move(full));
  TRY(forget_old());
  TRY(transaction.commit());
  for (auto& [name, entry] : admission.entries) unfinished_.enter(name, std::move(entry));
  changed();
  return Submitted(std::move(views));
}

// Either an equal job has its verdict or is on its way already, or its verdict was recalled, or
// this one is queued. What an earlier run of the program concluded is left to who recalls it: the
// verdict store knows the versions of everything.
Result<JobView> SqliteJobStore::submit_one(const Offer& offer, Admission& admission) {
  const api::Submission& submission = offer.submission;
  const std::string& name = offer.name;
  TRY_ASSIGN(auto known, read(name));
  const bool is_done =
      known && known->view.state == JobState::done && known->is_final && known->run == run_;
  const bool is_recalled =
      offer.recalled && !(known && known->view.state == JobState::queued) && !is_done;
  TRY(want(submission.client, name, is_done || is_recalled));
  if (is_done) return std::move(known->view);
  if (is_recalled) return enter_recalled(offer);
  UnfinishedJob entry{.priority = submission.priority,
                      .device = api::device_class(submission.job),
                      .submitter = admission.submitter.name};
  if (submission.deadline_seconds)
    entry.deadline_ms = now_() + static_cast<std::int64_t>(1e3 * *submission.deadline_seconds);
  if (known && known->view.state == JobState::queued) {
    // A second client may make a job more urgent or more patient, and never less.
    const auto at = admission.entries.find(name);
    const UnfinishedJob& other =
        at != admission.entries.end() ? at->second : *unfinished_.find(name);
    const bool has_time = entry.deadline_ms == 0 || other.deadline_ms == 0;
    const UnfinishedJob wish = std::exchange(entry, other);
    entry.priority = std::min(wish.priority, other.priority);
    entry.deadline_ms = has_time ? 0 : std::max(wish.deadline_ms, other.deadline_ms);
    TRY(database_->run("UPDATE jobs SET priority = ?, deadline_ms = ? WHERE name = ?",
                       static_cast<std::int64_t>(entry.priority), entry.deadline_ms, name));
    if (entry.is_running()) known->view.state = JobState::running;
    admission.entries[name] = entry;
    return std::move(known->view);
  }
  return enter_new(offer, std::move(entry), admission);
}

Result<JobView> SqliteJobStore::enter_new(const Offer& offer, UnfinishedJob entry,
                                          Admission& admission) {
  const std::string& name = offer.name;
  const std::int64_t now = now_();
  TRY(database_->run("DELETE FROM jobs WHERE name = ?", name));
  TRY(gpus_.forget(name));
  TRY(
      database_->run("INSERT INTO jobs (name, state, priority, deadline_ms, submitted_ms, "
                     "submission) VALUES (?, 'queued', ?, ?, ?, ?)",
                     name, static_cast<std::int64_t>(entry.priority), entry.deadline_ms, now,
                     to_line(api::to_json(offer.submission))));
  if (!entry.submitter.empty())
    TRY(database_->run("INSERT OR REPLACE INTO owners VALUES (?, ?)", name, entry.submitter));
  TRY_ASSIGN(auto row, database_->query("SELECT last_insert_rowid()"));
  TRY(row.next());
  entry.sequence = row.integer(0);
  admission.entries[name] = std::move(entry);
  ++admission.added;
  return JobView{.name = name, .state = JobState::queued, .submitted_ms = now};
}

Result<JobView> SqliteJobStore::enter_recalled(const Offer& offer) {
  const std::int64_t now = now_();
  JobView view{.name = offer.name,
               .state = JobState::done,
               .verdict = to_line(to_json(*offer.recalled)),
               .submitted_ms = now,
               .finished_ms = now};
  TRY(database_->run("DELETE FROM jobs WHERE name = ?", offer.name));
  TRY(
      database_->run("INSERT INTO jobs (name, state, priority, deadline_ms, submitted_ms, "
                     "finished_ms, run, final, submission, verdict) "
                     "VALUES (?, 'done', ?, 0, ?, ?, ?, 1, ?, ?)",
                     offer.name, static_cast<std::int64_t>(offer.submission.priority), now, now,
                     run_, to_line(api::to_json(offer.submission)), view.verdict));
  ++concluded_since_cleaning_;
  return view;
}

// In parts, so that others come between.
Status SqliteJobStore::recall_queued() {
  constexpr std::size_t at_once = 100;
  if (!recall_) return ok();
  std::vector<std::string> names;
  {
    const std::lock_guard lock(mutex_);
    names = unfinished_.queued();
  }
  std::vector<ConcludedJob> recalled;
  for (std::size_t k = 0; k < names.size(); ++k) {
    TRY_ASSIGN(const std::optional<api::Submission> submission, queued_submission(names[k]));
    if (submission)
      if (auto verdict = recall_(submission->job))
        recalled.push_back({names[k], *std::move(verdict)});
    if (recalled.size() < at_once && k + 1 < names.size()) continue;
    if (!recalled.empty()) TRY(conclude("", std::exchange(recalled, {})));
  }
  return ok();
}

Result<std::optional<api::Submission>> SqliteJobStore::queued_submission(const std::string& name) {
  const std::lock_guard lock(mutex_);
  const UnfinishedJob* job = unfinished_.find(name);
  if (job == nullptr || job->is_running()) return std::optional<api::Submission>();
  TRY_ASSIGN(api::Submission submission, submission_of(name));
  return std::optional<api::Submission>(std::move(submission));
}

Status SqliteJobStore::want(const std::string& client, const std::string& name, bool is_done) {
  if (!is_done)
    return database_->run("INSERT OR REPLACE INTO wanted VALUES (?, ?, NULL)", client, name);
  TRY(database_->run("INSERT OR REPLACE INTO wanted VALUES (?, ?, ?)", client, name,
                     ++last_event_));
  return database_->run("UPDATE facts SET value = ? WHERE name = 'last_event'", last_event_);
}

Result<std::optional<SqliteJobStore::Row>> SqliteJobStore::read(const std::string& name) {
  TRY_ASSIGN(auto row, database_->query("SELECT state, verdict, submitted_ms, finished_ms, run, "
                                        "final FROM jobs WHERE name = ?",
                                        name));
  TRY_ASSIGN(const bool found, row.next());
  if (!found) return std::optional<Row>();
  TRY_ASSIGN(const JobState state, enum_from_name<JobState>(row.text(0)));
  const bool is_queued = state == JobState::queued;
  TRY_ASSIGN(std::string doubt, is_queued ? gpus_.doubt_about(name) : Result<std::string>(""));
  return std::optional<Row>(Row{.view = {.name = name,
                                         .state = state,
                                         .verdict = is_queued ? "" : row.text(1),
                                         .submitted_ms = row.integer(2),
                                         .finished_ms = row.integer(3),
                                         .doubt = std::move(doubt)},
                                .run = row.integer(4),
                                .is_final = row.integer(5) != 0});
}

Result<std::optional<JobView>> SqliteJobStore::find(const std::string& name) {
  const std::lock_guard lock(mutex_);
  TRY_ASSIGN(auto row, read(name));
  if (!row) return std::optional<JobView>();
  const UnfinishedJob* job = unfinished_.find(name);
  if (job != nullptr && job->is_running()) row->view.state = JobState::running;
  return std::optional<JobView>(std::move(row->view));
}

Result<bool> SqliteJobStore::cancel(const std::string& name, const std::string& client) {
  const std::lock_guard lock(mutex_);
  if (unfinished_.find(name) == nullptr) return false;
  TRY_ASSIGN(auto transaction, SqliteTransaction::begin(*database_));
  TRY(database_->run("DELETE FROM wanted WHERE job = ? AND client = ?", name, client));
  bool is_wanted = false;
  {
    TRY_ASSIGN(auto others, database_->query("SELECT 1 FROM wanted WHERE job = ? LIMIT 1", name));
    TRY_ASSIGN(is_wanted, others.next());
  }
  if (is_wanted) {
    TRY(transaction.commit());
    return false;
  }
  TRY(database_->run("UPDATE jobs SET state = 'cancelled', finished_ms = ? WHERE name = ?", now_(),
                     name));
  TRY(database_->run("DELETE FROM owners WHERE job = ?", name));
  TRY(transaction.commit());
  unfinished_.withdraw(name);
  unfinished_.leave(name);
  changed();
  return true;
}

Status SqliteJobStore::cancel_all(const std::string& client) {
  std::vector<std::string> names;
  {
    const std::lock_guard lock(mutex_);
    TRY_ASSIGN(auto rows, database_->query(
                              "SELECT job FROM wanted WHERE client = ? AND event IS NULL", client));
    while (true) {
      TRY_ASSIGN(const bool more, rows.next());
      if (!more) break;
      names.push_back(rows.text(0));
    }
  }
  for (const std::string& name : names) TRY(cancel(name, client));
  return ok();
}

Status SqliteJobStore::dismiss(const std::string& client) {
  constexpr std::size_t most = 10'000;  // what is on its way arrives within seconds
  {
    const std::lock_guard lock(mutex_);
    if (gone_.insert(client).second) farewells_.push_back(client);
    if (farewells_.size() > most) {
      gone_.erase(farewells_.front());
      farewells_.pop_front();
    }
  }
  return cancel_all(client);
}

Result<std::vector<api::Submission>> SqliteJobStore::take(const Lease& lease, int most) {
  CHECK(!lease.worker.empty(), "a worker has a name");
  const std::lock_guard lock(mutex_);
  const std::int64_t now = now_();
  unfinished_.renew(lease, now);  // a worker that asks is alive, whatever the clock says
  unfinished_.reclaim(now);
  std::vector<api::Submission> taken;
  while (std::ssize(taken) < most && !gpus_.holds_any(lease.gpus)) {
    const std::optional<std::string> name = unfinished_.next(lease.devices);
    if (!name) break;
    TRY_ASSIGN(api::Submission submission, submission_of(*name));
    unfinished_.start(*name, lease, now);
    taken.push_back(std::move(submission));
  }
  if (!taken.empty()) changed();
  return taken;
}

Status SqliteJobStore::renew(const Lease& lease) {
  const std::lock_guard lock(mutex_);
  unfinished_.renew(lease, now_());
  return ok();
}

Result<api::Submission> SqliteJobStore::submission_of(const std::string& name) {
  TRY_ASSIGN(auto row, database_->query("SELECT submission FROM jobs WHERE name = ?", name));
  TRY_ASSIGN(const bool found, row.next());
  CHECK(found, "the unfinished job {} is not in the list", name);
  return parse_stored_submission(row.text(0));
}

Status SqliteJobStore::conclude(const std::string& worker,
                                std::span<const ConcludedJob> concluded) {
  const std::lock_guard lock(mutex_);
  const std::int64_t before = last_event_;
  Status written = [&]() -> Status {
    TRY_ASSIGN(auto transaction, SqliteTransaction::begin(*database_));
    for (const ConcludedJob& one : concluded)
      if (unfinished_.find(one.name) != nullptr && !gpus_.holds(one.gpu)) TRY(conclude_one(one));
    TRY(database_->run("UPDATE facts SET value = ? WHERE name = 'last_event'", last_event_));
    TRY(forget_old());
    return transaction.commit();
  }();
  if (!written) {
    last_event_ = before;
    return written;
  }
  for (const ConcludedJob& one : concluded) {
    if (gpus_.holds(one.gpu)) {
      unfinished_.give_back(worker, one.name);
      continue;
    }
    const UnfinishedJob* job = unfinished_.find(one.name);
    if (job != nullptr && job->worker != worker) unfinished_.withdraw(one.name);
    unfinished_.leave(one.name);
  }
  changed();
  return ok();
}

Result<std::optional<UnfinishedJob>> SqliteJobStore::queue_again(const std::string& name) {
  TRY_ASSIGN(auto row, database_->query("SELECT priority, sequence FROM jobs WHERE name = ? AND "
                                        "state = 'done'",
                                        name));
  TRY_ASSIGN(const bool is_done, row.next());
  if (!is_done) return std::optional<UnfinishedJob>();
  TRY(database_->run("UPDATE jobs SET state = 'queued', deadline_ms = 0 WHERE name = ?", name));
  return std::optional(UnfinishedJob{.priority = static_cast<api::Priority>(row.integer(0)),
                                     .sequence = row.integer(1)});
}

Status SqliteJobStore::conclude_one(const ConcludedJob& concluded) {
  TRY(gpus_.note_verdict(concluded.name, concluded.gpu));
  const std::int64_t is_final = concluded.verdict.fault != Fault::infrastructure ? 1 : 0;
  TRY(
      database_->run("UPDATE jobs SET state = 'done', finished_ms = ?, run = ?, final = ?, "
                     "verdict = ? WHERE name = ?",
                     now_(), run_, is_final, to_line(to_json(concluded.verdict)), concluded.name));
  std::vector<std::string> clients;
  {
    TRY_ASSIGN(auto rows,
               database_->query("SELECT client FROM wanted WHERE job = ? AND event IS NULL",
                                concluded.name));
    while (true) {
      TRY_ASSIGN(const bool more, rows.next());
      if (!more) break;
      clients.push_back(rows.text(0));
    }
  }
  for (const std::string& client : clients)
    TRY(database_->run("UPDATE wanted SET event = ? WHERE client = ? AND job = ?", ++last_event_,
                       client, concluded.name));
  ++concluded_since_cleaning_;
  return database_->run("DELETE FROM owners WHERE job = ?", concluded.name);
}

// Seldom, as it looks at many rows.
Status SqliteJobStore::forget_old() {
  constexpr std::int64_t often = 1000;
  if (concluded_since_cleaning_ < often) return ok();
  concluded_since_cleaning_ = 0;
  TRY(database_->run(
      "DELETE FROM jobs WHERE state != 'queued' AND sequence NOT IN (SELECT sequence "
      "FROM jobs WHERE state != 'queued' ORDER BY finished_ms DESC LIMIT ?)",
      std::int64_t{limits_.finished}));
  TRY(gpus_.forget_old());
  TRY(database_->run("DELETE FROM wanted WHERE job NOT IN (SELECT name FROM jobs)"));
  return database_->run("DELETE FROM aliases WHERE job NOT IN (SELECT name FROM jobs)");
}

void SqliteJobStore::give_back(const std::string& worker, const std::string& name) {
  const std::lock_guard lock(mutex_);
  if (unfinished_.give_back(worker, name)) changed();
}

Result<std::vector<api::Submission>> SqliteJobStore::overdue() {
  const std::lock_guard lock(mutex_);
  std::vector<api::Submission> late;
  for (const std::string& name : unfinished_.overdue(now_())) {
    TRY_ASSIGN(api::Submission submission, submission_of(name));
    late.push_back(std::move(submission));
  }
  return late;
}

Result<std::vector<std::string>> SqliteJobStore::take_withdrawn(const std::string& worker) {
  const std::lock_guard lock(mutex_);
  return unfinished_.take_withdrawn(worker);
}

Result<std::vector<VerdictEvent>> SqliteJobStore::events(const std::string& client,
                                                         std::int64_t after, int limit) {
  const std::lock_guard lock(mutex_);
  TRY_ASSIGN(
      auto rows,
      database_->query("SELECT event, job, verdict FROM wanted JOIN jobs ON name = job "
                       "WHERE client = ? AND event > ? AND verdict != '' AND state IN ('done', "
                       "'queued') ORDER BY event LIMIT ?",
                       client, after, std::int64_t{limit}));
  std::vector<VerdictEvent> events;
  while (true) {
    TRY_ASSIGN(const bool more, rows.next());
    if (!more) return events;
    events.push_back({.number = rows.integer(0), .job = rows.text(1), .verdict = rows.text(2)});
  }
}

Result<std::int64_t> SqliteJobStore::awaited_by(const std::string& client) {
  const std::lock_guard lock(mutex_);
  TRY_ASSIGN(
      auto row,
      database_->query("SELECT COUNT(*) FROM wanted WHERE client = ? AND event IS NULL", client));
  TRY(row.next());
  return row.integer(0);
}

Status SqliteJobStore::remember_alias(const std::string& alias, const std::string& name) {
  const std::lock_guard lock(mutex_);
  return database_->run("INSERT OR REPLACE INTO aliases VALUES (?, ?)", alias, name);
}

Result<std::string> SqliteJobStore::find_alias(const std::string& alias) {
  const std::lock_guard lock(mutex_);
  TRY_ASSIGN(auto row, database_->query("SELECT job FROM aliases WHERE alias = ?", alias));
  TRY_ASSIGN(const bool found, row.next());
  return found ? row.text(0) : std::string();
}

void SqliteJobStore::wait_for_change(std::uint64_t seen, Deadline deadline) const {
  std::unique_lock lock(mutex_);
  changed_.wait_until(lock, deadline.at(), [&] { return changes_ != seen; });
}

std::uint64_t SqliteJobStore::changes() const {
  const std::lock_guard lock(mutex_);
  return changes_;
}

void SqliteJobStore::notify() {
  const std::lock_guard lock(mutex_);
  changed();
}

Status SqliteJobStore::announce(const Lease& lease, const WorkerView& worker) {
  const std::lock_guard lock(mutex_);
  WorkerView& known = workers_[lease.worker] = worker;
  known.name = lease.worker;
  known.seen_ms = now_();
  return ok();
}

Status SqliteJobStore::depart(const std::string& worker) {
  const std::lock_guard lock(mutex_);
  workers_.erase(worker);
  return ok();
}

// A program has one worker, and both end together.
Result<std::vector<WorkerView>> SqliteJobStore::workers() const {
  const std::lock_guard lock(mutex_);
  const auto views = std::views::values(workers_);
  return std::vector<WorkerView>(views.begin(), views.end());
}

Result<JobCounts> SqliteJobStore::counts() const {
  const std::lock_guard lock(mutex_);
  JobCounts counts{.limit = limits_.unfinished,
                   .quarantined_gpus = gpus_.size(),
                   .judged_again = gpus_.judged_again()};
  unfinished_.count(counts);
  return counts;
}

}  // namespace tritonsmith::gym::service
