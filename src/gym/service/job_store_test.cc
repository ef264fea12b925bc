#include "gym/service/job_store.h"

#include <gtest/gtest.h>

#include "base/temp_dir.h"
#include "gym/api/testing/fake_judge.h"

namespace tritonsmith::gym::service {
namespace {

api::Submission wish(const std::string& kernel, const std::string& client = "") {
  return {.job = {.task = {.id = "t", .source = "task"}, .kernel = kernel}, .client = client};
}

struct DocketTest : ::testing::Test {
  JobStore& docket() {
    if (!job_store_) {
      auto opened =
          JobStore::open(directory->path() / "jobs.sqlite", limits, recall, [this] { return now; });
      EXPECT_TRUE(opened) << opened.error().message;
      job_store_ = *std::move(opened);
    }
    return *job_store_;
  }
  // As after a crash: nothing is said to the docket before.
  JobStore& reopened() {
    job_store_.reset();
    return docket();
  }
  std::vector<JobView> submit(const std::vector<api::Submission>& submissions) {
    auto result = docket().submit(submissions);
    EXPECT_TRUE(result);
    return std::get<std::vector<JobView>>(*result);
  }
  std::string take_kernel() {
    const auto taken = docket().take();
    EXPECT_TRUE(taken);
    return *taken ? (*taken)->job.kernel : "";
  }
  void conclude(const std::string& kernel, const Verdict& verdict = api::accepted_verdict()) {
    EXPECT_TRUE(docket().conclude(
        std::vector<JobStore::Concluded>{{api::job_name(wish(kernel)), verdict}}));
  }
  JobState state(const std::string& kernel) {
    return (*docket().find(api::job_name(wish(kernel))))->state;
  }
  std::vector<VerdictEvent> events(const std::string& client, std::int64_t after = 0) {
    return *docket().events(client, after, 100);
  }

  Result<TempDir> directory = TempDir::make("docket");
  JobStoreLimits limits;
  std::map<std::string, Verdict> store;  // by kernel
  JobStore::Recall recall = [this](const api::JudgeJob& job) -> std::optional<Verdict> {
    const auto found = store.find(job.kernel);
    return found != store.end() ? std::optional(found->second) : std::nullopt;
  };
  std::int64_t now = 1'000'000;
  std::unique_ptr<JobStore> job_store_;
};

TEST_F(DocketTest, JudgesEqualJobsOnceAndTellsEachClientOnce) {
  submit({wish("k", "ann"), wish("k", "bob")});
  submit({wish("k", "ann")});  // her reply got lost, she asks again
  EXPECT_EQ(take_kernel(), "k");
  EXPECT_EQ(take_kernel(), "");
  EXPECT_EQ(submit({wish("k", "ann")}).at(0).state, JobState::running);
  conclude("k");
  EXPECT_EQ(events("ann").size(), 1U);
  EXPECT_EQ(events("bob").size(), 1U);
  EXPECT_TRUE(events("ann", events("ann").at(0).number).empty());
}

TEST_F(DocketTest, AnswersARepeatAtOnceEvenWhenItIsFull) {
  limits.unfinished = 1;
  submit({wish("k", "ann")});
  take_kernel();
  conclude("k");
  submit({wish("other")});
  const JobView again = submit({wish("k", "ann")}).at(0);
  EXPECT_EQ(again.state, JobState::done);
  EXPECT_NE(again.verdict.find("\"accepted\":true"), std::string::npos);
  EXPECT_EQ(events("ann").size(), 1U) << "under its new number only";
}

TEST_F(DocketTest, TakesABatchWholeOrNotAtAll) {
  limits.unfinished = 2;
  submit({wish("a")});
  const auto refused = docket().submit(std::vector{wish("b"), wish("c")});
  ASSERT_TRUE(refused && std::holds_alternative<JobStoreFull>(*refused));
  EXPECT_EQ(std::get<JobStoreFull>(*refused).unfinished, 1);
  EXPECT_FALSE(docket().find(api::job_name(wish("b")))->has_value());
  submit({wish("b"), wish("a"), wish("b")});
  EXPECT_EQ(docket().counts().queued.at(api::Priority::normal), 2);
}

TEST_F(DocketTest, GivesOutTheMostUrgentFirstAndEqualOnesInOrder) {
  api::Submission urgent = wish("urgent"), idle = wish("idle");
  urgent.priority = api::Priority::high;
  idle.priority = api::Priority::low;
  submit({idle, wish("first"), wish("second"), urgent});
  EXPECT_EQ(take_kernel(), "urgent");
  EXPECT_EQ(take_kernel(), "first");
  docket().give_back(api::job_name(wish("first")));
  EXPECT_EQ(take_kernel(), "first");
  idle.priority = api::Priority::high;  // somebody else is in a hurry
  submit({idle});
  EXPECT_EQ(take_kernel(), "idle");
}

TEST_F(DocketTest, LosesNothingInARestart) {
  submit({wish("running", "ann"), wish("queued", "ann"), wish("done", "ann")});
  take_kernel();
  conclude("done");
  const std::string epoch = docket().epoch();
  const std::int64_t number = events("ann").at(0).number;
  reopened();
  EXPECT_EQ(docket().epoch(), epoch);
  EXPECT_EQ(events("ann").at(0).number, number);
  EXPECT_EQ(take_kernel(), "running");
  EXPECT_EQ(take_kernel(), "queued");
  conclude("running");
  EXPECT_EQ(events("ann", number).size(), 1U);
}

TEST_F(DocketTest, TakesNothingMoreFromAClientThatHasLeft) {
  submit({wish("k", "ann"), wish("l", "bob")});
  EXPECT_TRUE(docket().dismiss("ann"));
  EXPECT_EQ(state("k"), JobState::cancelled);
  const auto late = docket().submit(std::vector{wish("l", "bob"), wish("k", "ann")});
  ASSERT_TRUE(late && std::holds_alternative<ClientGone>(*late));
  EXPECT_EQ(std::get<ClientGone>(*late).client, "ann");
  EXPECT_EQ(state("k"), JobState::cancelled);
  EXPECT_EQ(submit({wish("k", "bob")}).at(0).state, JobState::queued);
}

TEST_F(DocketTest, LeavesWhatAnEarlierRunConcludedToTheStore) {
  submit({wish("k")});
  take_kernel();
  conclude("k");
  reopened();
  EXPECT_EQ(state("k"), JobState::done);
  EXPECT_EQ(submit({wish("k")}).at(0).state, JobState::queued);
  EXPECT_EQ(take_kernel(), "k");
}

TEST_F(DocketTest, AnswersAtOnceWhatIsInTheStoreHoweverLongTheQueue) {
  limits.unfinished = 2;
  submit({wish("k", "ann")});
  take_kernel();
  conclude("k");
  reopened();
  submit({wish("a", "ann"), wish("b", "ann")});  // no room for more
  store["k"] = api::failed_verdict(Stage::ran, "wrong_value");
  store["new"] = api::accepted_verdict();  // judged by another program over the same store
  const auto views = submit({wish("k", "bob"), wish("new", "bob"), wish("k", "bob")});
  for (const JobView& view : views) EXPECT_EQ(view.state, JobState::done);
  EXPECT_NE(views[0].verdict.find("wrong_value"), std::string::npos);
  EXPECT_EQ(views[2].verdict, views[0].verdict);
  EXPECT_EQ(state("new"), JobState::done);
  EXPECT_EQ(events("bob").size(), 2U);
  EXPECT_EQ(*docket().awaited_by("bob"), 0);
  EXPECT_EQ(docket().counts().queued.at(api::Priority::normal), 2);
  reopened();
  EXPECT_EQ(events("bob").size(), 2U);
}

TEST_F(DocketTest, RecallsWhatWasQueuedBeforeTheStoreCouldBeAsked) {
  submit({wish("running", "ann"), wish("k", "ann"), wish("other", "ann")});
  take_kernel();
  store["running"] = store["k"] = api::accepted_verdict();
  EXPECT_EQ(submit({wish("k", "bob")}).at(0).state, JobState::queued) << "until it is its turn";
  EXPECT_TRUE(docket().recall_queued());
  EXPECT_EQ(state("running"), JobState::running);
  EXPECT_EQ(state("k"), JobState::done);
  EXPECT_EQ(state("other"), JobState::queued);
  EXPECT_EQ(events("ann").size(), 1U);
  EXPECT_EQ(events("bob").size(), 1U);
}

TEST_F(DocketTest, ForgetsWhatWasRecalledToo) {
  limits.finished = 10;
  std::vector<api::Submission> wishes;
  for (int k = 0; k < 1000; ++k) {
    store[std::to_string(k)] = api::accepted_verdict();
    wishes.push_back(wish(std::to_string(k), "ann"));
  }
  submit(wishes);
  EXPECT_EQ(events("ann").size(), 10U);
}

TEST_F(DocketTest, JudgesAgainWhatEndedInAnInfrastructureFault) {
  Verdict fault = api::accepted_verdict();
  fault.fault = Fault::infrastructure;
  submit({wish("k")});
  take_kernel();
  conclude("k", fault);
  EXPECT_EQ(state("k"), JobState::done);
  EXPECT_EQ(submit({wish("k")}).at(0).state, JobState::queued);
}

TEST_F(DocketTest, CancelsAJobOnlyWhenNobodyWantsItAnyMore) {
  submit({wish("k", "ann"), wish("k", "bob")});
  take_kernel();
  const std::string name = api::job_name(wish("k"));
  EXPECT_FALSE(*docket().cancel(name, "ann"));
  EXPECT_TRUE(*docket().cancel(name, "bob"));
  EXPECT_EQ(state("k"), JobState::cancelled);
  EXPECT_EQ(docket().take_cancelled(), std::vector<std::string>{name});
  conclude("k");  // too late
  EXPECT_EQ(state("k"), JobState::cancelled);
  EXPECT_TRUE(events("ann").empty());
}

TEST_F(DocketTest, KnowsWhatIsOverdueAndLetsThePatientWait) {
  api::Submission hasty = wish("k", "ann"), other = wish("l", "ann");
  hasty.deadline_seconds = 5;
  other.deadline_seconds = 5;
  submit({hasty, other});
  submit({wish("l", "bob")});  // has all the time
  EXPECT_TRUE(docket().overdue()->empty());
  now += 5000;
  const auto late = docket().overdue();
  ASSERT_EQ(late->size(), 1U);
  EXPECT_EQ(late->at(0).job.kernel, "k");
}

TEST_F(DocketTest, ForgetsTheOldestOfWhatIsFinished) {
  limits.finished = 10;
  const auto judge = [&](int first, int last) {
    std::vector<api::Submission> wishes;
    std::vector<JobStore::Concluded> verdicts;
    for (int k = first; k < last; ++k) {
      wishes.push_back(wish(std::to_string(k), "ann"));
      verdicts.push_back({api::job_name(wishes.back()), api::accepted_verdict()});
    }
    submit(wishes);
    EXPECT_TRUE(docket().conclude(verdicts));
    ++now;
  };
  judge(0, 990);
  EXPECT_TRUE(docket().find(api::job_name(wish("0")))->has_value()) << "it is seldom that it looks";
  judge(990, 1000);
  EXPECT_FALSE(docket().find(api::job_name(wish("989")))->has_value());
  EXPECT_TRUE(docket().find(api::job_name(wish("990")))->has_value());
  EXPECT_EQ(events("ann").size(), 10U);
}

}  // namespace
}  // namespace tritonsmith::gym::service
