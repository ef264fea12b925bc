#include "gym/service/job_store.h"

#include <algorithm>
#include <chrono>
#include <random>

namespace tritonsmith::gym::service {
namespace {

// `run`: the run of the program that concluded it; `final`: its verdict is no infrastructure fault.
// wanted.event: the number under which the client gets the verdict, NULL until there is one.
constexpr const char* kSchema = R"(
CREATE TABLE IF NOT EXISTS jobs (
  sequence INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE, state TEXT NOT NULL,
  priority INTEGER NOT NULL, deadline_ms INTEGER NOT NULL, submitted_ms INTEGER NOT NULL,
  finished_ms INTEGER NOT NULL DEFAULT 0, run INTEGER NOT NULL DEFAULT 0,
  final INTEGER NOT NULL DEFAULT 0, submission TEXT NOT NULL, verdict TEXT NOT NULL DEFAULT '');
CREATE INDEX IF NOT EXISTS jobs_by_state ON jobs (state, finished_ms);
CREATE TABLE IF NOT EXISTS wanted (
  client TEXT NOT NULL, job TEXT NOT NULL, event INTEGER, PRIMARY KEY (client, job)) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS wanted_by_event ON wanted (client, event);
CREATE INDEX IF NOT EXISTS wanted_by_job ON wanted (job);
CREATE TABLE IF NOT EXISTS aliases (alias TEXT PRIMARY KEY, job TEXT NOT NULL) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS aliases_by_job ON aliases (job);
CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value) WITHOUT ROWID;
INSERT OR IGNORE INTO facts VALUES ('run', 0), ('last_event', 0);
)";

std::string random_epoch() {
  std::random_device device;
  return fmt::format("{:08x}{:08x}", device(), device());
}

}  // namespace

std::int64_t JobStore::unix_milliseconds() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
}

Result<std::unique_ptr<JobStore>> JobStore::open(const std::filesystem::path& file,
                                                 const JobStoreLimits& limits, Recall recall,
                                                 UnixMilliseconds now) {
  TRY_ASSIGN(auto database, Sqlite::open(file, "list of jobs", kSchema, SqliteDurability::full));
  std::unique_ptr<JobStore> job_store(
      new JobStore(std::move(database), limits, std::move(recall), std::move(now)));
  TRY(job_store->load());
  return job_store;
}

Status JobStore::load() {
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
  TRY_ASSIGN(auto rows, database_->query("SELECT name, priority, sequence, deadline_ms FROM jobs "
                                         "WHERE state = 'queued'"));
  while (true) {
    TRY_ASSIGN(const bool more, rows.next());
    if (!more) return ok();
    enter(rows.text(0), {.priority = static_cast<api::Priority>(rows.integer(1)),
                         .sequence = rows.integer(2),
                         .deadline_ms = rows.integer(3)});
  }
}

void JobStore::enter(const std::string& name, const Unfinished& entry) {
  unfinished_[name] = entry;
  if (!entry.running) queue_.insert({entry.priority, entry.sequence, name});
  if (entry.deadline_ms != 0) deadlines_.insert({entry.deadline_ms, name});
}

void JobStore::leave(const std::string& name) {
  const auto at = unfinished_.find(name);
  if (at == unfinished_.end()) return;
  queue_.erase({at->second.priority, at->second.sequence, name});
  deadlines_.erase({at->second.deadline_ms, name});
  unfinished_.erase(at);
}

void JobStore::changed() {
  ++changes_;
  changed_.notify_all();
}

Result<std::variant<std::vector<JobView>, JobStoreFull, ClientGone>> JobStore::submit(
    std::span<const api::Submission> submissions) {
  std::vector<Offer> offers;
  for (const api::Submission& submission : submissions)
    offers.push_back({.submission = submission,
                      .name = api::job_name(submission),
                      .recalled = recall_ ? recall_(submission.job) : std::nullopt});
  const std::lock_guard lock(mutex_);
  for (const api::Submission& submission : submissions)
    if (gone_.contains(submission.client)) return ClientGone{submission.client};
  std::vector<JobView> views;
  Admission admission;
  TRY_ASSIGN(auto transaction, SqliteTransaction::begin(*database_));
  for (const Offer& offer : offers) {
    TRY_ASSIGN(JobView view, submit_one(offer, admission));
    views.push_back(std::move(view));
  }
  if (static_cast<int>(unfinished_.size()) + admission.added > limits_.unfinished &&
      admission.added > 0)
    return JobStoreFull{static_cast<int>(unfinished_.size()), limits_.unfinished};
  TRY(forget_old());
  TRY(transaction.commit());
  for (const auto& [name, entry] : admission.entries) {
    leave(name);
    enter(name, entry);
  }
  changed();
  return views;
}

// Either an equal job has its verdict or is on its way already, or its verdict was recalled, or
// this one is queued. What an earlier run of the program concluded is left to who recalls it: the
// verdict store knows the versions of everything.
Result<JobView> JobStore::submit_one(const Offer& offer, Admission& admission) {
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
  const std::int64_t now = now_();
  Unfinished entry{.priority = submission.priority};
  if (submission.deadline_seconds)
    entry.deadline_ms = now + static_cast<std::int64_t>(1e3 * *submission.deadline_seconds);
  if (known && known->view.state == JobState::queued) {
    // Nobody's verdict comes later, or fails, because somebody else was less patient or urgent.
    const auto at = admission.entries.find(name);
    const Unfinished& other = at != admission.entries.end() ? at->second : unfinished_.at(name);
    entry = {.priority = std::min(entry.priority, other.priority),
             .sequence = other.sequence,
             .deadline_ms = entry.deadline_ms == 0 || other.deadline_ms == 0
                                ? 0
                                : std::max(entry.deadline_ms, other.deadline_ms),
             .running = other.running};
    TRY(database_->run("UPDATE jobs SET priority = ?, deadline_ms = ? WHERE name = ?",
                       static_cast<std::int64_t>(entry.priority), entry.deadline_ms, name));
    if (entry.running) known->view.state = JobState::running;
    admission.entries[name] = entry;
    return std::move(known->view);
  }
  TRY(database_->run("DELETE FROM jobs WHERE name = ?", name));
  TRY(
      database_->run("INSERT INTO jobs (name, state, priority, deadline_ms, submitted_ms, "
                     "submission) VALUES (?, 'queued', ?, ?, ?, ?)",
                     name, static_cast<std::int64_t>(entry.priority), entry.deadline_ms, now,
                     to_line(api::to_json(submission))));
  TRY_ASSIGN(auto row, database_->query("SELECT last_insert_rowid()"));
  TRY(row.next());
  entry.sequence = row.integer(0);
  admission.entries[name] = entry;
  ++admission.added;
  return JobView{.name = name, .state = JobState::queued, .submitted_ms = now};
}

Result<JobView> JobStore::enter_recalled(const Offer& offer) {
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
Status JobStore::recall_queued() {
  constexpr std::size_t at_once = 100;
  if (!recall_) return ok();
  std::vector<std::string> names;
  {
    const std::lock_guard lock(mutex_);
    for (const QueuePosition& device : queue_) names.push_back(std::get<2>(device));
  }
  std::vector<Concluded> recalled;
  for (std::size_t k = 0; k < names.size(); ++k) {
    TRY_ASSIGN(const std::optional<api::Submission> submission, queued_submission(names[k]));
    if (submission)
      if (auto verdict = recall_(submission->job))
        recalled.push_back({names[k], *std::move(verdict)});
    if (recalled.size() < at_once && k + 1 < names.size()) continue;
    if (!recalled.empty()) TRY(conclude(std::exchange(recalled, {})));
  }
  return ok();
}

Result<std::optional<api::Submission>> JobStore::queued_submission(const std::string& name) {
  const std::lock_guard lock(mutex_);
  const auto at = unfinished_.find(name);
  if (at == unfinished_.end() || at->second.running) return std::optional<api::Submission>();
  TRY_ASSIGN(api::Submission submission, submission_of(name));
  return std::optional<api::Submission>(std::move(submission));
}

Status JobStore::want(const std::string& client, const std::string& name, bool is_done) {
  if (!is_done)
    return database_->run("INSERT OR REPLACE INTO wanted VALUES (?, ?, NULL)", client, name);
  TRY(database_->run("INSERT OR REPLACE INTO wanted VALUES (?, ?, ?)", client, name,
                     ++last_event_));
  return database_->run("UPDATE facts SET value = ? WHERE name = 'last_event'", last_event_);
}

Result<std::optional<JobStore::Row>> JobStore::read(const std::string& name) {
  TRY_ASSIGN(auto row, database_->query("SELECT state, verdict, submitted_ms, finished_ms, run, "
                                        "final FROM jobs WHERE name = ?",
                                        name));
  TRY_ASSIGN(const bool found, row.next());
  if (!found) return std::optional<Row>();
  TRY_ASSIGN(const JobState state, enum_from_name<JobState>(row.text(0)));
  return std::optional<Row>(Row{.view = {.name = name,
                                         .state = state,
                                         .verdict = row.text(1),
                                         .submitted_ms = row.integer(2),
                                         .finished_ms = row.integer(3)},
                                .run = row.integer(4),
                                .is_final = row.integer(5) != 0});
}

Result<std::optional<JobView>> JobStore::find(const std::string& name) {
  const std::lock_guard lock(mutex_);
  TRY_ASSIGN(auto row, read(name));
  if (!row) return std::optional<JobView>();
  const auto at = unfinished_.find(name);
  if (at != unfinished_.end() && at->second.running) row->view.state = JobState::running;
  return std::optional<JobView>(std::move(row->view));
}

Result<bool> JobStore::cancel(const std::string& name, const std::string& client) {
  const std::lock_guard lock(mutex_);
  const auto at = unfinished_.find(name);
  if (at == unfinished_.end()) return false;
  TRY_ASSIGN(auto transaction, SqliteTransaction::begin(*database_));
  TRY(database_->run("DELETE FROM wanted WHERE job = ? AND client = ?", name, client));
  bool is_wanted = false;
  {
    TRY_ASSIGN(auto others, database_->query("SELECT 1 FROM wanted WHERE job = ? LIMIT 1", name));
    TRY_ASSIGN(is_wanted, others.next());
  }
  if (!is_wanted)
    TRY(database_->run("UPDATE jobs SET state = 'cancelled', finished_ms = ? WHERE name = ?",
                       now_(), name));
  TRY(transaction.commit());
  if (is_wanted) return false;
  if (at->second.running) cancelled_running_.push_back(name);
  leave(name);
  changed();
  return true;
}

Status JobStore::cancel_all(const std::string& client) {
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

Status JobStore::dismiss(const std::string& client) {
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

Result<std::optional<api::Submission>> JobStore::take() {
  const std::lock_guard lock(mutex_);
  if (queue_.empty()) return std::optional<api::Submission>();
  const std::string name = std::get<2>(*queue_.begin());
  TRY_ASSIGN(api::Submission submission, submission_of(name));
  queue_.erase(queue_.begin());
  unfinished_.at(name).running = true;
  changed();
  return std::optional<api::Submission>(std::move(submission));
}

Result<api::Submission> JobStore::submission_of(const std::string& name) {
  TRY_ASSIGN(auto row, database_->query("SELECT submission FROM jobs WHERE name = ?", name));
  TRY_ASSIGN(const bool found, row.next());
  CHECK(found, "the unfinished job {} is not in the list", name);
  TRY_ASSIGN(const Json json, parse_json(row.text(0)));
  // What was accepted under wider limits than today's is judged all the same.
  constexpr api::SubmissionLimits any{.source_bytes = std::size_t{1} << 30};
  return api::submission_from_json(json, any);
}

Status JobStore::conclude(std::span<const Concluded> concluded) {
  const std::lock_guard lock(mutex_);
  const std::int64_t before = last_event_;
  Status written = [&]() -> Status {
    TRY_ASSIGN(auto transaction, SqliteTransaction::begin(*database_));
    for (const Concluded& one : concluded)
      if (unfinished_.contains(one.name)) TRY(conclude_one(one));
    TRY(database_->run("UPDATE facts SET value = ? WHERE name = 'last_event'", last_event_));
    TRY(forget_old());
    return transaction.commit();
  }();
  if (!written) {
    last_event_ = before;
    return written;
  }
  for (const Concluded& one : concluded) leave(one.name);
  changed();
  return ok();
}

Status JobStore::conclude_one(const Concluded& concluded) {
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
  return ok();
}

// Seldom, as it looks at many rows.
Status JobStore::forget_old() {
  constexpr std::int64_t often = 1000;
  if (concluded_since_cleaning_ < often) return ok();
  concluded_since_cleaning_ = 0;
  TRY(database_->run(
      "DELETE FROM jobs WHERE state != 'queued' AND sequence NOT IN (SELECT sequence "
      "FROM jobs WHERE state != 'queued' ORDER BY finished_ms DESC LIMIT ?)",
      std::int64_t{limits_.finished}));
  TRY(database_->run("DELETE FROM wanted WHERE job NOT IN (SELECT name FROM jobs)"));
  return database_->run("DELETE FROM aliases WHERE job NOT IN (SELECT name FROM jobs)");
}

void JobStore::give_back(const std::string& name) {
  const std::lock_guard lock(mutex_);
  const auto at = unfinished_.find(name);
  if (at == unfinished_.end() || !at->second.running) return;
  at->second.running = false;
  queue_.insert({at->second.priority, at->second.sequence, name});
  changed();
}

Result<std::vector<api::Submission>> JobStore::overdue() {
  const std::lock_guard lock(mutex_);
  std::vector<api::Submission> late;
  if (deadlines_.empty()) return late;
  const std::int64_t now = now_();
  for (const auto& [deadline_ms, name] : deadlines_) {
    if (deadline_ms > now) break;
    TRY_ASSIGN(api::Submission submission, submission_of(name));
    late.push_back(std::move(submission));
  }
  return late;
}

std::vector<std::string> JobStore::take_cancelled() {
  const std::lock_guard lock(mutex_);
  return std::exchange(cancelled_running_, {});
}

Result<std::vector<VerdictEvent>> JobStore::events(const std::string& client, std::int64_t after,
                                                   int limit) {
  const std::lock_guard lock(mutex_);
  TRY_ASSIGN(
      auto rows,
      database_->query("SELECT event, job, verdict FROM wanted JOIN jobs ON name = job "
                       "WHERE client = ? AND event > ? AND state = 'done' ORDER BY event LIMIT ?",
                       client, after, std::int64_t{limit}));
  std::vector<VerdictEvent> events;
  while (true) {
    TRY_ASSIGN(const bool more, rows.next());
    if (!more) return events;
    events.push_back({.number = rows.integer(0), .job = rows.text(1), .verdict = rows.text(2)});
  }
}

Result<std::int64_t> JobStore::awaited_by(const std::string& client) {
  const std::lock_guard lock(mutex_);
  TRY_ASSIGN(
      auto row,
      database_->query("SELECT COUNT(*) FROM wanted WHERE client = ? AND event IS NULL", client));
  TRY(row.next());
  return row.integer(0);
}

Status JobStore::remember_alias(const std::string& alias, const std::string& name) {
  const std::lock_guard lock(mutex_);
  return database_->run("INSERT OR REPLACE INTO aliases VALUES (?, ?)", alias, name);
}

Result<std::string> JobStore::find_alias(const std::string& alias) {
  const std::lock_guard lock(mutex_);
  TRY_ASSIGN(auto row, database_->query("SELECT job FROM aliases WHERE alias = ?", alias));
  TRY_ASSIGN(const bool found, row.next());
  return found ? row.text(0) : std::string();
}

void JobStore::wait_for_change(std::uint64_t seen, Deadline deadline) const {
  std::unique_lock lock(mutex_);
  changed_.wait_until(lock, deadline.at(), [&] { return changes_ != seen; });
}

std::uint64_t JobStore::changes() const {
  const std::lock_guard lock(mutex_);
  return changes_;
}

void JobStore::notify() {
  const std::lock_guard lock(mutex_);
  changed();
}

JobStore::Counts JobStore::counts() const {
  const std::lock_guard lock(mutex_);
  Counts counts{.limit = limits_.unfinished};
  for (const auto& [priority, name] : enum_names<api::Priority>) counts.queued[priority] = 0;
  for (const auto& [name, entry] : unfinished_)
    ++(entry.running ? counts.running : counts.queued[entry.priority]);
  return counts;
}

}  // namespace tritonsmith::gym::service
