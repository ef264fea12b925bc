#include "gym/judge/known_verdicts.h"

#include <gtest/gtest.h>

#include "base/temp_dir.h"
#include "gym/api/testing/fake_judge.h"

namespace tritonsmith::gym::judge {
namespace {

struct KnownVerdictsTest : ::testing::Test {
  void put(Backend backend, std::string_view versions) {
    ASSERT_TRUE(VerdictStore::open(file)->put(verdict_key(job, backend, versions),
                                              api::accepted_verdict()));
  }
  Result<TempDir> directory = TempDir::make("known");
  std::filesystem::path file = directory->path() / "verdicts.sqlite";
  std::unique_ptr<KnownVerdicts> known = *KnownVerdicts::open(file);
  api::JudgeJob job = {.task = {.id = "t", .source = "task"}, .kernel = "k"};
};

TEST_F(KnownVerdictsTest, FindsWhatTheJudgeKeptOnceItKnowsTheVersions) {
  put(Backend::evaluate, "torch 1");
  EXPECT_FALSE(known->find(job)) << "the versions are not known yet";
  known->learn({.evaluate = "torch 2"});
  EXPECT_FALSE(known->find(job)) << "by another torch";
  known->learn({.evaluate = "torch 1"});
  const auto found = known->find(job);
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->accepted && found->from_store);
  EXPECT_EQ(found->task_id, "t");
  job.use_store = false;
  EXPECT_FALSE(known->find(job)) << "wants to be judged anew";
}

TEST_F(KnownVerdictsTest, TakesTheBackendThatTheJudgeWouldTake) {
  put(Backend::replay, "torch 1, a GPU");
  known->learn({.evaluate = "torch 1", .replay = "torch 1, a GPU"});
  EXPECT_TRUE(known->find(job));
  job.backend = Backend::evaluate;
  EXPECT_FALSE(known->find(job));
  job.backend = Backend::replay;
  EXPECT_TRUE(known->find(job));
  known->learn({.evaluate = "torch 1"});
  EXPECT_FALSE(known->find(job)) << "no GPU here";
}

}  // namespace
}  // namespace tritonsmith::gym::judge
