#include "gym/service/job_admission.h"

#include <algorithm>
#include <utility>

namespace tritonsmith::gym::service {

// A job that an earlier run of the program concluded is judged again unless its verdict is recalled:
// the verdict store knows the versions of everything.
Result<JobView> JobAdmission::add(const Offer& offer) {
  const api::Submission& submission = offer.submission;
  const std::string& name = offer.name;
  TRY_ASSIGN(auto known, table_.read(name));
  const bool is_done = known && known->is_settled;
  const bool is_queued = known && known->view.state == JobState::queued;
  const bool is_recalled = offer.recalled && !is_queued && !is_done;
  TRY(table_.want(submission.client, name, is_done || is_recalled));
  if (is_done) return std::move(known->view);
  if (is_recalled) return table_.enter_done(name, submission, *offer.recalled, now_ms_);
  UnfinishedJob entry{.priority = submission.priority,
                      .device = api::device_class(submission.job),
                      .submitter = submitter_.name};
  if (submission.deadline_seconds)
    entry.deadline_ms = now_ms_ + static_cast<std::int64_t>(1e3 * *submission.deadline_seconds);
  if (is_queued) return join(std::move(known->view), std::move(entry));
  TRY_ASSIGN(JobView view, table_.enter_queued(name, submission, entry, now_ms_));
  entries_[name] = std::move(entry);
  ++added_;
  return view;
}

// A second client may make a job more urgent or more patient, and never less.
Result<JobView> JobAdmission::join(JobView known, UnfinishedJob wish) {
  const auto at = entries_.find(known.name);
  UnfinishedJob entry = at != entries_.end() ? at->second : *unfinished_.find(known.name);
  const bool has_time = wish.deadline_ms == 0 || entry.deadline_ms == 0;
  entry.priority = std::min(wish.priority, entry.priority);
  entry.deadline_ms = has_time ? 0 : std::max(wish.deadline_ms, entry.deadline_ms);
  TRY(table_.update(known.name, entry));
  if (entry.is_running()) known.state = JobState::running;
  entries_[known.name] = std::move(entry);
  return known;
}

}  // namespace tritonsmith::gym::service
