#include "train/run/gpu_lease.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "base/temp_dir.h"

namespace tritonsmith::train {
namespace {

TEST(GpuLease, LetsInWhoWaitsBetweenMicroBatchesAndNobodyDuringOne) {
  const auto folder = TempDir::make("gpu-gpu-test");
  ASSERT_TRUE(folder);
  const auto file = folder->path() / "gpu";
  auto opened = Lease::open(file);
  ASSERT_TRUE(opened);
  std::optional<Lease> lease = *std::move(opened);
  const Deadline patience = Deadline::after(std::chrono::seconds(20));
  std::atomic<bool> timed = false;
  {
    GpuLease gpu(lease, c10::kCPU);
    gpu.give_way();  // no process waits for the lease
    EXPECT_TRUE(lease->is_held());
    std::jthread referee([&] {
      auto own = Lease::open(file);
      timed = own && own->take(Lease::Hold::alone, patience);
    });
    while (!lease->is_wanted() && !patience.passed()) std::this_thread::yield();
    EXPECT_FALSE(timed);
    gpu.give_way();
    EXPECT_TRUE(timed);
    EXPECT_TRUE(lease->is_held());
  }
  EXPECT_FALSE(lease->is_held());
}

TEST(GpuLease, DoesNothingWithoutALease) {
  std::optional<Lease> none;
  GpuLease gpu(none, c10::kCPU);
  gpu.give_way();
}

}  // namespace
}  // namespace tritonsmith::train
