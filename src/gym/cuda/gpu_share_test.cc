#include "gym/cuda/gpu_share.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "base/check.h"
#include "base/temp_dir.h"

namespace tritonsmith::gym::cuda {
namespace {

class GpuShareTest : public ::testing::Test {
 protected:
  GpuShare open() {
    auto share = GpuShare::open(folder_->path() / "gpu", 3);
    CHECK(share, "{}", share.error().message);
    return *std::move(share);
  }
  static Deadline now() { return Deadline::after(Milliseconds(0)); }
  // Waits until the condition holds, without an end: a test that fails here runs into its limit.
  template <typename Condition>
  static void until(const Condition& holds) {
    while (!holds()) std::this_thread::yield();
  }
  // Says whether a turn together with others is to be had.
  bool is_free_to_share() {
    GpuShare probe = open();
    return probe.take_turn_by(now());
  }
  Result<TempDir> folder_ = TempDir::make("gpu-share-test");
};

TEST_F(GpuShareTest, LetsRefereesComputeTogetherAndTimeAlone) {
  GpuShare one = open(), two = open();
  one.take_turn();
  EXPECT_TRUE(two.take_turn_by(now()));
  two.give_back_turn();
  one.take_turn_alone();
  EXPECT_TRUE(one.has_turn_alone());
  EXPECT_FALSE(two.take_turn_by(now()));
  one.give_back_turn();
  EXPECT_TRUE(two.take_turn_by(now()));
  EXPECT_EQ(one.waited_ms(), 0);
}

TEST_F(GpuShareTest, LetsATimingPassAndGoesOnAfterIt) {
  GpuShare works = open();
  works.take_turn();
  works.let_others_pass();  // nobody waits
  EXPECT_TRUE(works.has_turn());
  std::atomic<bool> waits = false, times = false, ends = false;
  std::jthread other([&, share = open()]() mutable {
    share.tell_waits([&](bool begins) { waits = begins; });
    share.take_turn_alone();
    times = true;
    until([&] { return ends.load(); });
    times = false;
    share.give_back_turn();
  });
  until([&] { return waits.load(); });
  EXPECT_FALSE(times);
  std::jthread ender([&] {
    until([&] { return times.load(); });
    EXPECT_FALSE(is_free_to_share());
    ends = true;
  });
  until([&] {
    works.let_others_pass();  // may come before the other is in the queue
    return works.waited_ms() > 0;
  });
  EXPECT_TRUE(works.has_turn());
  EXPECT_FALSE(works.has_turn_alone());
  EXPECT_FALSE(times);
}

// Two referees that always compute would otherwise never leave a moment for a timing.
TEST_F(GpuShareTest, LetsNoOneOvertakeATimingThatWaits) {
  GpuShare works = open();
  works.take_turn();
  std::atomic<bool> waits = false, timed = false;
  std::jthread other([&, share = open()]() mutable {
    share.tell_waits([&](bool begins) { waits = begins; });
    share.take_turn_alone();
    timed = true;
  });
  until([&] { return waits.load(); });
  until([&] { return !is_free_to_share(); });  // the other is in the queue now
  EXPECT_FALSE(is_free_to_share());
  EXPECT_FALSE(timed);
  works.give_back_turn();
  until([&] { return timed.load(); });
}

TEST_F(GpuShareTest, FreesTheTurnOfAKilledRefereeOnceItsJudgeHasReapedIt) {
  GpuShare judges = open();
  Result<Pipe> pipe = make_pipe();
  ASSERT_TRUE(pipe);
  const pid_t child = ::fork();
  if (child == 0) {
    GpuShare own = GpuShare::adopt(judges.descriptors(), 3);
    own.take_turn_alone();
    static_cast<void>(::write(pipe->write.get(), "x", 1));
    while (true) ::pause();
  }
  char ready = 0;
  ASSERT_EQ(::read(pipe->read.get(), &ready, 1), 1);
  EXPECT_FALSE(is_free_to_share());
  ::kill(child, SIGKILL);
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  EXPECT_FALSE(is_free_to_share()) << "the judge's copy still holds it";
  { const GpuShare closed = std::move(judges); }
  EXPECT_TRUE(is_free_to_share());
}

TEST_F(GpuShareTest, GivesAllMemoryToOneOnlyWhenNobodyElseKeepsAny) {
  GpuShare keeps = open(), lacks = open();
  keeps.take_memory();
  lacks.take_memory();
  EXPECT_FALSE(keeps.is_memory_wanted());
  std::atomic<bool> has_all = false, ends = false;
  std::jthread other([&] {
    lacks.take_memory_alone();
    has_all = true;
    until([&] { return ends.load(); });
    EXPECT_TRUE(lacks.has_memory_alone());
    lacks.give_back_memory();
  });
  until([&] { return keeps.is_memory_wanted(); });
  EXPECT_FALSE(has_all);
  keeps.give_back_memory();
  until([&] { return has_all.load(); });
  ends = true;
  keeps.take_memory();
  EXPECT_FALSE(keeps.has_memory_alone());
}

}  // namespace
}  // namespace tritonsmith::gym::cuda
