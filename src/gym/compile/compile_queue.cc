#include "gym/compile/compile_queue.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <set>

namespace tritonsmith::gym::compile {

// A request without a job is a job of its own. Numbers of the two kinds must not meet.
std::uint64_t CompileQueue::payer_of(const CompileJob& job) {
  constexpr std::uint64_t without_job = std::uint64_t{1} << 63;
  return job.request.job != 0 ? job.request.job : job.id | without_job;
}

void CompileQueue::add(std::string key, CompileJob job) {
  accounts_.try_emplace(payer_of(job), Account{.waits_since = ++picks_});
  auto at = std::ranges::find(waiting_, key, &QueuedKernel::key);
  if (at == waiting_.end()) at = waiting_.insert(at, QueuedKernel{.key = std::move(key)});
  at->jobs.push_back(std::move(job));
}

void CompileQueue::put_back(QueuedKernel kernel) {
  for (const CompileJob& job : kernel.jobs)
    accounts_.try_emplace(payer_of(job), Account{.waits_since = ++picks_});
  waiting_.push_front(std::move(kernel));
}

// A kernel that was put back has been picked.
std::optional<QueuedKernel> CompileQueue::take() {
  if (waiting_.empty()) return std::nullopt;
  auto chosen = waiting_.begin();
  if (chosen->attempts == 0) {
    std::uint64_t longest = picks_ + 1;
    for (auto at = waiting_.begin(); at != waiting_.end(); ++at) {
      for (const CompileJob& job : at->jobs) {
        const std::uint64_t since = accounts_.at(payer_of(job)).waits_since;
        if (since >= longest) continue;
        longest = since;
        chosen = at;
        chosen->payer = payer_of(job);
      }
    }
    accounts_.at(chosen->payer).waits_since = ++picks_;
  }
  QueuedKernel kernel = std::move(*chosen);
  waiting_.erase(chosen);
  close_accounts();
  return kernel;
}

void CompileQueue::charge(const QueuedKernel& kernel, double seconds) {
  const auto account = accounts_.find(kernel.payer);
  if (account != accounts_.end()) account->second.seconds += seconds;
}

std::vector<CompileJob> CompileQueue::take_unaffordable() {
  return remove([&](const CompileJob& job) {
    const auto account = accounts_.find(payer_of(job));
    return account != accounts_.end() && account->second.seconds >= budget_seconds_;
  });
}

bool CompileQueue::cancel(std::uint64_t id) {
  return !remove([&](const CompileJob& job) { return job.id == id; }).empty();
}

std::vector<CompileJob> CompileQueue::take_all() {
  return remove([](const CompileJob&) { return true; });
}

template <typename Predicate>
std::vector<CompileJob> CompileQueue::remove(Predicate is_it) {
  std::vector<CompileJob> removed;
  for (QueuedKernel& kernel : waiting_) {
    const auto gone = std::ranges::stable_partition(kernel.jobs, std::not_fn(is_it));
    std::ranges::move(gone, std::back_inserter(removed));
    kernel.jobs.erase(gone.begin(), gone.end());
  }
  std::erase_if(waiting_, [](const QueuedKernel& kernel) { return kernel.jobs.empty(); });
  close_accounts();
  return removed;
}

// A job whose last kernel was taken waits for no further pick, and nothing is left to refuse.
void CompileQueue::close_accounts() {
  std::set<std::uint64_t> open;
  for (const QueuedKernel& kernel : waiting_)
    for (const CompileJob& job : kernel.jobs) open.insert(payer_of(job));
  std::erase_if(accounts_, [&](const auto& entry) { return !open.contains(entry.first); });
}

}  // namespace tritonsmith::gym::compile
