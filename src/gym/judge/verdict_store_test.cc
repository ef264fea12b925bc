#include "gym/judge/verdict_store.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <fstream>

#include "base/temp_dir.h"
#include "gym/api/testing/fake_judge.h"
#include "gym/judge/secret.h"

namespace tritonsmith::gym::judge {
namespace {

struct VerdictStoreTest : ::testing::Test {
  TempDir directory = *TempDir::make("store");
  std::filesystem::path file = directory.path() / "deep" / "verdicts.sqlite";
};

TEST_F(VerdictStoreTest, KeepsVerdictsBetweenOpenings) {
  {
    auto store = VerdictStore::open(file);
    ASSERT_TRUE(store) << store.error().message;
    ASSERT_TRUE(store->put("key", api::accepted_verdict()));
  }
  auto store = VerdictStore::open(file);
  const auto found = store->find("key");
  ASSERT_TRUE(found && *found);
  EXPECT_TRUE((*found)->accepted && (*found)->from_store);
  EXPECT_FALSE(store->find("other")->has_value());
}

TEST_F(VerdictStoreTest, ForgetsTheVerdictsOfAGpu) {
  auto store = VerdictStore::open(file);
  ASSERT_TRUE(store->put("sick", api::accepted_verdict(), "GPU-1"));
  ASSERT_TRUE(store->put("again", api::accepted_verdict(), "GPU-1"));
  ASSERT_TRUE(store->put("again", api::accepted_verdict()));
  ASSERT_TRUE(store->put("sound", api::accepted_verdict(), "GPU-2"));
  ASSERT_TRUE(store->forget("GPU-1"));
  EXPECT_FALSE(store->find("sick")->has_value());
  EXPECT_TRUE(store->find("again")->has_value()) << "it was judged without this GPU since";
  EXPECT_TRUE(store->find("sound")->has_value());
}

TEST_F(VerdictStoreTest, NamesTheFileThatIsNoStore) {
  std::ofstream(directory.path() / "text")
      << "this is no database, and long enough to be seen as none";
  const auto store = VerdictStore::open(directory.path() / "text");
  ASSERT_FALSE(store);
  EXPECT_NE(store.error().message.find((directory.path() / "text").string()), std::string::npos);
}

TEST_F(VerdictStoreTest, SaysSoInOneLineWhenTheDiskIsFullAndKeepsWhatItHas) {
  auto store = VerdictStore::open(file);
  ASSERT_TRUE(store->put("first", api::accepted_verdict()));
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{.rlim_cur = 96 << 10,
                     .rlim_max = before.rlim_max};  // stands for a full disk: writes come up short
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  Verdict large = api::accepted_verdict();
  large.findings.push_back({.rule = "r", .message = std::string(1 << 20, 'x')});
  const auto stored = store->put("second", large);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  ASSERT_FALSE(stored);
  EXPECT_EQ(stored.error().message.find('\n'), std::string::npos);
  EXPECT_NE(stored.error().message.find("verdicts.sqlite"), std::string::npos);
  EXPECT_TRUE(store->find("first")->has_value());
}

TEST(VerdictKey, ChangesWithEverythingThatDecidesAVerdict) {
  const api::JudgeJob job{.id = 1, .task = {.id = "a", .source = "s"}, .kernel = "k"};
  const std::string key = verdict_key(job, Backend::evaluate, "v");
  api::JudgeJob renamed = job;
  renamed.id = 2;
  renamed.task.id = "b";
  EXPECT_EQ(verdict_key(renamed, Backend::evaluate, "v"), key);
  api::JudgeJob kernel = job, source = job, policy = job, trials = job, tolerance = job,
                allclose = job, baselines = job;
  kernel.kernel = "l";
  source.task.source = "t";
  policy.policy = Policy::open;
  trials.trials = 4;
  tolerance.task.tolerance = 1e-5;
  allclose.comparison = Comparison::allclose;
  baselines.baselines = {"eager"};
  for (const api::JudgeJob& other :
       {kernel, source, policy, trials, tolerance, allclose, baselines})
    EXPECT_NE(verdict_key(other, Backend::evaluate, "v"), key);
  EXPECT_NE(verdict_key(job, Backend::replay, "v"), key);
  EXPECT_NE(verdict_key(job, Backend::evaluate, "w"), key);
}

TEST(Secret, IsMadeOnceAndKeptForItsOwnerAlone) {
  const auto directory = TempDir::make("secret");
  const auto file = directory->path() / "judge.secret";
  const auto first = load_or_make_secret(file);
  ASSERT_TRUE(first) << first.error().message;
  EXPECT_EQ(*load_or_make_secret(file), *first);
  EXPECT_EQ(std::filesystem::status(file).permissions(),
            std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  std::ofstream(file) << "short";
  EXPECT_FALSE(load_or_make_secret(file));
}

}  // namespace
}  // namespace tritonsmith::gym::judge
