#include "gym/api/every_task_judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace tritonsmith::gym::api {

EveryTaskJudge::EveryTaskJudge(Judge& judge, std::vector<Task> tasks)
    : judge_(judge), tasks_(std::move(tasks)) {
  CHECK(!tasks_.empty(), "a judge of no task");
}

Status EveryTaskJudge::submit(JudgeJob job) {
  const std::uint64_t id = job.id;
  jobs_[id] = {.kernel = job.ptx.empty() ? job.kernel : "",
               .verdicts = std::vector<std::optional<Verdict>>(tasks_.size())};
  for (std::size_t i = 0; i < tasks_.size(); ++i) {
    job.task = tasks_[i];
    job.id = ++last_part_;
    parts_[job.id] = {.job = id, .task = i};
    TRY(judge_.submit(job));
  }
  return ok();
}

Result<std::optional<Judged>> EveryTaskJudge::next(Deadline deadline) {
  for (;;) {
    TRY_ASSIGN(auto judged, judge_.next(deadline));
    if (!judged) return std::optional<Judged>();
    const auto found = parts_.find(judged->id);
    if (found == parts_.end()) continue;  // its job is cancelled, or failed for another task
    const Part part = found->second;
    parts_.erase(found);
    if (auto verdict = verdict_of(part, std::move(judged->verdict)))
      return Judged{
          .id = part.job, .verdict = *std::move(verdict), .name = std::move(judged->name)};
  }
}

// Returns the job's verdict once this one decides it.
std::optional<Verdict> EveryTaskJudge::verdict_of(Part part, Verdict verdict) {
  Job& job = jobs_.at(part.job);
  if (!verdict.accepted) {
    if (verdict.error && tasks_.size() > 1)
      verdict.error->message = fmt::format("{}: {}", tasks_[part.task].id, verdict.error->message);
    drop_parts_of(part.job);
    jobs_.erase(part.job);
    return verdict;
  }
  job.verdicts[part.task] = std::move(verdict);
  const auto is_missing = [](const auto& each) { return !each.has_value(); };
  if (std::ranges::any_of(job.verdicts, is_missing)) return std::nullopt;
  std::vector<Verdict> all;
  for (std::optional<Verdict>& each : job.verdicts) all.push_back(*std::move(each));
  const auto least = std::ranges::min_element(all, {}, &Verdict::speedup);
  Verdict chosen = *least;
  if (!job.kernel.empty()) accepted_[job.kernel] = std::move(all);
  jobs_.erase(part.job);
  return chosen;
}

void EveryTaskJudge::drop_parts_of(std::uint64_t job) {
  for (auto at = parts_.begin(); at != parts_.end();) {
    if (at->second.job == job) {
      judge_.cancel(at->first);
      at = parts_.erase(at);
    } else {
      ++at;
    }
  }
}

void EveryTaskJudge::cancel(std::uint64_t id) {
  drop_parts_of(id);
  jobs_.erase(id);
}

std::vector<Verdict> EveryTaskJudge::accepted(const std::string& kernel) const {
  const auto found = accepted_.find(kernel);
  return found == accepted_.end() ? std::vector<Verdict>() : found->second;
}

}  // namespace tritonsmith::gym::api
