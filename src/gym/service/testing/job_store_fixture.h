// JobStoreFixture: a job store and short names for what tests do with it. `open_store` makes the
// implementation.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/temp_dir.h"
#include "gym/api/testing/fake_judge.h"
#include "gym/service/job_store.h"

namespace tritonsmith::gym::service {

// The settings of a store. A later store over the same folder finds the jobs of an earlier one.
struct StoreSetup {
  std::filesystem::path directory;
  JobStoreLimits limits;
  RecallVerdict recall;
  std::function<std::int64_t()> now;
};
using OpenStore = std::function<std::unique_ptr<JobStore>(const StoreSetup&)>;

inline api::Submission wish(const std::string& kernel, const std::string& client = "") {
  return {.job = {.task = {.id = "t", .source = "task"}, .kernel = kernel}, .client = client};
}

class JobStoreFixture : public ::testing::Test {
 protected:
  explicit JobStoreFixture(OpenStore open_store) : open_store_(std::move(open_store)) {}

  JobStore& store() {
    if (!store_) store_ = open_store_({directory->path(), limits, recall, [this] { return now; }});
    return *store_;
  }
  // Reopens the store as after a crash: nobody told it before, and the leases of dead workers end.
  JobStore& reopened() {
    store_.reset();
    now += lease.span.count();
    return store();
  }
  std::vector<JobView> submit(const std::vector<api::Submission>& submissions) {
    auto result = store().submit(submissions, {});
    EXPECT_TRUE(result);
    return std::get<std::vector<JobView>>(*result);
  }
  std::string take_kernel() { return take_kernel(lease); }
  std::string take_kernel(const Lease& by) {
    const auto taken = store().take(by, 1);
    EXPECT_TRUE(taken);
    return taken->empty() ? "" : taken->at(0).job.kernel;
  }
  void conclude(const std::string& kernel, const Verdict& verdict = api::accepted_verdict()) {
    conclude_by(lease.worker, kernel, verdict);
  }
  void conclude_by(const std::string& worker, const std::string& kernel, const Verdict& verdict) {
    EXPECT_TRUE(store().conclude(
        worker, std::vector<ConcludedJob>{{api::job_name(wish(kernel)), verdict}}));
  }
  JobView view(const std::string& kernel) { return **store().find(api::job_name(wish(kernel))); }
  JobState state(const std::string& kernel) { return view(kernel).state; }
  std::vector<VerdictEvent> events(const std::string& client, std::int64_t after = 0) {
    return *store().events(client, after, 100);
  }

  Result<TempDir> directory = TempDir::make("job_store");
  JobStoreLimits limits;
  Lease lease{.worker = "worker-1", .span = std::chrono::seconds(10)};
  std::map<std::string, Verdict> known;  // verdicts that are known elsewhere, by kernel
  RecallVerdict recall = [this](const api::JudgeJob& job) -> std::optional<Verdict> {
    const auto found = known.find(job.kernel);
    return found != known.end() ? std::optional(found->second) : std::nullopt;
  };
  std::int64_t now = 1'000'000;

 private:
  OpenStore open_store_;
  std::unique_ptr<JobStore> store_;
};

}  // namespace tritonsmith::gym::service
