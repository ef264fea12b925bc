// Tests of the quarantine of a worker's GPUs, from what its judge and its driver report to the jobs
// that another worker judges again.
#include "gym/service/gpu_watch.h"

#include <gtest/gtest.h>

#include <atomic>

#include "base/temp_dir.h"
#include "gym/api/testing/fake_judge.h"
#include "gym/service/job_dispatcher.h"
#include "gym/service/sqlite_job_store.h"
#include "gym/service/testing/job_store_fixture.h"

namespace tritonsmith::gym::service {
namespace {

constexpr Calibration kFirst{.version = 1, .compute_ms = 2, .memory_ms = 1};

struct GpuWatchTest : ::testing::Test {
  std::vector<api::DeviceUse> measured(const Calibration& calibration) {
    return {{.name = "cpu:0"},
            {.name = "cuda:0",
             .gpu = "GPU-1",
             .calibrations = ++calibrations,
             .calibration = calibration,
             .calibrated = system_clock().now()}};
  }
  void conclude(const std::string& kernel) {
    const api::Submission job = wish(kernel, "ann");
    ASSERT_TRUE(store->submit(std::vector{job}, {}));
    ASSERT_TRUE(store->take({.worker = "w"}, 1));
    ASSERT_TRUE(store->conclude(
        "w", std::vector<ConcludedJob>{{api::job_name(job), api::accepted_verdict(), "GPU-1"}}));
  }
  JobState state(const std::string& kernel) {
    return (**store->find(api::job_name(wish(kernel)))).state;
  }
  std::string reason() {
    const auto held = store->gpus().quarantined();
    return held->empty() ? "" : held->at(0).reason;
  }

  Result<TempDir> directory = TempDir::make("gpu_watch");
  std::int64_t now = 1'000'000;
  std::unique_ptr<JobStore> store =
      *SqliteJobStore::open(directory->path() / "jobs.sqlite", {}, {}, [this] { return now; });
  ServiceMetrics metrics;
  std::vector<GpuFault> faults;
  GpuWatch watch{store->gpus(),
                 {.gpus = {"GPU-1", "GPU-2"},
                  .device = "NVIDIA H200",
                  .host = "h",
                  .take_faults = [this] { return std::exchange(faults, {}); }},
                 metrics};
  std::uint64_t calibrations = 0;
};

TEST_F(GpuWatchTest, KeepsAGpuThatRunsAsFastAsAtFirst) {
  EXPECT_FALSE(*watch.look(measured(kFirst)));
  EXPECT_FALSE(*watch.look(measured({.version = 1, .compute_ms = 2.05, .memory_ms = 0.98})));
  EXPECT_EQ(reason(), "");
  EXPECT_NE(metrics.text({}, true, true).find("device_drift_ratio{device=\"cuda:0\"} 0.02"),
            std::string::npos);
}

TEST_F(GpuWatchTest, TakesAGpuOutThatDriftsByMoreThanThreePercentEitherWay) {
  for (const Calibration& drifted :
       {Calibration{.version = 1, .compute_ms = 2.08, .memory_ms = 1},
        Calibration{.version = 1, .compute_ms = 2, .memory_ms = 0.9}}) {
    EXPECT_FALSE(*watch.look(measured(kFirst)));
    EXPECT_TRUE(*watch.look(measured(drifted)));
    EXPECT_NE(reason().find("calibration kernels"), std::string::npos);
    EXPECT_EQ(*watch.quarantined(), std::vector<std::string>{"GPU-1"});
    EXPECT_EQ(watch.without(*watch.quarantined()), std::vector<std::string>{"GPU-2"});
    ASSERT_TRUE(store->gpus().clear("GPU-1", FirstCalibration::keep));
  }
  EXPECT_NE(metrics.text({.quarantined_gpus = 1}, true, true).find("quarantined_gpus 1"),
            std::string::npos);
}

TEST_F(GpuWatchTest, DoubtsTheVerdictsSinceTheLastGoodCalibration) {
  EXPECT_FALSE(*watch.look(measured(kFirst)));
  conclude("early");
  now += 60'000;
  EXPECT_FALSE(*watch.look(measured(kFirst)));
  conclude("late");
  now += 60'000;
  EXPECT_TRUE(*watch.look(measured({.version = 1, .compute_ms = 3, .memory_ms = 1})));
  EXPECT_EQ(state("early"), JobState::done);
  EXPECT_EQ(state("late"), JobState::queued);
}

TEST_F(GpuWatchTest, TakesAGpuOutOfWhichTheDriverReportedAnError) {
  faults = {{"GPU-2", "the driver reported Xid 79"}};
  EXPECT_TRUE(*watch.look({}));
  EXPECT_EQ(reason(), "the driver reported Xid 79");
  EXPECT_FALSE(*watch.look({})) << "it is reported once";
}

TEST_F(GpuWatchTest, ComparesANewJudgesFirstCalibrationToo) {
  EXPECT_FALSE(*watch.look(measured(kFirst)));
  calibrations = 0;
  watch.begin_judge();
  EXPECT_TRUE(*watch.look(measured({.version = 1, .compute_ms = 3, .memory_ms = 1})));
}

// A judge on GPUs whose calibrations a test sets.
class CalibratedJudge : public api::FakeJudge {
 public:
  CalibratedJudge(std::vector<std::string> gpus, const std::atomic<int>& slowdown)
      : FakeJudge([](const api::JudgeJob&) { return api::accepted_verdict(); }),
        gpus_(std::move(gpus)),
        slowdown_(slowdown) {}
  Result<std::optional<api::Judged>> next(Deadline deadline) override {
    auto judged = FakeJudge::next(deadline);
    if (judged && *judged) (*judged)->gpu = gpus_.front();
    return judged;
  }
  std::vector<api::DeviceUse> devices() const override {
    std::vector<api::DeviceUse> all;
    for (const std::string& gpu : gpus_) {
      const double factor = gpu == "GPU-1" ? 1 + 0.01 * slowdown_ : 1;
      all.push_back({.name = gpu,
                     .gpu = gpu,
                     .calibrations = static_cast<std::uint64_t>(1 + slowdown_),
                     .calibration = {.version = 1, .compute_ms = 2 * factor, .memory_ms = 1},
                     .calibrated = system_clock().now()});
    }
    return all;
  }

 private:
  std::vector<std::string> gpus_;
  const std::atomic<int>& slowdown_;
};

TEST_F(GpuWatchTest, LetsAWorkerGoOnWithoutItsSickGpuUntilAnOperatorClearsIt) {
  std::atomic<int> slowdown = 0, judges = 0;
  std::mutex mutex;
  std::vector<std::string> in_use;
  const auto make_judge = [&](const std::stop_token&) -> Result<std::unique_ptr<api::Judge>> {
    std::vector<std::string> gpus = {"GPU-1", "GPU-2"};
    const auto held = store->gpus().quarantined();
    for (const QuarantinedGpu& gpu : *held) std::erase(gpus, gpu.gpu);
    {
      const std::lock_guard lock(mutex);
      in_use = gpus;
    }
    ++judges;
    return std::make_unique<CalibratedJudge>(gpus, slowdown);
  };
  JobDispatcher dispatcher(
      *store, make_judge,
      {.at_once = 2, .host = "h", .devices = {"gpu", "NVIDIA H200"}, .gpus = {"GPU-1", "GPU-2"}},
      metrics);
  const Deadline deadline = Deadline::in_seconds(20);
  const auto await = [&](const auto& condition) {
    while (!condition() && !deadline.passed()) {
      const std::uint64_t seen = store->changes();
      if (!condition()) store->wait_for_change(seen, Deadline::after(Milliseconds(20)));
    }
    return condition();
  };
  ASSERT_TRUE(store->submit(std::vector{wish("k", "ann")}, {}));
  ASSERT_TRUE(await([&] { return state("k") == JobState::done; }));
  slowdown = 10;
  ASSERT_TRUE(await([&] { return judges == 2 && state("k") == JobState::done; }))
      << "the job in doubt is judged by the other GPU";
  EXPECT_EQ(store->events("ann", 0, 9)->size(), 1U);
  EXPECT_EQ(store->counts()->judged_again, 1);
  {
    const std::lock_guard lock(mutex);
    EXPECT_EQ(in_use, std::vector<std::string>{"GPU-2"});
  }
  slowdown = 1;
  ASSERT_TRUE(store->gpus().clear("GPU-1", FirstCalibration::keep));
  ASSERT_TRUE(await([&] { return judges == 3; }));
  const std::lock_guard lock(mutex);
  EXPECT_EQ(in_use.size(), 2U);
}

}  // namespace
}  // namespace tritonsmith::gym::service
