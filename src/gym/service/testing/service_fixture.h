// ServiceFixture: a Service over a job store in a temporary folder. Its judge answers by the
// kernel's text: "bad" is wrong and all else is accepted, unless a test sets another `verdict_for`.
// While `hold` is set, the judge answers nothing.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "base/temp_dir.h"
#include "gym/api/testing/fake_judge.h"
#include "gym/service/job_dispatcher.h"
#include "gym/service/service.h"
#include "gym/service/sqlite_job_store.h"

namespace tritonsmith::gym::service {

class HeldJudge : public api::FakeJudge {
 public:
  HeldJudge(Answer answer, const std::atomic<bool>& hold)
      : api::FakeJudge(std::move(answer)), hold_(hold) {}
  Result<std::optional<api::Judged>> next(Deadline deadline) override {
    if (hold_) return std::optional<api::Judged>();
    return api::FakeJudge::next(deadline);
  }

 private:
  const std::atomic<bool>& hold_;
};

struct ServiceFixture : ::testing::Test {
  Service& service() {
    if (service_) return *service_;
    auto opened = SqliteJobStore::open(directory->path() / "jobs.sqlite", store_limits, recall,
                                       [this] { return now.load(); });
    EXPECT_TRUE(opened) << opened.error().message;
    job_store = *std::move(opened);
    const auto make_judge =
        [this](const std::stop_token& stop) -> Result<std::unique_ptr<api::Judge>> {
      while (slow_start && !stop.stop_requested())
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      if (failed_starts-- > 0) return fail("the self-test failed");
      auto judge = std::make_unique<HeldJudge>(verdict_for, hold);
      if (breakdowns-- > 0) judge->break_down({"the disk is full"});
      return std::unique_ptr<api::Judge>(std::move(judge));
    };
    dispatcher = std::make_unique<JobDispatcher>(
        *job_store, make_judge, WorkerSettings{.at_once = 4, .devices = devices}, metrics);
    service_ = std::make_unique<Service>(*job_store, dispatcher->health(), metrics, limits);
    return *service_;
  }
  HttpReply call(const std::string& method, const std::string& path, const std::string& body = "",
                 const std::map<std::string, std::string>& query = {}) {
    return service().answer({.method = method,
                             .path = path,
                             .query = query,
                             .body = body,
                             .submitter = submitter,
                             .is_operator = is_operator});
  }
  static Json json_of(const HttpReply& reply) { return Json::parse(reply.body); }
  static std::string job_json(const std::string& kernel) {
    return Json{{"task", {{"source", "task"}}}, {"kernel", kernel}}.dump();
  }
  // Imitates a service that starts anew in an empty folder.
  void forget_everything() {
    service_.reset();
    dispatcher.reset();
    job_store.reset();
    directory = TempDir::make("service");
  }
  static std::string drain(ReplyStream& stream) {
    std::string all;
    for (std::string text = "start"; !text.empty();)
      all += text = stream.next(std::chrono::seconds(10));
    return all;
  }
  static int occurrences(const std::string& text, const std::string& word) {
    int count = 0;
    for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1))
      ++count;
    return count;
  }

  api::FakeJudge::Answer verdict_for = [](const api::JudgeJob& job) {
    return job.kernel == "bad" ? api::failed_verdict(Stage::ran, ErrorClass::wrong_value)
                               : api::accepted_verdict();
  };
  Result<TempDir> directory = TempDir::make("service");
  std::atomic<bool> hold = false;
  std::atomic<bool> slow_start = false;  // while it is set, no judge starts
  std::atomic<int> failed_starts = 0;    // so many judges do not come up
  std::atomic<int> breakdowns = 0;
  std::vector<std::string> devices;  // the classes of devices that the worker has
  std::atomic<std::int64_t> now = 1'000'000;
  JobStoreLimits store_limits;
  RecallVerdict recall;
  api::SubmissionLimits limits;
  Submitter submitter;  // the submitter of the calls
  bool is_operator = false;
  ServiceMetrics metrics;
  std::unique_ptr<JobStore> job_store;
  std::unique_ptr<JobDispatcher> dispatcher;

 private:
  std::unique_ptr<Service> service_;
};

}  // namespace tritonsmith::gym::service
