#include "serve/assistant/shared_judge.h"

#include <gtest/gtest.h>

#include <atomic>

#include "gym/api/testing/fake_judge.h"

namespace tritonsmith::serve::assistant {
namespace {

// Answers one job a call once the test opens it, and remembers the order in which it got the jobs.
class GatedJudge : public gym::api::Judge {
 public:
  Status submit(gym::api::JudgeJob job) override {
    const std::lock_guard lock(mutex_);
    kernels_.push_back(job.kernel);
    most_ = std::max(most_, ++in_flight_);
    waiting_.push_back(job.id);
    return ok();
  }
  Result<std::optional<gym::api::Judged>> next(Deadline) override {
    const std::lock_guard lock(mutex_);
    if (!is_open || waiting_.empty()) return std::optional<gym::api::Judged>();
    gym::api::Judged judged{.id = waiting_.front(), .verdict = gym::api::accepted_verdict()};
    waiting_.pop_front();
    --in_flight_;
    return std::optional(std::move(judged));
  }
  void cancel(std::uint64_t id) override {
    const std::lock_guard lock(mutex_);
    if (std::erase(waiting_, id) > 0) --in_flight_;
  }
  std::vector<std::string> kernels() const {
    const std::lock_guard lock(mutex_);
    return kernels_;
  }
  std::size_t most() const { return most_; }
  std::atomic<bool> is_open = false;

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> kernels_;
  std::deque<std::uint64_t> waiting_;
  std::size_t in_flight_ = 0, most_ = 0;
};

void submit(JudgeClient& client, int jobs, const std::string& kernel) {
  for (int i = 0; i < jobs; ++i)
    ASSERT_TRUE(client.submit({.id = static_cast<std::uint64_t>(i), .kernel = kernel}));
}

void take(JudgeClient& client, int jobs) {
  for (int i = 0; i < jobs; ++i) {
    const auto judged = client.next(Deadline::in_seconds(60));
    ASSERT_TRUE(judged && *judged);
  }
}

TEST(SharedJudge, AClientDoesNotWaitForAllJobsOfAnother) {
  GatedJudge judge;
  SharedJudge shared(judge, 4);
  const auto greedy = shared.connect(), polite = shared.connect();
  submit(*greedy, 100, "greedy");
  submit(*polite, 2, "polite");
  judge.is_open = true;
  take(*polite, 2);
  take(*greedy, 100);
  const std::vector<std::string> kernels = judge.kernels();
  ASSERT_EQ(kernels.size(), 102U);
  // Four jobs, one more if a verdict came between, and then each client's in turn.
  const auto position = std::ranges::find(kernels, "polite") - kernels.begin();
  EXPECT_LE(position, 6);
  EXPECT_LE(std::ranges::find(kernels.begin() + position + 1, kernels.end(), "polite"),
            kernels.begin() + position + 2);
  EXPECT_LE(judge.most(), 4U);
}

TEST(SharedJudge, AClientThatLeavesTakesItsWaitingJobsAlong) {
  GatedJudge judge;
  SharedJudge shared(judge, 4);
  auto leaving = shared.connect();
  const auto staying = shared.connect();
  submit(*leaving, 100, "leaving");
  submit(*staying, 3, "staying");
  leaving.reset();
  judge.is_open = true;
  take(*staying, 3);
  EXPECT_LE(std::ranges::count(judge.kernels(), "leaving"), 4);
}

}  // namespace
}  // namespace tritonsmith::serve::assistant
