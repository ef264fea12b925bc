#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "gym/cuda/fused_oracles.h"
#include "gym/cuda/nvml.h"
#include "gym/device/cuda_device.h"
#include "gym/device/testing/gpu_fixture.h"
#include "gym/language/registry/languages.h"
#include "gym/referee/testing/reports.h"
#include "gym/replay/replay.h"
#include "gym/timing/timed_side.h"
#include "gym/trial/perturb/input_changes.h"

namespace tritonsmith::gym::referee {
namespace {

using device::CudaDeviceTest;

TEST_F(CudaDeviceTest, DrawsTheSameAfterTheSameSeed) {
  device::test_gpu()->seed(7);
  const at::Tensor first = at::randn({1000}, floats());
  device::test_gpu()->seed(7);
  EXPECT_TRUE(at::equal(first, at::randn({1000}, floats())));
  EXPECT_FALSE(at::equal(first, at::randn({1000}, floats())));
}

TEST_F(CudaDeviceTest, FillsWhatIsUnwrittenAndSeesWritesBesideIt) {
  const at::Tensor filled = device::test_gpu()->filled(at::empty({3, 5}, floats()));
  EXPECT_TRUE(filled.isnan().all().item<bool>());
  EXPECT_FALSE(device::test_gpu()->wait(Deadline::never()));
  const auto behind = reinterpret_cast<CUdeviceptr>(filled.const_data_ptr()) + filled.nbytes();
  device::test_gpu()->driver().memset_async(behind, 0, 4, nullptr);
  const auto error = device::test_gpu()->wait(Deadline::never());
  ASSERT_TRUE(error);
  EXPECT_EQ(error->error_class, ErrorClass::out_of_bounds);
  EXPECT_NE(error->message.find("4 bytes"), std::string::npos);
  EXPECT_FALSE(device::test_gpu()->spent());
}

TEST_F(CudaDeviceTest, PlausibleMemoryHoldsZerosAndOtherNumbers) {
  device::test_gpu()->set_filler(tensors::Filler::plausible);
  const at::Tensor filled = device::test_gpu()->filled(at::empty({400}, floats()));
  EXPECT_EQ(filled.eq(0).sum().item<std::int64_t>(), 100);
  EXPECT_EQ(filled.gt(12).sum().item<std::int64_t>(), 300);
  device::test_gpu()->set_filler(tensors::Filler::nan);
}

// The assertion ends the context, so another process makes it fail.
TEST_F(CudaDeviceTest, AnAssertionOfLibTorchSpendsIt) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto assert_on_gpu = [] {
    try {
      const at::Tensor beyond = at::full({4}, 2.0, floats());
      at::binary_cross_entropy(beyond, at::zeros_like(beyond)).item<float>();
    } catch (const std::exception&) {
      ::_exit(device::test_gpu()->spent() ? 0 : 1);
    }
    ::_exit(2);
  };
  EXPECT_FALSE(device::test_gpu()->spent());
  EXPECT_EXIT(assert_on_gpu(), testing::ExitedWithCode(0), "");
}

TEST_F(CudaDeviceTest, WideGuardsSeeWritesFarBeside) {
  constexpr std::size_t far = 8 << 20;
  for (const bool wide : {false, true}) {
    device::test_gpu()->guard_with(wide ? device::CudaDevice::kWideGuard
                                        : device::CudaDevice::kNarrowGuard);
    device::test_gpu()->begin(tensors::Filler::nan, 0);
    const at::Tensor room = at::zeros({4 * static_cast<std::int64_t>(far)}, floats());
    const at::Tensor filled = device::test_gpu()->filled(at::empty({1000}, floats()));
    if (wide)
      device::test_gpu()->driver().memset_async(
          reinterpret_cast<CUdeviceptr>(filled.const_data_ptr()) + far, 0, 4, nullptr);
    EXPECT_EQ(device::test_gpu()->wait(Deadline::never()).has_value(), wide);
  }
  device::test_gpu()->guard_with(device::CudaDevice::kNarrowGuard);
}

// Tests the measured quality of a reference, and that a comparison of other tensors measures anew.
TEST_F(CudaDeviceTest, MeasuresAReference) {
  const at::Tensor exact = at::randn({50'001}, floats().dtype(at::kDouble));
  at::Tensor reference = exact.to(at::kFloat);
  const compare::ReferenceQuality sound = device::test_gpu()->measure(reference, exact);
  EXPECT_TRUE(sound.is_finite);
  EXPECT_NEAR(sound.own_error, compare::own_error(reference.cpu(), exact.cpu()), 1e-12);
  const at::Tensor off = reference + 3e-5;
  Numerics numerics;
  const compare::CompareOptions how{.tolerance = compare::tolerance_of(at::kFloat),
                                    .device = device::test_gpu()};
  EXPECT_FALSE(compare::compare_tensors("output", off, reference, exact, how, numerics));
  reference[7] = std::numeric_limits<float>::infinity();
  EXPECT_FALSE(device::test_gpu()->measure(reference, exact).is_finite);
}

TEST_F(CudaDeviceTest, TellsAnyChangedByte) {
  for (const std::int64_t count : {1, 15, 16, 17, 100'003}) {
    at::Tensor bytes = at::randint(0, 256, {count}, floats().dtype(at::kByte));
    const device::Snapshot before = device::test_gpu()->snapshots({&bytes, 1}).front();
    EXPECT_TRUE(device::test_gpu()->unchanged(bytes.clone(), before));
    at::Tensor last = bytes.narrow(0, count - 1, 1);
    last.bitwise_xor_(1);
    EXPECT_FALSE(device::test_gpu()->unchanged(bytes, before)) << count;
    bytes.fill_(0xff);  // what fills memory that nobody wrote
    const device::Snapshot ones = device::test_gpu()->snapshots({&bytes, 1}).front();
    bytes.zero_();
    EXPECT_FALSE(device::test_gpu()->unchanged(bytes, ones)) << count;
  }
}

// The print is that of the bytes before, whatever the length and wherever the block begins.
TEST_F(CudaDeviceTest, AFingerprintThatFillsIsThatOfTheBytesBefore) {
  cuda::DeviceKernels& kernels = device::test_gpu()->kernels();
  for (const std::int64_t count : {1, 15, 16, 17, 4096, 100'005})
    for (const std::int64_t from : {0, 1, 16}) {
      const at::Tensor all = at::randint(256, {count + 64}, at::dtype(at::kByte).device(at::kCUDA));
      const at::Tensor block = all.narrow(0, from, count);
      const cuda::Bytes bytes{block.const_data_ptr(), static_cast<std::size_t>(count)};
      const at::Tensor behind = all.narrow(0, from + count, 64 - from).clone();
      const auto before = kernels.fingerprints({&bytes, 1}, 5, Deadline::never());
      kernels.clear_rounds(0, 1);
      kernels.add_fingerprint(bytes, 5, 0, std::uint8_t{0xa5});
      kernels.bring_rounds(0, 1);
      ASSERT_TRUE(before && kernels.finish(Deadline::never()));
      EXPECT_EQ(kernels.rounds()[0], before->front()) << count << " from " << from;
      EXPECT_TRUE(block.eq(0xa5).all().item<bool>()) << count << " from " << from;
      EXPECT_TRUE(at::equal(behind, all.narrow(0, from + count, 64 - from)));
    }
}

TEST_F(CudaDeviceTest, CountsChangedBytesWhereverAZoneBegins) {
  for (const std::int64_t length : {1, 15, 16, 17, 31, 4096, 1'000'003})
    for (const std::int64_t from : {0, 1, 15}) {
      const at::Tensor all = at::full({length + 64}, 7, at::dtype(at::kByte).device(at::kCUDA));
      const at::Tensor zone = all.narrow(0, from, length);
      all.narrow(0, 0, from).fill_(1);
      all.narrow(0, from + length, 64 - from).fill_(1);
      const void* const begin = zone.const_data_ptr();
      const auto changed = [&] {
        return device::test_gpu()
            ->kernels()
            .count_changed({&begin, 1}, static_cast<std::size_t>(length), 7, Deadline::never())
            .value();
      };
      EXPECT_EQ(changed(), 0) << length << " from " << from;
      zone[length - 1].fill_(8);
      EXPECT_EQ(changed(), 1) << length << " from " << from;
      zone.fill_(0);
      EXPECT_EQ(changed(), length) << length << " from " << from;
    }
}

// The device and the CPU must compare values of all kinds alike.
TEST_F(CudaDeviceTest, ComparesAsTheCpuDoes) {
  for (const auto dtype : {at::kFloat, at::kDouble, at::kHalf, at::kBFloat16}) {
    const at::Tensor exact = at::randn({40'001}, at::kDouble);
    const at::Tensor reference = exact.to(dtype);
    at::Tensor candidate = (exact + 3e-5 * at::randn({40'001}, at::kDouble)).to(dtype);
    candidate[7] = std::numeric_limits<double>::quiet_NaN();
    candidate[40'000] = 100;
    const auto both = [&](const at::Tensor& tensor, compare::DeviceComparison* device, auto target,
                          Numerics& numerics) {
      return compare::compare_tensors(
          "output", tensor.to(target), reference.to(target), exact.to(target),
          {.tolerance = compare::tolerance_of(dtype), .device = device}, numerics);
    };
    for (const at::Tensor& tensor : {candidate, reference}) {
      Numerics here, there;
      const auto cpu_error = both(tensor, nullptr, at::kCPU, here);
      const auto gpu_error = both(tensor, device::test_gpu(), at::kCUDA, there);
      ASSERT_EQ(cpu_error.has_value(), gpu_error.has_value());
      if (cpu_error) {
        // Only the CPU looks for the worst element.
        const std::string here_text = cpu_error->message;
        EXPECT_EQ(here_text.substr(0, here_text.find("; the worst")), gpu_error->message);
      }
      EXPECT_DOUBLE_EQ(here.max_abs, there.max_abs);
      EXPECT_NEAR(here.max_rel, there.max_rel, 1e-12 * here.max_rel);
    }
  }
}

// Outputs that the device finds wrong are compared once more if the reference is coarse.
TEST_F(CudaDeviceTest, LetsBeWhoIsAboutAsExactAsACoarseReference) {
  const at::Tensor exact = at::linspace(0, 3, 64, floats().dtype(at::kDouble)).cos();
  const at::Tensor sign = at::arange(64, floats()).remainder(2) * 2 - 1;
  const at::Tensor reference = (exact + 5e-5 * sign).to(at::kFloat);
  const compare::CompareOptions how{.tolerance = compare::tolerance_of(at::kFloat),
                                    .device = device::test_gpu()};
  const auto compare = [&](const at::Tensor& off, Numerics& numerics) {
    return compare::compare_tensors("output", off.to(at::kFloat), reference, exact, how, numerics);
  };
  Numerics like, unlike;
  EXPECT_FALSE(compare(exact - 2e-4 * sign, like));
  EXPECT_GT(like.tolerance_extension, 2e-4);
  EXPECT_TRUE(compare(exact - 1e-3 * sign, unlike));
  EXPECT_EQ(unlike.tolerance_extension, 0);
}

// The budget also applies if a type's own rounding is the reference's only error.
TEST_F(CudaDeviceTest, HasABudgetIn16Bits) {
  const at::Tensor exact = at::softmax(at::rand({8, 4096}, floats().dtype(at::kDouble)), -1);
  for (const auto half : {at::kHalf, at::kBFloat16}) {
    const at::Tensor reference = exact.to(half), zeros = at::zeros_like(reference);
    const compare::CompareOptions how{.tolerance = compare::tolerance_of(half),
                                      .device = device::test_gpu()};
    EXPECT_FALSE(device::test_gpu()->judge(zeros, reference, {.values = exact}, how).is_right);
    EXPECT_TRUE(device::test_gpu()->judge(reference, reference, {.values = exact}, how).is_right);
    Numerics numerics;
    EXPECT_TRUE(compare::compare_tensors("output", zeros, reference, exact, how, numerics));
    EXPECT_FALSE(compare::compare_tensors("output", reference, reference, exact, how, numerics));
  }
}

// The close comparison must find right whatever the single pass finds right. The single pass must
// be sure about most right outputs.
TEST_F(CudaDeviceTest, JudgesInOnePassByTheSameRules) {
  for (const auto dtype : {at::kFloat, at::kBFloat16}) {
    const at::Tensor exact = at::randn({40'004}, floats().dtype(at::kDouble));
    const at::Tensor reference = exact.to(dtype);
    const compare::Tolerance tolerance = compare::tolerance_of(dtype);
    int right = 0, wrong = 0;
    int step = 0;
    for (double error = 0.01; error < 100; error *= 1.5) {
      const at::Tensor off = exact + error * tolerance.value * at::randn_like(exact);
      const auto rule = step++ % 2 == 0 ? Comparison::budget : Comparison::allclose;
      const compare::CompareOptions how{
          .rule = rule, .tolerance = tolerance, .device = device::test_gpu()};
      const compare::QuickJudgement quick =
          device::test_gpu()->judge(off.to(dtype), reference, {.values = exact}, how);
      Numerics numerics;
      const auto closely =
          compare::compare_tensors("output", off.to(dtype), reference, exact, how, numerics);
      EXPECT_EQ(quick.is_right, !closely) << error;
      EXPECT_DOUBLE_EQ(quick.max_abs, numerics.max_abs);
      EXPECT_DOUBLE_EQ(quick.max_rel, numerics.max_rel);
      EXPECT_NEAR(quick.reference.own_error,
                  device::test_gpu()->measure(reference, exact).own_error, 1e-12);
      ++(quick.is_right ? right : wrong);
    }
    EXPECT_GT(right, 3);
    EXPECT_GT(wrong, 3);
    at::Tensor special = reference.clone();
    special[5] = std::numeric_limits<double>::quiet_NaN();
    EXPECT_FALSE(device::test_gpu()->judge(special, reference, {.values = exact}, {}).is_right);
    EXPECT_TRUE(device::test_gpu()->judge(special, special, {.values = exact}, {}).is_right);
  }
}

TEST_F(CudaDeviceTest, HasNoBudgetByAllclose) {
  const at::Tensor exact = at::full({4096}, 1e-6, floats().dtype(at::kDouble));
  const at::Tensor reference = exact.to(at::kFloat), zeros = at::zeros_like(reference);
  for (const Comparison rule : {Comparison::budget, Comparison::allclose}) {
    const bool passes = rule == Comparison::allclose;
    const compare::CompareOptions how{
        .rule = rule, .tolerance = compare::tolerance_of(at::kFloat), .device = device::test_gpu()};
    EXPECT_EQ(device::test_gpu()->judge(zeros, reference, {.values = exact}, how).is_right, passes);
    Numerics numerics;
    EXPECT_EQ(!compare::compare_tensors("output", zeros, reference, exact, how, numerics), passes);
  }
}

// Compares results that a kernel computes in registers with LibTorch's own operators in float64.
TEST_F(CudaDeviceTest, FusedOraclesGiveWhatLibTorchDoes) {
  const auto executor = language::make_gpu_executor(device::test_gpu()->driver());
  cuda::FusedOracles oracles(device::test_gpu()->driver(), device::test_gpu()->nvrtc(),
                             device::test_gpu()->facts().target);
  constexpr std::int64_t n = (1 << 20) + 4;
  const at::Tensor x = 4 * at::randn({n}, floats());
  const auto check = [&](const std::string& op, std::vector<plan::Value> arguments) {
    plan::PlanBuilder task(plan::PlanRole::task);
    const int in = task.tensor({n}), out = task.tensor({n});
    arguments.insert(arguments.begin(), plan::t(in));
    task.input(plan::t(in)).aten(plan::Phase::forward, op, arguments, {out}).returns(plan::t(out));
    EXPECT_FALSE(oracles.find(task.plan()));
    oracles.finish();
    const auto fused = oracles.find(task.plan());
    ASSERT_TRUE(fused) << op;
    replay::Replay exact(task.plan(), *executor,
                         {.precision = replay::Precision::float64, .device = device::test_gpu()});
    exact.bind(in, x.to(at::kDouble));
    ASSERT_FALSE(exact.run(plan::Phase::forward)) << op;
    const at::Tensor expected = exact.tensors()[1], reference = expected.to(at::kFloat);
    const auto quick =
        device::test_gpu()->judge(reference, reference, {.fused = &*fused, .leaves = {x}}, {});
    const compare::ReferenceQuality measured = device::test_gpu()->measure(reference, expected);
    EXPECT_EQ(quick.reference.is_finite, measured.is_finite) << op;
    EXPECT_TRUE(quick.is_right) << op;
    if (std::isfinite(measured.own_error)) {
      EXPECT_NEAR(quick.reference.own_error, measured.own_error, 1e-12) << op;
    } else {
      EXPECT_FALSE(std::isfinite(quick.reference.own_error)) << op;
    }
  };
  for (const char* op :
       {"relu", "sigmoid", "tanh", "silu",     "gelu",       "mish",   "exp",        "expm1",
        "log",  "log1p",   "sqrt", "rsqrt",    "abs",        "square", "reciprocal", "neg",
        "sin",  "cos",     "erf",  "softplus", "leaky_relu", "elu",    "hardtanh"})
    check(fmt::format("aten::{}", op), {});
  check("aten::softplus", {plan::f(2), plan::f(3)});
  check("aten::elu", {plan::f(0.5), plan::f(1.5), plan::f(2)});
  check("aten::clamp", {plan::f(-1), plan::Value{plan::None{}}});
  check("aten::clamp_min", {plan::f(0.5)});
  check("aten::clamp_max", {plan::f(0.5)});
  check("aten::pow.Tensor_Scalar", {plan::i(3)});
  check("aten::add.Tensor", {plan::f(0.3)});
  check("aten::sub.Tensor", {plan::f(0.3)});
  check("aten::mul.Tensor", {plan::f(0.3)});
  check("aten::div.Tensor", {plan::f(0.3)});
  check("aten::rsub.Scalar", {plan::f(0.3), plan::i(2)});
}

TEST_F(CudaDeviceTest, ChangesCopiesAndRemembersInOnePass) {
  const at::Tensor x = at::randn({100, 1000}, floats());
  for (const device::InputChange& change : {device::InputChange{},
                                            {.factor = -1.7},
                                            {.shift = 4},
                                            {.factor = 2, .kept = 0.2, .seed = 9}}) {
    std::array inputs = {device::DrawnInput{.drawn = x.clone(), .change = change}};
    ASSERT_TRUE(device::test_gpu()->change_and_copy(inputs));
    ASSERT_FALSE(device::test_gpu()->wait(Deadline::never()));
    const auto& [drawn, ignored, copy] = inputs[0];
    EXPECT_TRUE(at::equal(drawn, copy));
    EXPECT_EQ(device::test_gpu()->copied(0).print,
              device::test_gpu()->snapshots({&drawn, 1}).front().print);
    at::Tensor expected = x.clone();
    if (change.kept < 1) {
      const at::Tensor kept = drawn.ne(0);
      EXPECT_NEAR(kept.to(at::kFloat).mean().item<double>(), change.kept, 0.01);
      expected.mul_(kept.to(at::kFloat)).mul_(change.factor);
    } else {
      trial::change_input(change, expected);
    }
    EXPECT_TRUE(at::equal(drawn, expected));
  }
  std::array whole = {device::DrawnInput{.drawn = x.narrow(0, 0, 50)}};
  EXPECT_FALSE(device::test_gpu()->change_and_copy(whole)) << "others share its memory";
}

TEST_F(CudaDeviceTest, DrawsNormalAndUniformNumbers) {
  device::test_gpu()->seed(3);
  const std::vector<std::int64_t> sizes = {1 << 12, 1 << 10};
  const at::Tensor normal = *device::test_gpu()->draw(device::Distribution::normal, sizes);
  const at::Tensor uniform = *device::test_gpu()->draw(device::Distribution::uniform, sizes);
  EXPECT_NEAR(normal.mean().item<double>(), 0, 2e-3);
  EXPECT_NEAR(normal.var().item<double>(), 1, 3e-3);
  EXPECT_NEAR(normal.lt(-1).to(at::kFloat).mean().item<double>(), 0.15866, 1e-3);
  EXPECT_NEAR(normal.gt(2).to(at::kFloat).mean().item<double>(), 0.02275, 5e-4);
  EXPECT_GT(normal.abs().max().item<double>(), 4.5);
  EXPECT_NEAR(uniform.mean().item<double>(), 0.5, 1e-3);
  EXPECT_NEAR(uniform.var().item<double>(), 1.0 / 12, 1e-3);
  EXPECT_GE(uniform.min().item<double>(), 0);
  EXPECT_LT(uniform.max().item<double>(), 1);
  EXPECT_NEAR((normal.narrow(1, 0, 512) * normal.narrow(1, 512, 512)).mean().item<double>(), 0,
              3e-3);
  device::test_gpu()->seed(3);
  EXPECT_TRUE(at::equal(normal, *device::test_gpu()->draw(device::Distribution::normal, sizes)));
  EXPECT_FALSE(at::equal(normal, *device::test_gpu()->draw(device::Distribution::normal, sizes)));
}

TEST_F(CudaDeviceTest, JudgesAndTimesAPlanOfOperators) {
  constexpr std::int64_t n = 1 << 20;
  plan::PlanBuilder task(plan::PlanRole::task), candidate(plan::PlanRole::candidate);
  const int x = task.tensor({n}), y = task.tensor({n});
  task.aten(plan::Phase::inputs, "aten::randn", {plan::ints({n})}, {x})
      .input(plan::t(x))
      .aten(plan::Phase::forward, "aten::relu", {plan::t(x)}, {y})
      .returns(plan::t(y));
  const int own = candidate.tensor({n}), made = candidate.tensor({n});
  candidate.input(plan::t(own))
      .aten(plan::Phase::forward, "aten::clamp_min", {plan::t(own), plan::i(0)}, {made})
      .returns(plan::t(made));
  Referee referee(device::CudaDevice::open(0).value());
  ASSERT_TRUE(referee.add_task("t", plan_json(task)));
  const RefereeReport report = referee.judge({.task_key = "t",
                                              .candidate_plan = plan_json(candidate),
                                              .secret = "s",
                                              .policy = Policy::open});
  ASSERT_TRUE(report.correct) << error_message(report);
  ASSERT_TRUE(report.timing);
  EXPECT_GT(report.timing->candidate.median, 0);
  EXPECT_GT(report.timing->reference.n, 9);
  EXPECT_EQ(report.timing->coverage, 0);
  EXPECT_EQ(report.timing->steps.at(0).op, "aten::clamp_min");
  if (cuda::load_nvml()) {
    ASSERT_TRUE(report.timing->clocks) << "the driver tells clocks";
    EXPECT_GT(report.timing->clocks->sm_mhz, 100);
    EXPECT_LT(report.timing->clocks->sm_mhz, 5000);
    EXPECT_GT(report.timing->clocks->memory_mhz, 100);
  }
  const RefereeReport untimed = referee.judge({.task_key = "t",
                                               .candidate_plan = plan_json(candidate),
                                               .secret = "s",
                                               .trials = 4,
                                               .policy = Policy::open,
                                               .budget = {.timing_seconds = 0}});
  EXPECT_TRUE(untimed.correct) << error_message(untimed);
  EXPECT_FALSE(untimed.timing);
  EXPECT_EQ(untimed.numerics->trials, 4);
}

// lint_test.cc tests the linter's rules themselves.
TEST_F(CudaDeviceTest, LooksAtATaskAsTheCpuDoes) {
  Referee referee(device::CudaDevice::open(0).value());
  for (const std::int64_t n : {std::int64_t{64}, std::int64_t{1} << 22})
    for (const double scale : {0.0, 1.0}) {
      plan::PlanBuilder task(plan::PlanRole::task);
      const int x = task.tensor({n}), y = task.tensor({n}), unused = task.tensor({n});
      task.aten(plan::Phase::inputs, "aten::randn", {plan::ints({n})}, {x})
          .aten(plan::Phase::inputs, "aten::randn", {plan::ints({n})}, {unused})
          .input(plan::t(x))
          .input(plan::t(unused))
          .aten(plan::Phase::forward, "aten::mul.Scalar", {plan::t(x), plan::f(scale)}, {y})
          .returns(plan::t(y));
      const std::string key = fmt::format("{} {}", n, scale);
      ASSERT_TRUE(referee.add_task(key, plan_json(task)));
      const RefereeReport report = referee.judge({.task_key = key, .secret = "s"});
      EXPECT_EQ(has_rule(report, "task_zeros_pass"), scale == 0) << key;
      EXPECT_TRUE(has_rule(report, "task_ignores_input")) << key;
      EXPECT_FALSE(has_rule(report, "task_not_linted")) << key;
    }
}

// There are two sets of buffers. A run finds its set poisoned, and the other set is poisoned
// before the next run.
TEST_F(CudaDeviceTest, TimedRunsAlternateBetweenPoisonedBuffers) {
  const c10::InferenceMode no_gradients(true);
  constexpr std::int64_t n = 1 << 23;
  plan::PlanBuilder candidate(plan::PlanRole::candidate);
  const int x = candidate.tensor({n}), y = candidate.tensor({n}), made = candidate.tensor({n});
  candidate.input(plan::t(x))
      .aten(plan::Phase::forward, "aten::empty_like", {plan::t(x)}, {y})
      .aten(plan::Phase::forward, "aten::copy_", {plan::t(y), plan::t(x)}, {made})
      .returns(plan::t(y));
  const auto executor = language::make_gpu_executor(device::test_gpu()->driver());
  replay::Replay replay(candidate.plan(), *executor, {.device = device::test_gpu()});
  const at::Tensor input = at::randn({n}, floats());
  replay.bind(x, input);
  ASSERT_FALSE(replay.run(plan::Phase::forward));
  timing::TimedSide side(candidate.plan(), replay, *device::test_gpu(), {}, true);
  side.alternate_buffers();
  at::Tensor before = side.outputs().front();
  for (int round = 0; round < 3; ++round) {
    side.prepare(tensors::Filler::nan);
    EXPECT_EQ(side.poison_others(tensors::Filler::nan), n * 4)
        << "the trial's, or the round's before";
    const at::Tensor now = side.outputs().front();
    EXPECT_NE(now.const_data_ptr(), before.const_data_ptr());
    EXPECT_TRUE(now.isnan().all().item<bool>() && before.isnan().all().item<bool>());
    ASSERT_FALSE(side.run());
    EXPECT_TRUE(at::equal(now, input));
    EXPECT_TRUE(before.isnan().all().item<bool>());
    before = now;
  }
  EXPECT_FALSE(device::test_gpu()->wait(Deadline::never()));
}

// This test runs last, because it loses the GPU's context.
TEST_F(CudaDeviceTest, ZzzGivesUpOnAKernelThatDoesNotEnd) {
  ASSERT_EQ(device::test_gpu()->kernels().launch_endless(), CUDA_SUCCESS);
  const auto error = device::test_gpu()->wait(Deadline::after(std::chrono::milliseconds(50)));
  ASSERT_TRUE(error);
  EXPECT_EQ(error->error_class, ErrorClass::timeout);
  EXPECT_TRUE(device::test_gpu()->spent());
  // No driver function may be called again, because it would wait for the kernel. So this last test
  // prints what GoogleTest would print.
  const ::testing::UnitTest& all = *::testing::UnitTest::GetInstance();
  const int passed = all.successful_test_count();  // this test counts as long as it has not failed
  std::printf("[  PASSED  ] %d of %d tests.\n", passed, all.test_to_run_count());
  std::fflush(nullptr);
  std::_Exit(passed == all.test_to_run_count() ? 0 : 1);
}

}  // namespace
}  // namespace tritonsmith::gym::referee
