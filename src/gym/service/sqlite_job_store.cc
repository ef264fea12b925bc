#include "gym/service/sqlite_job_store.h"

#include <utility>

#include "gym/service/job_admission.h"
#include "gym/service/sqlite_job_schema.h"

namespace tritonsmith::gym::service {

Result<std::unique_ptr<SqliteJobStore>> SqliteJobStore::open(const std::filesystem::path& file,
                                                             const JobStoreLimits& limits,
                                                             RecallVerdict recall,
                                                             UnixMilliseconds now) {
  TRY_ASSIGN(auto database,
             Sqlite::open(file, "list of jobs", std::string(kJobSchema) + SqliteGpuRecords::kSchema,
                          SqliteDurability::full));
  std::unique_ptr<SqliteJobStore> job_store(
      new SqliteJobStore(std::move(database), limits, std::move(recall), std::move(now)));
  TRY(job_store->gpus_.load());
  TRY_ASSIGN(auto queued, job_store->table_.load());
  for (auto& [name, entry] : queued) job_store->unfinished_.enter(name, std::move(entry));
  return job_store;
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
  JobAdmission admission(table_, unfinished_, submitter, now_());
  TRY_ASSIGN(auto transaction, SqliteTransaction::begin(*database_));
  for (const Offer& offer : offers) {
    TRY_ASSIGN(JobView view, admission.add(offer));
    views.push_back(std::move(view));
  }
  if (auto full = unfinished_.lack_of_room(limits_.unfinished, submitter, admission.added()))
    return Submitted(*std::move(full));
  TRY(table_.forget_old(limits_.finished));
  TRY(transaction.commit());
  for (const auto& [name, entry] : admission.entries()) unfinished_.enter(name, entry);
  changed();
  return Submitted(std::move(views));
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
  const auto queued_submission =
      [&](const std::string& name) -> Result<std::optional<api::Submission>> {
    const std::lock_guard lock(mutex_);
    const UnfinishedJob* job = unfinished_.find(name);
    if (job == nullptr || job->is_running()) return std::optional<api::Submission>();
    TRY_ASSIGN(api::Submission submission, table_.submission_of(name));
    return std::optional<api::Submission>(std::move(submission));
  };
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

Result<std::optional<JobView>> SqliteJobStore::find(const std::string& name) {
  const std::lock_guard lock(mutex_);
  TRY_ASSIGN(auto row, table_.read(name));
  if (!row) return std::optional<JobView>();
  const UnfinishedJob* job = unfinished_.find(name);
  if (job != nullptr && job->is_running()) row->view.state = JobState::running;
  return std::optional<JobView>(std::move(row->view));
}

Result<bool> SqliteJobStore::cancel(const std::string& name, const std::string& client) {
  const std::lock_guard lock(mutex_);
  if (unfinished_.find(name) == nullptr) return false;
  TRY_ASSIGN(auto transaction, SqliteTransaction::begin(*database_));
  TRY_ASSIGN(const bool is_wanted, table_.unwant(client, name));
  if (!is_wanted) TRY(table_.cancel(name, now_()));
  TRY(transaction.commit());
  if (is_wanted) return false;
  unfinished_.withdraw(name);
  unfinished_.leave(name);
  changed();
  return true;
}

Status SqliteJobStore::cancel_all(const std::string& client) {
  std::vector<std::string> names;
  {
    const std::lock_guard lock(mutex_);
    TRY_ASSIGN(names, table_.wanted_by(client));
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
    TRY_ASSIGN(api::Submission submission, table_.submission_of(*name));
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

Status SqliteJobStore::conclude(const std::string& worker,
                                std::span<const ConcludedJob> concluded) {
  const std::lock_guard lock(mutex_);
  {
    TRY_ASSIGN(auto transaction, SqliteTransaction::begin(*database_));
    for (const ConcludedJob& one : concluded)
      if (unfinished_.find(one.name) != nullptr && !gpus_.holds(one.gpu))
        TRY(table_.conclude(one, now_()));
    TRY(table_.forget_old(limits_.finished));
    TRY(transaction.commit());
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

void SqliteJobStore::give_back(const std::string& worker, const std::string& name) {
  const std::lock_guard lock(mutex_);
  if (unfinished_.give_back(worker, name)) changed();
}

Result<std::vector<api::Submission>> SqliteJobStore::overdue() {
  const std::lock_guard lock(mutex_);
  std::vector<api::Submission> late;
  for (const std::string& name : unfinished_.overdue(now_())) {
    TRY_ASSIGN(api::Submission submission, table_.submission_of(name));
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
  return table_.events(client, after, limit);
}

Result<std::int64_t> SqliteJobStore::awaited_by(const std::string& client) {
  const std::lock_guard lock(mutex_);
  return table_.awaited_by(client);
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

Result<JobCounts> SqliteJobStore::counts() const {
  const std::lock_guard lock(mutex_);
  JobCounts counts{.limit = limits_.unfinished,
                   .quarantined_gpus = gpus_.size(),
                   .judged_again = gpus_.judged_again()};
  unfinished_.count(counts);
  return counts;
}

}  // namespace tritonsmith::gym::service
