#include "gym/referee/rounding_errors.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <functional>
#include <memory>

#include "gym/language/testing/vector_plans.h"
#include "gym/trial/trial.h"

namespace tritonsmith::gym::referee {
namespace {

using language::ResultRounding;

// A kernel's function of one element. It passes each result to `rounded`.
using Rounded = std::function<float(float)>;
using Kernel = std::function<float(float x, const Rounded& rounded)>;

float to_grid(const ResultRounding& by, int result, float value) {
  const double cell = std::ldexp(by.width, std::ilogb(value) - 23);
  const double first = cell * std::fmod(0.618 * (by.round + 10 * result), 1);
  return static_cast<float>(std::floor((value + first) / cell) * cell - first);
}

// An executor that rounds as `by` says. Without it, as on a GPU, it rounds in one way only.
std::unique_ptr<language::KernelExecutor> executor_of(const Kernel& kernel,
                                                      const std::shared_ptr<ResultRounding>& by) {
  auto executor = std::make_unique<language::FakeExecutor>();
  if (by) executor->note_rounding(*by);
  executor->define("k", language::elementwise(language::kLength, [kernel, by](float x) {
                     int result = 0;
                     return kernel(x, [&](float value) {
                       ++result;
                       return by && !by->is_usual() ? to_grid(*by, result, value) : value;
                     });
                   }));
  return executor;
}

// Judges kernels for relu with 100 added to the inputs.
struct Judged {
  plan::PlanBuilder task = language::task_of("aten::relu"),
                    candidate = language::candidate_of_kernel();
  trial::TrialConfig config{.task = task.plan(),
                            .candidate = candidate.plan(),
                            .secret = "secret",
                            .kind = trial::Perturbation::shifted,
                            .memory_bytes = std::int64_t{1} << 30};

  bool are_rounding_errors(Equipment& equipment) {
    trial::TrialConfig telling = config;
    telling.purpose = trial::TrialPurpose::measure_errors;
    const auto result = trial::run_trial(telling, *equipment.executor, equipment.device);
    EXPECT_TRUE(result.difference) << "the kernel must be wrong";
    return result.errors && referee::are_rounding_errors(equipment, config, *result.errors);
  }
  bool on_cpu(const Kernel& kernel) {
    Equipment equipment(executor_of(kernel, std::make_shared<ResultRounding>()));
    return are_rounding_errors(equipment);
  }
  // The evaluator may run another kernel than the GPU does.
  bool on_gpu(const Kernel& kernel, const Kernel& evaluated) {
    Equipment equipment(executor_of(kernel, nullptr));
    if (evaluated)
      equipment.evaluator =
          std::make_unique<Equipment>(executor_of(evaluated, std::make_shared<ResultRounding>()));
    return are_rounding_errors(equipment);
  }
};

float weak(float x, const Rounded& rounded) {
  constexpr float large = 5e6F;
  return rounded(rounded(x + large) - large);
}

float noisy(float x, const Rounded& rounded) {
  const float loaded = rounded(x);
  const auto bits = std::bit_cast<std::uint32_t>(loaded) * 0x9e3779b1U;
  return rounded(loaded * (1 + 0.01F * (static_cast<float>(bits >> 16U) / 65536.0F - 0.5F)));
}

TEST(RoundingErrors, TheCpuAcceptsWeakKernelsAndRefusesNoise) {
  EXPECT_TRUE(Judged().on_cpu(weak));
  EXPECT_FALSE(Judged().on_cpu(noisy));
}

TEST(RoundingErrors, TheEvaluatorTellsForAGpu) {
  EXPECT_TRUE(Judged().on_gpu(weak, weak));
  EXPECT_FALSE(Judged().on_gpu(noisy, noisy));
}

// Nudges take noise for rounding, but refuse nothing that is weak.
TEST(RoundingErrors, NudgesTellForAGpuWhereTheEvaluatorCannot) {
  const Kernel right = [](float x, const Rounded&) { return x; };
  EXPECT_TRUE(Judged().on_gpu(noisy, nullptr)) << "there is no evaluator";
  EXPECT_TRUE(Judged().on_gpu(noisy, right)) << "a GPU may compute in another way";
  EXPECT_FALSE(Judged().on_gpu([](float x, const Rounded&) { return 1.01F * x; }, right));
}

// With 5 bits less it gives NaN, as the root of a variance does that becomes negative.
TEST(RoundingErrors, NudgesTellForAKernelThatBreaksWithFewerDigits) {
  const Kernel breaks = [](float x, const Rounded& rounded) {
    return rounded(2 * x) == 2 * x ? noisy(x, rounded) : std::nanf("");
  };
  EXPECT_TRUE(Judged().on_cpu(breaks));
  EXPECT_TRUE(Judged().on_gpu(breaks, breaks));
}

}  // namespace
}  // namespace tritonsmith::gym::referee
