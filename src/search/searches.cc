#include "search/searches.h"

namespace tritonsmith::search {
namespace {

// How long one wait takes at most, so that a stop or a budget in seconds is seen soon.
constexpr Milliseconds kLook{100};
// The same while both sides work: a verdict may bring the writer something to do.
constexpr Milliseconds kBetweenLooks{20};
constexpr std::uint64_t kAsks = std::uint64_t{1} << 24;  // of one search, at most

std::uint64_t job_of(std::uint64_t slot, std::uint64_t number) { return slot * kAsks + number; }

}  // namespace

Searches::~Searches() {
  for (const auto& [slot, entry] : running_) cancel(slot, entry);
}

void Searches::cancel(Slot slot, const RunningSearch& entry) {
  for (const int number : entry.writing)
    parts_.writer.cancel(job_of(slot, static_cast<std::uint64_t>(number)));
  for (const int number : entry.judging)
    parts_.judge.cancel(job_of(slot, static_cast<std::uint64_t>(number)));
}

std::size_t Searches::count(std::set<int> RunningSearch::*what) const {
  std::size_t all = 0;
  for (const auto& [slot, entry] : running_) all += (entry.*what).size();
  return all;
}

Result<std::optional<Searches::Finished>> Searches::next() {
  for (;;) {
    for (auto& [slot, entry] : running_)
      if (const auto number = entry.search->next_finished())
        return std::optional(Finished{entry.search, entry.search->history().attempt(*number)});
    if (parts_.is_stopped && parts_.is_stopped()) return std::optional<Finished>();
    TRY(feed_all());
    if (parts_.observe_awaited)
      parts_.observe_awaited(count(&RunningSearch::writing), count(&RunningSearch::judging));
    if (running_.empty()) return std::optional<Finished>();
    TRY(wait());
  }
}

// Gives every search's requests and jobs away, and drops the searches that are over.
Status Searches::feed_all() {
  for (auto at = running_.begin(); at != running_.end();) {
    TRY(feed(at->first, at->second));
    TRY_ASSIGN(const bool is_over, at->second.search->is_over());
    if (!is_over || at->second.search->unseen() > 0) {
      ++at;
      continue;
    }
    cancel(at->first, at->second);
    at = running_.erase(at);
  }
  return ok();
}

Status Searches::feed(Slot slot, RunningSearch& entry) {
  Search& search = *entry.search;
  TRY_ASSIGN(const bool is_over, search.is_over());
  if (is_over) return ok();
  for (bool has_more = true; has_more;) {
    TRY_ASSIGN(auto request, search.next_request(parts_.writer));
    has_more = request.has_value();
    if (request) {
      const auto number = static_cast<int>(request->id);
      request->id = job_of(slot, request->id);
      entry.writing.insert(number);
      TRY_WITHIN(search.request().task.id, parts_.writer.submit(*std::move(request)));
    }
    TRY_ASSIGN(auto job, search.next_job());
    has_more = has_more || job;
    if (job) {
      const auto number = static_cast<int>(job->id);
      job->id = job_of(slot, job->id);
      if (count(&RunningSearch::judging) == 0) last_verdict_ = system_clock().now();
      entry.judging.insert(number);
      TRY(parts_.judge.submit(*std::move(job)));
    }
  }
  return ok();
}

// Waits for one completion or verdict, a short time at most.
Status Searches::wait() {
  const bool is_writing = count(&RunningSearch::writing) > 0,
             is_judging = count(&RunningSearch::judging) > 0;
  if (is_writing) {
    TRY_ASSIGN(const bool took, take_written(Deadline::after(is_judging ? kBetweenLooks : kLook)));
    if (took && !is_judging) return ok();
  }
  if (!is_judging) return ok();
  Deadline deadline = Deadline::after(is_writing ? Milliseconds(0) : kLook);
  for (bool took = true; took && count(&RunningSearch::judging) > 0;) {
    TRY_ASSIGN(took, take_verdict(deadline));
    deadline = Deadline::after(Milliseconds(0));
  }
  if (milliseconds_since(last_verdict_) < 1e3 * static_cast<double>(parts_.patience.count()))
    return ok();
  return fail_by_fault(
      "the gym gave no verdict for {} s while {} are missing; `tritonsmith doctor` may say why",
      parts_.patience.count(), count(&RunningSearch::judging));
}

Result<bool> Searches::take_written(Deadline deadline) {
  TRY_ASSIGN(auto written, parts_.writer.next_by(deadline));
  if (!written) {
    if (deadline.passed()) return false;
    return fail_by_fault("the writer lost {} completions", count(&RunningSearch::writing));
  }
  const auto at = running_.find(written->id / kAsks);
  const auto number = static_cast<int>(written->id % kAsks);
  if (at == running_.end() || at->second.writing.erase(number) == 0) return true;  // cancelled
  if (parts_.observe) parts_.observe(episode::TurnPhase::writing);
  written->id = static_cast<std::uint64_t>(number);
  TRY(at->second.search->take(*written));
  return true;
}

Result<bool> Searches::take_verdict(Deadline deadline) {
  TRY_ASSIGN(auto judged, parts_.judge.next(deadline));
  if (!judged) return false;
  last_verdict_ = system_clock().now();
  const auto at = running_.find(judged->id / kAsks);
  const auto number = static_cast<int>(judged->id % kAsks);
  if (at == running_.end() || at->second.judging.erase(number) == 0) return true;  // cancelled
  TRY(parts_.faults.take(judged->verdict));
  if (parts_.observe) parts_.observe(episode::TurnPhase::judging);
  TRY(at->second.search->take(number, std::move(judged->verdict)));
  return true;
}

}  // namespace tritonsmith::search
