#include "base/lease.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>

#include "base/temp_dir.h"

namespace tritonsmith {
namespace {

using Hold = Lease::Hold;

class LeaseTest : public ::testing::Test {
 protected:
  std::unique_ptr<Lease> open() {
    auto lease = Lease::open(folder_->path() / "leases" / "gpu");
    if (!lease) ADD_FAILURE() << lease.error().message;
    return lease ? std::make_unique<Lease>(*std::move(lease)) : nullptr;
  }
  static Deadline now() { return Deadline::after(Milliseconds(0)); }
  static Deadline soon() { return Deadline::after(std::chrono::seconds(20)); }
  Result<TempDir> folder_ = TempDir::make("lease-test");
};

TEST_F(LeaseTest, IsSharedByThoseWhoWorkAndNobodyIsBesideOneAlone) {
  const auto trainer = open(), engine = open(), referee = open();
  EXPECT_TRUE(trainer->take(Hold::shared, now()));
  EXPECT_TRUE(engine->take(Hold::shared, now()));
  EXPECT_FALSE(referee->take(Hold::alone, now()));
  trainer->give_back();
  EXPECT_FALSE(referee->take(Hold::alone, now()));
  engine->give_back();
  EXPECT_TRUE(referee->take(Hold::alone, now()));
  EXPECT_FALSE(trainer->take(Hold::shared, now()));
}

TEST_F(LeaseTest, EndsWithWhoHeldIt) {
  const auto next = open();
  {
    const auto held = open();
    ASSERT_TRUE(held->take(Hold::alone, now()));
    ASSERT_FALSE(next->take(Hold::shared, now()));
  }
  EXPECT_TRUE(next->take(Hold::shared, now()));
}

TEST_F(LeaseTest, TellsTheHolderThatSomebodyWaitsAndLetsNobodyPass) {
  const auto trainer = open(), other = open();
  ASSERT_TRUE(trainer->take(Hold::shared, now()));
  EXPECT_FALSE(trainer->is_wanted());
  std::atomic<int> timed = 0;
  std::jthread referee([&, lease = open()] {
    if (!lease->take(Hold::alone, soon())) return;
    ++timed;
    lease->give_back();
  });
  const Deadline patience = soon();
  while (!trainer->is_wanted() && !patience.passed()) std::this_thread::yield();
  EXPECT_TRUE(trainer->is_wanted());
  EXPECT_FALSE(other->take(Hold::shared, now())) << "another sharer would keep it waiting for ever";
  EXPECT_EQ(timed, 0);
  trainer->give_back();
  // The trainer takes the lease again at once. The waiting process still gets it first.
  ASSERT_TRUE(trainer->take(Hold::shared, soon()));
  EXPECT_EQ(timed, 1);
}

TEST_F(LeaseTest, NeitherSideStarves) {
  constexpr int kRounds = 20;
  std::atomic<bool> done = false;
  std::atomic<int> worked = 0;
  std::jthread trainer([&, lease = open()] {
    while (!done) {
      if (!lease->take(Hold::shared, soon())) return;
      ++worked;
      while (!lease->is_wanted() && !done) std::this_thread::yield();
      lease->give_back();
    }
  });
  const auto referee = open();
  for (int round = 0; round < kRounds; ++round) {
    ASSERT_TRUE(referee->take(Hold::alone, soon()));
    referee->give_back();
    const int before = worked;
    const Deadline patience = soon();
    while (worked == before && !patience.passed()) std::this_thread::yield();
    EXPECT_GT(worked, before);
  }
  done = true;
}

}  // namespace
}  // namespace tritonsmith
