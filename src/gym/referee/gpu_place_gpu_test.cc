#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "gym/referee/gpu_place.h"
#include "gym/referee/referee.h"
#include "gym/referee/testing/plan_builder.h"

namespace tritonsmith::gym {
namespace {

// One place for all tests of the process: contexts are dear.
GpuPlace* gpu() {
  static const std::unique_ptr<GpuPlace> place = [] {
    auto opened =
        gpu::list_gpus().empty() ? Result<std::unique_ptr<GpuPlace>>(nullptr) : GpuPlace::open(0);
    CHECK(opened, "a GPU is here but does not serve: {}", opened.error().message);
    return *std::move(opened);
  }();
  return place.get();
}

class GpuPlaceTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (gpu() == nullptr) GTEST_SKIP() << "no GPU on this machine";
    gpu()->begin(Filler::nan, 0);
  }
  void TearDown() override {
    if (gpu() != nullptr) gpu()->end();
  }
  static at::TensorOptions floats() { return at::dtype(at::kFloat).device(at::kCUDA); }
};

TEST_F(GpuPlaceTest, DrawsTheSameAfterTheSameSeed) {
  gpu()->seed(7);
  const at::Tensor first = at::randn({1000}, floats());
  gpu()->seed(7);
  EXPECT_TRUE(at::equal(first, at::randn({1000}, floats())));
  EXPECT_FALSE(at::equal(first, at::randn({1000}, floats())));
}

TEST_F(GpuPlaceTest, FillsWhatIsUnwrittenAndSeesWritesBesideIt) {
  const at::Tensor filled = gpu()->filled(at::empty({3, 5}, floats()));
  EXPECT_TRUE(filled.isnan().all().item<bool>());
  EXPECT_FALSE(gpu()->wait(Deadline::never()));
  const auto behind = reinterpret_cast<CUdeviceptr>(filled.const_data_ptr()) + filled.nbytes();
  gpu()->driver().memset_async(behind, 0, 4, nullptr);
  const auto error = gpu()->wait(Deadline::never());
  ASSERT_TRUE(error);
  EXPECT_EQ(error->error_class, "out_of_bounds");
  EXPECT_NE(error->message.find("4 bytes"), std::string::npos);
  EXPECT_FALSE(gpu()->spent());
}

TEST_F(GpuPlaceTest, WideGuardsSeeWritesFarBeside) {
  constexpr std::size_t far = 8 << 20;
  for (const bool wide : {false, true}) {
    gpu()->guard_with(wide ? GpuPlace::kWideGuard : GpuPlace::kNarrowGuard);
    gpu()->begin(Filler::nan, 0);
    const at::Tensor room = at::zeros({4 * static_cast<std::int64_t>(far)}, floats());
    const at::Tensor filled = gpu()->filled(at::empty({1000}, floats()));
    if (wide)
      gpu()->driver().memset_async(reinterpret_cast<CUdeviceptr>(filled.const_data_ptr()) + far, 0,
                                   4, nullptr);
    EXPECT_EQ(gpu()->wait(Deadline::never()).has_value(), wide);
  }
  gpu()->guard_with(GpuPlace::kNarrowGuard);
}

// What a reference's numbers are worth, and that a comparison of other tensors measures anew.
TEST_F(GpuPlaceTest, MeasuresAReference) {
  const at::Tensor exact = at::randn({50'001}, floats().dtype(at::kDouble));
  at::Tensor reference = exact.to(at::kFloat);
  const ReferenceQuality sound = gpu()->measure(reference, exact);
  EXPECT_TRUE(sound.is_finite);
  EXPECT_NEAR(sound.own_error, own_error(reference.cpu(), exact.cpu()), 1e-12);
  const at::Tensor off = reference + 3e-5;
  Numerics numerics;
  const CompareOptions how{.tolerance = 1e-4, .device = gpu()};
  EXPECT_FALSE(compare_tensors("output", off, reference, exact, how, numerics));
  reference[7] = std::numeric_limits<float>::infinity();
  EXPECT_FALSE(gpu()->measure(reference, exact).is_finite);
}

TEST_F(GpuPlaceTest, TellsAnyChangedByte) {
  for (const std::int64_t count : {1, 15, 16, 17, 100'003}) {
    at::Tensor bytes = at::randint(0, 256, {count}, floats().dtype(at::kByte));
    const Snapshot before = gpu()->snapshots({&bytes, 1}).front();
    EXPECT_TRUE(gpu()->unchanged(bytes.clone(), before));
    at::Tensor last = bytes.narrow(0, count - 1, 1);
    last.bitwise_xor_(1);
    EXPECT_FALSE(gpu()->unchanged(bytes, before)) << count;
  }
}

// The device's comparison and the CPU's, on values of all kinds.
TEST_F(GpuPlaceTest, ComparesAsTheCpuDoes) {
  for (const auto dtype : {at::kFloat, at::kDouble, at::kHalf, at::kBFloat16}) {
    const at::Tensor exact = at::randn({40'001}, at::kDouble);
    const at::Tensor reference = exact.to(dtype);
    at::Tensor candidate = (exact + 3e-5 * at::randn({40'001}, at::kDouble)).to(dtype);
    candidate[7] = std::numeric_limits<double>::quiet_NaN();
    candidate[40'000] = 100;
    const auto both = [&](const at::Tensor& tensor, DeviceComparison* device, auto place,
                          Numerics& numerics) {
      return compare_tensors("output", tensor.to(place), reference.to(place), exact.to(place),
                             {.tolerance = tolerance_of(dtype), .device = device}, numerics);
    };
    for (const at::Tensor& tensor : {candidate, reference}) {
      Numerics here, there;
      const auto cpu_error = both(tensor, nullptr, at::kCPU, here);
      const auto gpu_error = both(tensor, gpu(), at::kCUDA, there);
      ASSERT_EQ(cpu_error.has_value(), gpu_error.has_value());
      if (cpu_error) {
        EXPECT_EQ(cpu_error->message, gpu_error->message);
      }
      EXPECT_DOUBLE_EQ(here.max_abs, there.max_abs);
      EXPECT_NEAR(here.max_rel, there.max_rel, 1e-12 * here.max_rel);
    }
  }
}

TEST_F(GpuPlaceTest, JudgesAndTimesAPlanOfOperators) {
  constexpr std::int64_t n = 1 << 20;
  PlanBuilder task(PlanRole::task), candidate(PlanRole::candidate);
  const int x = task.tensor({n}), y = task.tensor({n});
  task.aten(Phase::inputs, "aten::randn", {ints({n})}, {x})
      .input(t(x))
      .aten(Phase::forward, "aten::relu", {t(x)}, {y})
      .returns(t(y));
  const int own = candidate.tensor({n}), made = candidate.tensor({n});
  candidate.input(t(own))
      .aten(Phase::forward, "aten::clamp_min", {t(own), i(0)}, {made})
      .returns(t(made));
  Referee referee(GpuPlace::open(0).value());
  ASSERT_TRUE(referee.add_task("t", to_line(to_json(task.plan()))));
  const RefereeReport report = referee.judge({.task_key = "t",
                                              .candidate_plan = to_line(to_json(candidate.plan())),
                                              .secret = "s",
                                              .policy = Policy::open});
  ASSERT_TRUE(report.correct) << (report.error ? report.error->message : "");
  ASSERT_TRUE(report.timing);
  EXPECT_GT(report.timing->candidate.median, 0);
  EXPECT_GT(report.timing->reference.n, 9);
  EXPECT_EQ(report.timing->coverage, 0);
  EXPECT_EQ(report.timing->steps.at(0).op, "aten::clamp_min");
}

// Last: the place is lost.
TEST_F(GpuPlaceTest, ZzzGivesUpOnAKernelThatDoesNotEnd) {
  ASSERT_EQ(gpu()->kernels().launch_endless(), CUDA_SUCCESS);
  const auto error = gpu()->wait(Deadline::after(std::chrono::milliseconds(50)));
  ASSERT_TRUE(error);
  EXPECT_EQ(error->error_class, "timeout");
  EXPECT_TRUE(gpu()->spent());
  // Nothing of the driver's may be called again: it would wait for the kernel.
  std::fflush(nullptr);
  std::_Exit(::testing::Test::HasFailure() ? 1 : 0);
}

}  // namespace
}  // namespace tritonsmith::gym
