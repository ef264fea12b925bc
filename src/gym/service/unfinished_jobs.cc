#include "gym/service/unfinished_jobs.h"

#include <algorithm>

namespace tritonsmith::gym::service {

const UnfinishedJob* UnfinishedJobs::find(const std::string& name) const {
  const auto at = jobs_.find(name);
  return at == jobs_.end() ? nullptr : &at->second;
}

int UnfinishedJobs::of_submitter(const std::string& submitter) const {
  const auto at = of_submitter_.find(submitter);
  return at == of_submitter_.end() ? 0 : at->second;
}

std::vector<std::string> UnfinishedJobs::queued() const {
  std::vector<std::string> names;
  for (const auto& [device, queue] : queues_)
    for (const QueuePosition& position : queue) names.push_back(std::get<2>(position));
  return names;
}

std::vector<std::string> UnfinishedJobs::overdue(std::int64_t now_ms) const {
  std::vector<std::string> names;
  for (const auto& [deadline_ms, name] : deadlines_) {
    if (deadline_ms > now_ms) break;
    names.push_back(name);
  }
  return names;
}

void UnfinishedJobs::count(JobCounts& counts) const {
  for (const auto& [priority, name] : enum_names<api::Priority>) counts.queued[priority] = 0;
  for (const auto& [device, queue] : queues_)
    for (const QueuePosition& position : queue) ++counts.queued[std::get<0>(position)];
  counts.running = static_cast<int>(running_.size());
}

std::optional<JobStoreFull> UnfinishedJobs::lack_of_room(int limit, const Submitter& submitter,
                                                         int added) const {
  if (added == 0) return std::nullopt;
  if (size() + added > limit) return JobStoreFull{.unfinished = size(), .limit = limit};
  if (submitter.name.empty() || submitter.unfinished == 0) return std::nullopt;
  const int own = of_submitter(submitter.name);
  if (own + added <= submitter.unfinished) return std::nullopt;
  return JobStoreFull{
      .unfinished = own, .limit = submitter.unfinished, .submitter = submitter.name};
}

void UnfinishedJobs::enter(const std::string& name, UnfinishedJob job) {
  leave(name);
  if (job.is_running())
    running_.insert(name);
  else
    enqueue(name, job);
  if (job.deadline_ms != 0) deadlines_.insert({job.deadline_ms, name});
  if (!job.submitter.empty()) ++of_submitter_[job.submitter];
  jobs_.emplace(name, std::move(job));
}

void UnfinishedJobs::leave(const std::string& name) {
  const auto at = jobs_.find(name);
  if (at == jobs_.end()) return;
  const UnfinishedJob& job = at->second;
  dequeue(name, job);
  running_.erase(name);
  deadlines_.erase({job.deadline_ms, name});
  if (!job.submitter.empty() && --of_submitter_[job.submitter] == 0)
    of_submitter_.erase(job.submitter);
  jobs_.erase(at);
}

void UnfinishedJobs::enqueue(const std::string& name, const UnfinishedJob& job) {
  queues_[job.device].insert(position(name, job));
}

void UnfinishedJobs::dequeue(const std::string& name, const UnfinishedJob& job) {
  const auto at = queues_.find(job.device);
  if (at == queues_.end()) return;
  at->second.erase(position(name, job));
  if (at->second.empty()) queues_.erase(at);
}

std::optional<std::string> UnfinishedJobs::next(const std::vector<std::string>& devices) const {
  const QueuePosition* first = nullptr;
  for (const auto& [device, queue] : queues_) {
    const bool fits =
        devices.empty() || device.empty() || std::ranges::find(devices, device) != devices.end();
    if (fits && (first == nullptr || *queue.begin() < *first)) first = &*queue.begin();
  }
  return first == nullptr ? std::nullopt : std::optional(std::get<2>(*first));
}

void UnfinishedJobs::start(const std::string& name, const Lease& lease, std::int64_t now_ms) {
  UnfinishedJob& job = jobs_.at(name);
  dequeue(name, job);
  running_.insert(name);
  job.worker = lease.worker;
  job.lease_end_ms = now_ms + lease.span.count();
  if (const auto at = withdrawn_.find(lease.worker); at != withdrawn_.end())
    std::erase(at->second, name);
}

void UnfinishedJobs::renew(const Lease& lease, std::int64_t now_ms) {
  for (const std::string& name : running_)
    if (UnfinishedJob& job = jobs_.at(name); job.worker == lease.worker)
      job.lease_end_ms = now_ms + lease.span.count();
}

void UnfinishedJobs::reclaim(std::int64_t now_ms) {
  std::vector<std::string> ended;
  for (const std::string& name : running_)
    if (jobs_.at(name).lease_end_ms <= now_ms) ended.push_back(name);
  for (const std::string& name : ended) {
    withdraw(name);
    queue_again(name, jobs_.at(name));
  }
}

bool UnfinishedJobs::give_back(const std::string& worker, const std::string& name) {
  const auto at = jobs_.find(name);
  if (at == jobs_.end() || worker.empty() || at->second.worker != worker) return false;
  queue_again(name, at->second);
  return true;
}

void UnfinishedJobs::withdraw(const std::string& name) {
  const auto at = jobs_.find(name);
  if (at != jobs_.end() && at->second.is_running()) withdrawn_[at->second.worker].push_back(name);
}

std::vector<std::string> UnfinishedJobs::take_withdrawn(const std::string& worker) {
  const auto at = withdrawn_.find(worker);
  if (at == withdrawn_.end()) return {};
  return std::move(withdrawn_.extract(at).mapped());
}

void UnfinishedJobs::queue_again(const std::string& name, UnfinishedJob& job) {
  job.worker.clear();
  running_.erase(name);
  enqueue(name, job);
}

}  // namespace tritonsmith::gym::service
