#include "gym/triton_ir/execute/result_grid.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "gym/triton_ir/kernel_program.h"

namespace tritonsmith::gym::triton_ir {
namespace {

template <typename T>
std::vector<T> numbers() {
  std::mt19937_64 random(5);
  std::normal_distribution<double> normal(0, 8);
  std::vector<T> values;
  for (int k = 0; k < 4000; ++k) values.push_back(static_cast<T>(std::exp(normal(random))));
  std::ranges::sort(values);
  return values;
}

template <typename T>
std::vector<T> rounded(const language::ResultRounding& by, std::vector<T> values) {
  round_to_grid(by, values.data(), values.size());
  return values;
}

template <typename T>
void keeps_its_promises() {
  for (const std::uint32_t width : {2U, 16U, 64U, 1024U}) {
    for (std::uint32_t round = 0; round < 4; ++round) {
      const language::ResultRounding by{.width = width, .round = round};
      const std::vector<T> before = numbers<T>(), after = rounded(by, before);
      EXPECT_TRUE(std::ranges::is_sorted(after)) << "greater numbers do not become less";
      EXPECT_EQ(rounded(by, after), after) << "a second call changes nothing";
      std::vector<T> negative = before;
      for (T& value : negative) value = -value;
      negative = rounded(by, negative);
      for (std::size_t k = 0; k < before.size(); ++k) {
        EXPECT_EQ(negative[k], -after[k]);
        EXPECT_LE(std::abs(after[k] - before[k]),
                  before[k] * static_cast<T>(width) * std::numeric_limits<T>::epsilon());
      }
    }
  }
}

TEST(ResultGrid, MovesNumbersByLessThanACell) {
  keeps_its_promises<float>();
  keeps_its_promises<double>();
}

TEST(ResultGrid, LeavesExactNumbers) {
  const std::vector<float> exact = {0,  1,         -1,       0.5F,     1e-40F,    0.1484375F, 1000,
                                    -7, 1e30F * 0, 65537.0F, INFINITY, -INFINITY, 1023.5F};
  EXPECT_EQ(rounded({.width = 64, .round = 3}, exact), exact);
  const std::vector<float> largest = rounded<float>({.width = 64, .round = 3}, {3.4028235e38F});
  EXPECT_TRUE(std::isfinite(largest[0]));
}

TEST(ResultGrid, DependsOnTheRound) {
  const std::vector<float> values = numbers<float>();
  EXPECT_NE(rounded({.width = 64, .round = 0}, values), rounded({.width = 64, .round = 1}, values));
  EXPECT_EQ(rounded({.width = 64, .round = 1}, values), rounded({.width = 64, .round = 1}, values));
}

// out = x + 1 - 1 for one number and one program, and out[1] = the bits of x as an integer.
constexpr std::string_view kKernel = R"(
module {
  tt.func public @k(%x_ptr: !tt.ptr<f32>, %out: !tt.ptr<f32>, %bits_ptr: !tt.ptr<i32>) {
    %one = arith.constant 1.000000e+00 : f32
    %x = tt.load %x_ptr : !tt.ptr<f32>
    %bits = tt.bitcast %x : f32 -> i32
    %y = arith.addf %x, %one : f32
    %z = arith.subf %y, %one : f32
    tt.store %out, %z : !tt.ptr<f32>
    tt.store %bits_ptr, %bits : !tt.ptr<i32>
    tt.return
  }
}
)";

float evaluated(float x, const language::ResultRounding& rounding) {
  auto program = parse_ttir(kKernel);
  if (!program) {
    ADD_FAILURE() << program.error().message;
    return 0;
  }
  float out = 0;
  std::int32_t bits = 0;
  Launch launch{.arguments = {PointerArgument{0}, PointerArgument{1}, PointerArgument{2}},
                .rounding = rounding};
  launch.buffers = {{.data = reinterpret_cast<std::byte*>(&x), .bytes = 4, .tensor = 0},
                    {.data = reinterpret_cast<std::byte*>(&out), .bytes = 4, .tensor = 1},
                    {.data = reinterpret_cast<std::byte*>(&bits), .bytes = 4, .tensor = 2}};
  const LaunchReport report = evaluate(*program, launch, {});
  EXPECT_EQ(report.status, LaunchStatus::completed) << report.message;
  return out;
}

TEST(ResultGrid, IsWhereEvaluationRoundsItsResults) {
  constexpr float x = 1e-3F;
  EXPECT_NEAR(evaluated(x, {}), x, 1e-7) << "the usual rounding";
  float spread = 0;
  for (std::uint32_t round = 0; round < 8; ++round)
    spread = std::max(spread, std::abs(evaluated(x, {.width = 64, .round = round}) - x));
  EXPECT_GT(spread, 1e-6) << "fewer digits of 1.001";
  EXPECT_LT(spread, 1e-5);
}

}  // namespace
}  // namespace tritonsmith::gym::triton_ir
