// A referee on a GPU that others share. The test plays the other referee, in a thread.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "base/temp_dir.h"
#include "gym/device/testing/gpu_fixture.h"
#include "gym/referee/testing/reports.h"

namespace tritonsmith::gym::referee {
namespace {

class BesideOthersTest : public device::CudaDeviceTest {
 protected:
  cuda::GpuShare open() {
    auto share = cuda::GpuShare::open(folder_->path() / "gpu", 2);
    CHECK(share, "{}", share.error().message);
    return *std::move(share);
  }
  std::unique_ptr<Referee> referee() {
    auto gpu =
        device::CudaDevice::open(0, nullptr, std::make_unique<cuda::GpuShare>(open())).value();
    auto made = std::make_unique<Referee>(std::move(gpu));
    CHECK(made->add_task("t", plan_json(task_)), "the task is no task");
    return made;
  }
  // A relu of so many floats.
  RefereeJob job(std::int64_t n) {
    task_ = plan::PlanBuilder(plan::PlanRole::task);
    plan::PlanBuilder candidate(plan::PlanRole::candidate);
    const int x = task_.tensor({n}), y = task_.tensor({n});
    task_.aten(plan::Phase::inputs, "aten::randn", {plan::ints({n})}, {x})
        .input(plan::t(x))
        .aten(plan::Phase::forward, "aten::relu", {plan::t(x)}, {y})
        .returns(plan::t(y));
    const int own = candidate.tensor({n}), made = candidate.tensor({n});
    candidate.input(plan::t(own))
        .aten(plan::Phase::forward, "aten::clamp_min", {plan::t(own), plan::i(0)}, {made})
        .returns(plan::t(made));
    return {.task_key = "t",
            .candidate_plan = plan_json(candidate),
            .secret = "s",
            .policy = Policy::open};
  }
  Result<TempDir> folder_ = TempDir::make("beside-others-test");
  plan::PlanBuilder task_{plan::PlanRole::task};
};

TEST_F(BesideOthersTest, TimesOnlyOnceTheOtherHasMadeWay) {
  const RefereeJob asked = job(1 << 22);
  const auto judges = referee();
  cuda::GpuShare other = open();
  other.take_turn();
  std::atomic<bool> is_done = false;
  std::jthread working([&] {
    while (!is_done) other.let_others_pass();
    other.give_back_turn();
  });
  const RefereeReport report = judges->judge(asked);
  is_done = true;
  working.join();
  ASSERT_TRUE(report.correct) << error_message(report);
  EXPECT_TRUE(report.timing);
  EXPECT_GT(other.waited_ms(), 0) << "it was never asked to make way";
}

TEST_F(BesideOthersTest, WaitsForMemoryThatTheOtherKeeps) {
  std::size_t free = 0, total = 0;
  const cuda::Driver& driver = device::test_gpu()->driver();
  ASSERT_EQ(driver.memory_get_info(&free, &total), CUDA_SUCCESS);
  const auto floats = static_cast<std::int64_t>(total / 50 / sizeof(float)) / 4 * 4;
  const RefereeJob asked = job(floats);
  const auto judges = referee();
  cuda::GpuShare other = open();
  other.take_memory();
  CUdeviceptr kept = 0;
  ASSERT_EQ(driver.memory_get_info(&free, &total), CUDA_SUCCESS);
  ASSERT_EQ(driver.memory_alloc(&kept, free - (std::size_t{1} << 30)), CUDA_SUCCESS);
  std::atomic<bool> is_done = false, made_way = false;
  std::jthread working([&] {
    while (!is_done && !other.is_memory_wanted()) std::this_thread::yield();
    made_way = !is_done;
    static_cast<void>(cuda::use_device(driver, 0));
    driver.memory_free(kept);
    other.give_back_memory();
  });
  const RefereeReport report = judges->judge(asked);
  is_done = true;
  working.join();
  EXPECT_TRUE(report.correct) << error_message(report);
  EXPECT_TRUE(made_way);
  EXPECT_FALSE(has_rule(report, "judged_without_oracle"));
  EXPECT_TRUE(other.take_turn_by(Deadline::in_seconds(0)));
  other.give_back_turn();
  other.take_memory();
  EXPECT_EQ(other.waited_ms(), 0) << "the referee gave all of it back";
}

}  // namespace
}  // namespace tritonsmith::gym::referee
