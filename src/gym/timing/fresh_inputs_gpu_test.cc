// Tests that no timed round can use what an earlier round computed, and that each round's
// output is checked.
#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>
#include <gtest/gtest.h>

#include <array>
#include <string>

#include "gym/cuda/context.h"
#include "gym/cuda/device_code.h"
#include "gym/device/testing/gpu_fixture.h"
#include "gym/language/testing/fake_executor.h"
#include "gym/language/testing/vector_plans.h"
#include "gym/plan/analysis/eval_mode.h"
#include "gym/plan/testing/plan_builder.h"
#include "gym/replay/replay.h"
#include "gym/timing/output_archive.h"
#include "gym/timing/timed_side.h"
#include "gym/timing/timing.h"

namespace tritonsmith::gym::timing {
namespace {

using FreshInputsTest = device::CudaDeviceTest;

constexpr std::int64_t kCount = 1 << 20;

bool is_forgotten(const at::Tensor& tensor) { return tensor.isnan().all().item<bool>(); }

// A task of relu. Another step follows whose result is not an output.
plan::PlanBuilder relu_task() {
  plan::PlanBuilder task(plan::PlanRole::task);
  const int x = task.tensor({kCount}), h = task.tensor({kCount}), y = task.tensor({kCount});
  task.aten(plan::Phase::inputs, "aten::randn", {plan::ints({kCount})}, {x})
      .input(plan::t(x))
      .aten(plan::Phase::forward, "aten::relu", {plan::t(x)}, {h})
      .aten(plan::Phase::forward, "aten::mul.Scalar", {plan::t(h), plan::f(1)}, {y})
      .returns(plan::t(y));
  return task;
}

// Launches the kernel once, into memory that the operator `make` allocates.
plan::PlanBuilder one_launch(const std::string& make) {
  plan::PlanBuilder candidate(plan::PlanRole::candidate);
  const int x = candidate.tensor({kCount}), y = candidate.tensor({kCount});
  const int k = candidate.kernel("k", {"x", "y"});
  candidate.input(plan::t(x))
      .aten(plan::Phase::forward, make, {plan::t(x)}, {y})
      .launch(k, {plan::t(x), plan::t(y)});
  candidate.returns(plan::t(y));
  return candidate;
}

// Kernels that take long for a relu. One of them keeps its results in memory that nobody checks and
// finds them again by the input. Another one is fast for a few draws of the inputs only.
constexpr const char* kSource = R"(
__device__ float slowly(float x) {
  float waste = x;
  for (int k = 0; k < 4000; ++k) waste = fmaf(waste, 0.999f, 0.001f);
  return waste == 12345.0f ? waste : fmaxf(x, 0.0f);
}
extern "C" __global__ void computes(const float* x, float* y, float* kept, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = slowly(x[i]);
}
extern "C" __global__ void remembers(const float* x, float* y, float* kept, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  if (kept[i] != x[i]) {
    kept[n + i] = slowly(x[i]);
    kept[i] = x[i];
  }
  y[i] = kept[n + i];
}
extern "C" __global__ void adds(const float* x, float* y, float* kept, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] += x[i];
}
extern "C" __global__ void depends(const float* x, float* y, float* kept, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[0] < -1.5f ? fmaxf(x[i], 0.0f) : slowly(x[i]);
}
)";

class Kernels {
 public:
  Kernels() : kept_(at::zeros({2 * kCount}, at::dtype(at::kFloat).device(at::kCUDA))) {
    auto cubin = cuda::compile_source(device::test_gpu()->nvrtc(),
                                      device::test_gpu()->facts().target, kSource);
    CHECK(cubin, "{}", cubin.error().message);
    module_.emplace(cuda::Module::load(device::test_gpu()->driver(), *cubin).value());
  }

  language::FakeExecutor::Body launching(const std::string& name) {
    return [this, function = module_->function(name).value()](auto arguments) {
      float *x = language::floats(arguments[0]), *y = language::floats(arguments[1]);
      float* kept = kept_.mutable_data_ptr<float>();
      int n = kCount;
      std::array<void*, 4> parameters = {&x, &y, &kept, &n};
      const unsigned blocks = kCount / 256;
      const CUresult launched =
          cuda::launch(device::test_gpu()->driver(), function,
                       {.grid = {blocks, 1, 1}, .threads = 256}, parameters.data());
      EXPECT_EQ(launched, CUDA_SUCCESS);
      return language::LaunchOutcome{.loaded = {0}, .stored = {1}};
    };
  }

 private:
  at::Tensor kept_;
  std::optional<cuda::Module> module_;
};

TimingOutcome timed(const plan::Plan& task, const plan::Plan& candidate,
                    language::KernelExecutor& executor, const std::string& secret = "s") {
  trial::FinishedTrial trial = trial::finish_trial({.task = task,
                                                    .candidate = candidate,
                                                    .secret = secret,
                                                    .trial = 3,
                                                    .keeping = trial::StateKeeping::watched},
                                                   executor, *device::test_gpu());
  const trial::TrialResult& result = trial.result;
  EXPECT_FALSE(result.candidate_stop || result.reference_stop);
  EXPECT_FALSE(result.difference) << result.difference->message;
  return time_trial(trial, *device::test_gpu(), {.seconds = 2});
}

TEST_F(FreshInputsTest, FindWhoUsesWhatAnEarlierRoundLeft) {
  const plan::PlanBuilder task = relu_task(), candidate = one_launch("aten::empty_like");
  Kernels kernels;
  for (const std::string name : {"computes", "remembers"}) {
    language::FakeExecutor executor;
    executor.define("k", kernels.launching(name));
    const TimingOutcome outcome = timed(task.plan(), candidate.plan(), executor);
    ASSERT_FALSE(outcome.stop) << outcome.stop->error.message;
    ASSERT_EQ(outcome.findings.size(), name == "remembers" ? 1U : 0U);
    if (name == "remembers") {
      EXPECT_EQ(outcome.findings[0].rule, "remembered_results");
    }
  }
}

// The kernel here is right, and it takes equally long on most inputs.
TEST_F(FreshInputsTest, ATimeThatFollowsFromTheDataIsThatOfNewInputs) {
  const plan::PlanBuilder task = relu_task(), candidate = one_launch("aten::empty_like");
  Kernels kernels;
  language::FakeExecutor executor;
  executor.define("k", kernels.launching("computes"));
  const double slow = timed(task.plan(), candidate.plan(), executor).timing->candidate.median;
  executor.define("k", kernels.launching("depends"));
  for (int k = 0; k < 300; ++k) {
    const std::string secret = std::to_string(k);
    trial::FinishedTrial trial = trial::finish_trial({.task = task.plan(),
                                                      .candidate = candidate.plan(),
                                                      .secret = secret,
                                                      .trial = 3,
                                                      .keeping = trial::StateKeeping::watched},
                                                     executor, *device::test_gpu());
    ASSERT_FALSE(trial.result.difference);
    if (trial.sides.reference.tensors()[0][0].item<float>() >= -1.5F) continue;
    const TimingOutcome outcome = time_trial(trial, *device::test_gpu(), {.seconds = 2});
    ASSERT_FALSE(outcome.stop) << outcome.stop->error.message;
    if (outcome.findings.empty()) continue;  // one of the new inputs was a fast one, too
    EXPECT_EQ(outcome.findings[0].rule, "time_depends_on_data");
    EXPECT_NEAR(outcome.timing->candidate.median / slow, 1, 0.2);
    return;
  }
  FAIL() << "no draw was quick";
}

// A candidate that overwrites the numbers that it drew finds the same draws in each round.
TEST_F(FreshInputsTest, ARoundFindsItsDrawsAnew) {
  plan::PlanBuilder task(plan::PlanRole::task), candidate(plan::PlanRole::candidate);
  const int x = task.tensor({kCount}), noise = task.tensor({kCount}), y = task.tensor({kCount});
  task.aten(plan::Phase::inputs, "aten::randn", {plan::ints({kCount})}, {x})
      .input(plan::t(x))
      .aten(plan::Phase::forward, "aten::randn", {plan::ints({kCount})}, {noise},
            {language::kOnGpu})
      .aten(plan::Phase::forward, "aten::add.Tensor", {plan::t(noise), plan::t(x)}, {y})
      .returns(plan::t(y));
  candidate.tensor({kCount});
  candidate.tensor({kCount});
  const int k = candidate.kernel("k", {"x", "y"});
  candidate.input(plan::t(x))
      .aten(plan::Phase::forward, "aten::randn", {plan::ints({kCount})}, {noise},
            {language::kOnGpu})
      .launch(k, {plan::t(x), plan::t(noise)})
      .returns(plan::t(noise));
  Kernels kernels;
  language::FakeExecutor executor;
  executor.define("k", kernels.launching("adds"));
  const TimingOutcome outcome = timed(plan::analysis::with_draws_first(task.plan()),
                                      plan::analysis::with_draws_first(candidate.plan()), executor);
  ASSERT_FALSE(outcome.stop) << outcome.stop->error.message;
  EXPECT_TRUE(outcome.findings.empty()) << outcome.findings[0].message;
}

// cuDNN rounds to TF32 while both sides are timed, but in no trial.
TEST_F(FreshInputsTest, AConvolutionIsTimedAsPyTorchRunsIt) {
  plan::PlanBuilder task(plan::PlanRole::task);
  const int x = task.tensor({8, 64, 56, 56}), w = task.tensor({64, 64, 3, 3}),
            y = task.tensor({8, 64, 54, 54});
  task.aten(plan::Phase::init, "aten::randn", {plan::ints({64, 64, 3, 3})}, {w})
      .parameter("weight", w)
      .aten(plan::Phase::inputs, "aten::randn", {plan::ints({8, 64, 56, 56})}, {x})
      .input(plan::t(x))
      .aten(plan::Phase::forward, "aten::convolution",
            {plan::t(x), plan::t(w), plan::Value{plan::None{}}, plan::ints({1, 1}),
             plan::ints({0, 0}), plan::ints({1, 1}), plan::Value{false}, plan::ints({0, 0}),
             plan::i(1)},
            {y})
      .returns(plan::t(y));
  plan::PlanBuilder same = task;
  same.plan().role = plan::PlanRole::candidate;
  std::erase_if(same.plan().steps,
                [](const plan::PlanStep& step) { return step.phase == plan::Phase::inputs; });
  language::FakeExecutor executor;
  const TimingOutcome outcome = timed(task.plan(), same.plan(), executor);
  ASSERT_FALSE(outcome.stop) << outcome.stop->error.message;
  EXPECT_NEAR(outcome.timing->candidate.median / outcome.timing->reference.median, 1, 0.2);
}

TEST_F(FreshInputsTest, TheReferenceLeavesNothing) {
  const plan::PlanBuilder task = relu_task(), candidate = one_launch("aten::empty_like");
  Kernels kernels;
  language::FakeExecutor executor;
  executor.define("k", kernels.launching("computes"));
  trial::FinishedTrial trial =
      trial::finish_trial({.task = task.plan(), .candidate = candidate.plan(), .secret = "s"},
                          executor, *device::test_gpu());
  const trial::TrialResult& result = trial.result;
  ASSERT_FALSE(result.candidate_stop || result.reference_stop || result.difference);
  EXPECT_FALSE(is_forgotten(trial.sides.reference.tensors()[0])) << "the input stays";
  EXPECT_TRUE(is_forgotten(trial.sides.reference.tensors()[1]));
  EXPECT_TRUE(is_forgotten(trial.sides.reference.tensors()[2]));
}

// This also holds for memory that an operator fills again in each run.
TEST_F(FreshInputsTest, ARunFindsNothingOfTheOneBefore) {
  const c10::InferenceMode no_gradients(true);
  for (const std::string make : {"aten::empty_like", "aten::zeros_like", "aten::clone"}) {
    const plan::PlanBuilder candidate = one_launch(make);
    Kernels kernels;
    language::FakeExecutor executor;
    executor.define("k", kernels.launching("computes"));
    replay::Replay replay(candidate.plan(), executor, {.device = device::test_gpu()});
    replay.bind(0, at::randn({kCount}, floats()));
    ASSERT_FALSE(replay.run(plan::Phase::forward));
    TimedSide side(candidate.plan(), replay, *device::test_gpu(), {}, true);
    ASSERT_FALSE(side.run());
    const at::Tensor before = side.outputs().front();
    EXPECT_FALSE(is_forgotten(before));
    side.prepare(tensors::Filler::nan);
    EXPECT_TRUE(is_forgotten(before)) << make;
    EXPECT_FALSE(is_forgotten(replay.tensors()[0]));
  }
}

// Tensors that operators make for a kernel lie between guard zones, as empty memory does.
TEST_F(FreshInputsTest, SeesWritesBesideWhatAnOperatorFilled) {
  const plan::PlanBuilder candidate = one_launch("aten::zeros_like");
  language::FakeExecutor executor;
  executor.define("k", [](auto arguments) {
    device::test_gpu()->driver().memset_async(
        reinterpret_cast<CUdeviceptr>(gym::language::floats(arguments[1]) + kCount), 0, 4, nullptr);
    return language::LaunchOutcome{.loaded = {0}, .stored = {1}};
  });
  replay::Replay replay(candidate.plan(), executor, {.device = device::test_gpu()});
  replay.bind(0, at::randn({kCount}, floats()));
  ASSERT_FALSE(replay.run(plan::Phase::forward));
  EXPECT_TRUE(at::equal(replay.tensors()[1], at::zeros({kCount}, floats())));
  const auto error = device::test_gpu()->wait(Deadline::never());
  ASSERT_TRUE(error);
  EXPECT_EQ(error->error_class, ErrorClass::out_of_bounds);
}

TEST_F(FreshInputsTest, AnArchiveGivesBackWhatNobodyCanRead) {
  OutputArchive archive(*device::test_gpu(), "secret");
  const at::Tensor first = at::randn({1001}, floats());
  const at::Tensor second = at::randint(0, 2, {3, 5}, floats().dtype(at::kBool));
  const at::Tensor none = at::empty({0}, floats());
  archive.keep(std::array{first, second, none});
  archive.keep(std::array{second});
  ASSERT_EQ(archive.size(), 2U);
  const std::vector<at::Tensor> read = archive.read(0);
  ASSERT_EQ(read.size(), 3U);
  EXPECT_TRUE(at::equal(read[0], first) && at::equal(read[1], second));
  EXPECT_EQ(read[2].numel(), 0);
  EXPECT_TRUE(at::equal(archive.read(1).at(0), second));
  const at::Tensor kept = archive.masked(0).at(0).narrow(0, 0, 500).view(at::kInt);
  const at::Tensor same = kept.eq(first.narrow(0, 0, 1000).view(at::kInt)).sum();
  EXPECT_LE(same.item<std::int64_t>(), 1);
}

// A candidate that computes relu and then applies `op`, which changes few results or none.
plan::PlanBuilder relu_and(const std::string& op, std::vector<plan::Value> arguments) {
  plan::PlanBuilder candidate(plan::PlanRole::candidate);
  const int x = candidate.tensor({kCount}), h = candidate.tensor({kCount});
  const int chance = candidate.tensor({1}), more = candidate.tensor({1});
  const int y = candidate.tensor({kCount});
  arguments.insert(arguments.begin(), plan::t(chance));
  candidate.input(plan::t(x))
      .aten(plan::Phase::forward, "aten::relu", {plan::t(x)}, {h})
      .aten(plan::Phase::forward, "aten::rand", {plan::ints({1})}, {chance})
      .aten(plan::Phase::forward, op, std::move(arguments), {more})
      .aten(plan::Phase::forward, "aten::add.Tensor", {plan::t(h), plan::t(more)}, {y})
      .returns(plan::t(y));
  return candidate;
}

TEST_F(FreshInputsTest, EveryTimedOutputIsChecked) {
  const plan::PlanBuilder task = relu_task();
  language::FakeExecutor executor;
  const plan::PlanBuilder restless = relu_and("aten::mul.Scalar", {plan::f(1e-6)});
  const TimingOutcome fine = timed(task.plan(), restless.plan(), executor);
  EXPECT_FALSE(fine.stop) << fine.stop->error.message;
  EXPECT_TRUE(fine.timing);

  // This candidate is wrong in three runs of ten, and the secret decides in which. The test looks
  // for a secret under which the trial passes.
  const plan::PlanBuilder seldom = relu_and("aten::threshold", {plan::f(0.7), plan::f(0)});
  for (int k = 0; k < 50; ++k) {
    const std::string secret = std::to_string(k);
    trial::FinishedTrial trial = trial::finish_trial({.task = task.plan(),
                                                      .candidate = seldom.plan(),
                                                      .secret = secret,
                                                      .trial = 3,
                                                      .keeping = trial::StateKeeping::watched},
                                                     executor, *device::test_gpu());
    if (trial.result.difference) continue;
    const TimingOutcome outcome = time_trial(trial, *device::test_gpu(), {.seconds = 2});
    ASSERT_TRUE(outcome.stop);
    EXPECT_EQ(outcome.stop->error.error_class, ErrorClass::wrong_value);
    EXPECT_NE(outcome.stop->error.message.find("in a timed round"), std::string::npos)
        << outcome.stop->error.message;
    return;
  }
  FAIL() << "no trial was right";
}

}  // namespace
}  // namespace tritonsmith::gym::timing
