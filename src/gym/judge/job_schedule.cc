#include "gym/judge/job_schedule.h"

#include <algorithm>

#include "base/check.h"

namespace tritonsmith::gym::judge {
namespace {

bool is_wanted(const JobProgress& job) { return !job.cancelled || !job.followers.empty(); }

// Returns whether the id was that of the job or of one of its followers.
bool withdraw_from(JobProgress& job, std::uint64_t id) {
  if (job.job.id == id && !job.cancelled) {
    job.cancelled = true;
    return true;
  }
  return std::erase(job.followers, id) > 0;
}

}  // namespace

bool JobSchedule::follow_an_equal_one(const JobProgress& job) {
  const auto follow = [&](JobProgress& other) {
    if (!other.job.use_store || other.key != job.key || other.cancelled) return false;
    other.followers.push_back(job.job.id);
    return true;
  };
  for (auto& [serial, other] : running_)
    if (follow(other)) return true;
  return std::ranges::any_of(backlog_, follow) || std::ranges::any_of(alone_, follow);
}

std::optional<JobProgress> JobSchedule::next() {
  if (!alone_.empty()) {
    if (!running_.empty()) return std::nullopt;
    std::optional<JobProgress> job(std::move(alone_.front()));
    alone_.pop_front();
    job->alone = true;
    return job;
  }
  const bool somebody_is_alone =
      std::ranges::any_of(running_, [](const auto& entry) { return entry.second.alone; });
  if (somebody_is_alone || backlog_.empty() || running_.size() >= most_running_)
    return std::nullopt;
  std::optional<JobProgress> job(std::move(backlog_.front()));
  backlog_.pop_front();
  return job;
}

JobProgress& JobSchedule::run(JobProgress job) {
  const std::uint64_t serial = job.serial;
  return running_.emplace(serial, std::move(job)).first->second;
}

JobProgress* JobSchedule::find(std::uint64_t serial) {
  const auto at = running_.find(serial);
  return at == running_.end() ? nullptr : &at->second;
}

JobProgress JobSchedule::take(std::uint64_t serial) {
  const auto at = running_.find(serial);
  CHECK(at != running_.end(), "job {} does not run", serial);
  JobProgress job = std::move(at->second);
  running_.erase(at);
  return job;
}

bool JobSchedule::runs_task(const std::string& task_key) const {
  return std::ranges::any_of(running_,
                             [&](const auto& entry) { return entry.second.task_key == task_key; });
}

JobSchedule::Withdrawal JobSchedule::withdraw(std::uint64_t id) {
  for (std::deque<JobProgress>* waiting : {&backlog_, &alone_}) {
    const auto at =
        std::ranges::find_if(*waiting, [&](JobProgress& job) { return withdraw_from(job, id); });
    if (at == waiting->end()) continue;
    if (!is_wanted(*at)) waiting->erase(at);
    return {.is_known = true};
  }
  for (auto& [serial, job] : running_)
    if (withdraw_from(job, id)) return {.is_known = true, .idle = is_wanted(job) ? nullptr : &job};
  return {};
}

}  // namespace tritonsmith::gym::judge
