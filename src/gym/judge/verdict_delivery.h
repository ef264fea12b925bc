// VerdictDelivery: the way of a finished verdict to all who wait for it. It first stores the verdict,
// so that a resumed run finds the verdicts on which it acted. Only the coordinator's thread uses it.
#pragma once

#include <optional>

#include "gym/api/outbox.h"
#include "gym/judge/job_progress.h"
#include "gym/judge/verdict_store.h"

namespace tritonsmith::gym::judge {

class VerdictDelivery {
 public:
  VerdictDelivery(std::optional<VerdictStore> store, api::Outbox& outbox)
      : store_(std::move(store)), outbox_(outbox) {}

  // Delivers the stored verdict on an equal job. Returns false if there is none.
  bool answer_from_store(const JobProgress& progress);
  // Stores the verdict, and delivers it to the job's caller and to its followers.
  void give(JobProgress progress, Verdict verdict);

 private:
  std::optional<VerdictStore> store_;
  api::Outbox& outbox_;
};

}  // namespace tritonsmith::gym::judge
