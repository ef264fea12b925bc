#include "gym/judge/verdict_delivery.h"

namespace tritonsmith::gym::judge {

bool VerdictDelivery::answer_from_store(const JobProgress& progress) {
  if (!store_) return false;
  auto stored = store_->find(progress.key);
  if (!stored) {
    outbox_.break_down(stored.error());
    return false;
  }
  if (!*stored) return false;
  Verdict verdict = std::move(**stored);
  verdict.task_id = progress.job.task.id;
  outbox_.deliver({progress.job.id, std::move(verdict)});
  return true;
}

void VerdictDelivery::give(JobProgress progress, Verdict verdict) {
  verdict.stage_ms.emplace_back("total", milliseconds_since(progress.submitted));
  if (store_ && progress.job.use_store && verdict.fault != Fault::infrastructure) {
    if (const auto stored = store_->put(progress.key, verdict, progress.gpu); !stored) {
      outbox_.break_down(stored.error());
      return;
    }
  }
  for (const std::uint64_t follower : progress.followers) {
    Verdict copy = verdict;
    copy.from_store = true;
    outbox_.deliver({.id = follower, .verdict = std::move(copy), .gpu = progress.gpu});
  }
  if (!progress.cancelled)
    outbox_.deliver({.id = progress.job.id, .verdict = std::move(verdict), .gpu = progress.gpu});
}

}  // namespace tritonsmith::gym::judge
