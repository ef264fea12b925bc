// Tests what only the embedded store does: it forgets old jobs, and it leaves verdicts of earlier
// runs to the recall function.
#include "gym/service/sqlite_job_store.h"

#include "gym/service/testing/job_store_fixture.h"

namespace tritonsmith::gym::service {
namespace {

class SqliteJobStoreTest : public JobStoreFixture {
 protected:
  SqliteJobStoreTest()
      : JobStoreFixture([](const StoreSetup& setup) -> std::unique_ptr<JobStore> {
          auto opened = SqliteJobStore::open(setup.directory / "jobs.sqlite", setup.limits,
                                             setup.recall, setup.now);
          EXPECT_TRUE(opened) << opened.error().message;
          return *std::move(opened);
        }) {}
};

TEST_F(SqliteJobStoreTest, LeavesWhatAnEarlierRunConcludedToTheStore) {
  submit({wish("k")});
  take_kernel();
  conclude("k");
  reopened();
  EXPECT_EQ(state("k"), JobState::done);
  EXPECT_EQ(submit({wish("k")}).at(0).state, JobState::queued);
  EXPECT_EQ(take_kernel(), "k");
}

TEST_F(SqliteJobStoreTest, AnswersAtOnceWhatIsInTheStoreHoweverLongTheQueue) {
  limits.unfinished = 2;
  submit({wish("k", "ann")});
  take_kernel();
  conclude("k");
  reopened();
  submit({wish("a", "ann"), wish("b", "ann")});  // these fill the store
  known["k"] = api::failed_verdict(Stage::ran, ErrorClass::wrong_value);
  known["new"] = api::accepted_verdict();  // judged by another program over the same store
  const auto views = submit({wish("k", "bob"), wish("new", "bob"), wish("k", "bob")});
  for (const JobView& view : views) EXPECT_EQ(view.state, JobState::done);
  EXPECT_NE(views[0].verdict.find("wrong_value"), std::string::npos);
  EXPECT_EQ(views[2].verdict, views[0].verdict);
  EXPECT_EQ(state("new"), JobState::done);
  EXPECT_EQ(events("bob").size(), 2U);
  EXPECT_EQ(*store().awaited_by("bob"), 0);
  EXPECT_EQ(store().counts()->queued.at(api::Priority::normal), 2);
  reopened();
  EXPECT_EQ(events("bob").size(), 2U);
}

TEST_F(SqliteJobStoreTest, ForgetsWhatWasRecalledToo) {
  limits.finished = 10;
  std::vector<api::Submission> wishes;
  for (int k = 0; k < 1000; ++k) {
    known[std::to_string(k)] = api::accepted_verdict();
    wishes.push_back(wish(std::to_string(k), "ann"));
  }
  submit(wishes);
  EXPECT_EQ(events("ann").size(), 10U);
}

TEST_F(SqliteJobStoreTest, ForgetsTheOldestOfWhatIsFinished) {
  limits.finished = 10;
  const auto judge = [&](int first, int last) {
    std::vector<api::Submission> wishes;
    std::vector<ConcludedJob> verdicts;
    for (int k = first; k < last; ++k) {
      wishes.push_back(wish(std::to_string(k), "ann"));
      verdicts.push_back({api::job_name(wishes.back()), api::accepted_verdict()});
    }
    submit(wishes);
    EXPECT_TRUE(store().conclude("", verdicts));
    ++now;
  };
  judge(0, 990);
  EXPECT_TRUE(store().find(api::job_name(wish("0")))->has_value()) << "it is seldom that it looks";
  judge(990, 1000);
  EXPECT_FALSE(store().find(api::job_name(wish("989")))->has_value());
  EXPECT_TRUE(store().find(api::job_name(wish("990")))->has_value());
  EXPECT_EQ(events("ann").size(), 10U);
}

}  // namespace
}  // namespace tritonsmith::gym::service
