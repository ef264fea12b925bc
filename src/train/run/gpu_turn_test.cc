#include "train/run/gpu_turn.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "base/temp_dir.h"

namespace tritonsmith::train {
namespace {

TEST(GpuTurn, LetsInWhoWaitsBetweenMicroBatchesAndNobodyDuringOne) {
  const auto folder = TempDir::make("gpu-turn-test");
  ASSERT_TRUE(folder);
  const auto file = folder->path() / "gpu";
  auto opened = Lease::open(file);
  ASSERT_TRUE(opened);
  std::optional<Lease> lease = *std::move(opened);
  const Deadline patience = Deadline::after(std::chrono::seconds(20));
  std::atomic<bool> timed = false;
  {
    GpuTurn turn(lease, c10::kCPU);
    turn.give_way();  // to nobody
    EXPECT_TRUE(lease->is_held());
    std::jthread referee([&] {
      auto own = Lease::open(file);
      timed = own && own->take(Lease::Hold::alone, patience);
    });
    while (!lease->is_wanted() && !patience.passed()) std::this_thread::yield();
    EXPECT_FALSE(timed);
    turn.give_way();
    EXPECT_TRUE(timed);
    EXPECT_TRUE(lease->is_held());
  }
  EXPECT_FALSE(lease->is_held());
}

TEST(GpuTurn, DoesNothingWithoutALease) {
  std::optional<Lease> none;
  GpuTurn turn(none, c10::kCPU);
  turn.give_way();
}

}  // namespace
}  // namespace tritonsmith::train
