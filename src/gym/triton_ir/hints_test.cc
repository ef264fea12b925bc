#include "gym/triton_ir/hints/hints.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <numeric>

#include "base/rng.h"
#include "gym/triton_ir/hints/axis_analysis.h"
#include "gym/triton_ir/kernel_program.h"
#include "gym/triton_ir/syntax/parser.h"

namespace tritonsmith::gym::triton_ir {
namespace {

using testing::HasSubstr;
constexpr int kLanes = 16;

// out[r] = x[index[r]] for the lanes below n. Line 7 has the hints, and line 9 loads.
std::string gathering(std::string_view index_hints, std::string_view mask_hints = "") {
  return fmt::format(R"(
#loc = loc("candidate.py":3:0)
#loc1 = loc("candidate.py":7:16)
#loc2 = loc("candidate.py":9:4)
module {{
  tt.func public @gather(%x: !tt.ptr<f32> {{tt.divisibility = 16 : i32}} loc("x"(#loc)), %index: !tt.ptr<i32> loc("i"(#loc)), %out: !tt.ptr<f32> loc("o"(#loc)), %n: i32 loc("n"(#loc))) attributes {{noinline = false}} {{
    %r = tt.make_range {{end = 16 : i32, start = 0 : i32}} : tensor<16xi32> loc(#loc)
    %ip = tt.splat %index : !tt.ptr<i32> -> tensor<16x!tt.ptr<i32>> loc(#loc)
    %ip_0 = tt.addptr %ip, %r : tensor<16x!tt.ptr<i32>>, tensor<16xi32> loc(#loc)
    %i = tt.load %ip_0 {{{}}} : tensor<16x!tt.ptr<i32>> loc(#loc1)
    %limit = tt.splat %n : i32 -> tensor<16xi32> loc(#loc)
    %mask = arith.cmpi slt, %r, %limit {{{}}} : tensor<16xi32> loc(#loc1)
    %xp = tt.splat %x : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>> loc(#loc)
    %xp_1 = tt.addptr %xp, %i : tensor<16x!tt.ptr<f32>>, tensor<16xi32> loc(#loc)
    %v = tt.load %xp_1, %mask : tensor<16x!tt.ptr<f32>> loc(#loc2)
    %op = tt.splat %out : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>> loc(#loc)
    %op_2 = tt.addptr %op, %r : tensor<16x!tt.ptr<f32>>, tensor<16xi32> loc(#loc)
    tt.store %op_2, %v, %mask : tensor<16x!tt.ptr<f32>> loc(#loc2)
    tt.return loc(#loc)
  }} loc(#loc)
}} loc(#loc)
)",
                     index_hints, mask_hints);
}

std::string hint(std::string_view name, std::int64_t number) {
  return fmt::format("tt.{} = dense<{}> : tensor<1xi32>", name, number);
}
std::string run_of(std::int64_t length) {
  return hint("contiguity", length) + ", " + hint("divisibility", length);
}
// A compiler lowers the width to what the mask allows, so a mask must be called constant as well.
std::string steady_mask() { return hint("constancy", kLanes); }

class Gathering {
 public:
  LaunchReport run(const std::string& text, std::vector<std::int32_t> index, std::int64_t lanes,
                   std::int64_t x_offset = 0) {
    auto program = parse_ttir(text);
    if (!program) {
      ADD_FAILURE() << program.error().message;
      return {};
    }
    std::iota(x_.begin(), x_.end(), 0.0f);
    out_.assign(kLanes, -1.0f);
    Launch launch{
        .arguments = {PointerArgument{0, x_offset}, PointerArgument{1}, PointerArgument{2}, lanes}};
    launch.buffers = {buffer(x_, 0), buffer(index, 1), buffer(out_, 2)};
    return evaluate(*program, launch, {});
  }
  float out(std::size_t lane) const { return out_[lane]; }
  void shorten_to(std::size_t elements) { x_.resize(elements); }

 private:
  template <typename T>
  static Buffer buffer(std::vector<T>& values, int tensor) {
    return {.data = reinterpret_cast<std::byte*>(values.data()),
            .bytes = sizeof(T) * values.size(),
            .tensor = tensor,
            .element_bytes = sizeof(T)};
  }
  std::vector<float> x_ = std::vector<float>(256), out_;
};

std::vector<std::int32_t> counting_from(std::int32_t first) {
  std::vector<std::int32_t> index(kLanes);
  std::iota(index.begin(), index.end(), first);
  return index;
}

TEST(Hints, TrueOnesChangeNothing) {
  Gathering gathered;
  const LaunchReport report =
      gathered.run(gathering(run_of(16), steady_mask()), counting_from(32), kLanes);
  EXPECT_EQ(report.status, LaunchStatus::completed) << report.message;
  for (std::size_t k = 0; k < kLanes; ++k)
    EXPECT_EQ(gathered.out(k), 32.0f + static_cast<float>(k));
}

TEST(Hints, FalseContiguitySpoilsTheLanesThatAGpuMayReadElsewhere) {
  std::vector<std::int32_t> index = counting_from(0);
  std::swap(index[5], index[6]);
  Gathering gathered;
  const LaunchReport report = gathered.run(gathering(run_of(4), steady_mask()), index, kLanes);
  EXPECT_EQ(report.status, LaunchStatus::completed) << report.message;
  ASSERT_EQ(report.false_hints.size(), 1U);
  EXPECT_THAT(report.false_hints[0].message,
              HasSubstr("false hint: because of the hint in line 7, a GPU accesses 4"));
  EXPECT_EQ(report.false_hints[0].at.line, 9);
  EXPECT_EQ(gathered.out(4), 4.0f) << "the first of the four is read by its own address";
  EXPECT_EQ(gathered.out(3), 3.0f);
  EXPECT_TRUE(std::isnan(gathered.out(5)));
  for (const std::size_t lane : {6U, 7U}) EXPECT_EQ(std::abs(gathered.out(lane)), 224.0f) << lane;
  EXPECT_EQ(gathered.run(gathering(""), index, kLanes).false_hints.size(), 0U);
}

TEST(Hints, WhatAGpuReadsBesideAFalseHintMustLieInTheTensor) {
  std::vector<std::int32_t> index = counting_from(0);
  index[0] = 252;  // the last four elements
  Gathering gathered;
  EXPECT_EQ(gathered.run(gathering(run_of(4), steady_mask()), index, kLanes).status,
            LaunchStatus::completed);
  gathered.shorten_to(254);
  EXPECT_EQ(gathered.run(gathering(run_of(4), steady_mask()), index, kLanes).status,
            LaunchStatus::out_of_bounds);
}

TEST(Hints, FalseDivisibilityIsAMisalignedAccess) {
  Gathering gathered;
  const auto end_of = [&](const std::string& hints, int first) {
    return gathered.run(gathering(hints, steady_mask()), counting_from(first), kLanes).status;
  };
  EXPECT_EQ(end_of(run_of(16), 2), LaunchStatus::assertion_failed);
  EXPECT_EQ(end_of(run_of(2), 2), LaunchStatus::completed);
  EXPECT_EQ(end_of(hint("contiguity", 16), 2), LaunchStatus::completed)
      << "without divisibility a compiler accesses single elements";
}

TEST(Hints, ThatAreFalseWhereNoLaneIsUsedAreHarmless) {
  std::vector<std::int32_t> index = counting_from(0);
  index[13] = index[14] = 99;
  Gathering gathered;
  const std::string text = gathering(run_of(4), hint("constancy", 4));
  EXPECT_EQ(gathered.run(text, index, 12).false_hints.size(), 0U);
  EXPECT_EQ(gathered.run(text, index, 16).false_hints.size(), 1U);
}

TEST(Hints, AMaskThatIsCalledConstantMustBe) {
  Gathering gathered;
  const std::string text = gathering(run_of(4), hint("constancy", 4));
  EXPECT_EQ(gathered.run(text, counting_from(0), 8).status, LaunchStatus::completed);
  // GPUs compute one comparison for four lanes: the first one's.
  const LaunchReport report = gathered.run(text, counting_from(0), 10);
  ASSERT_EQ(report.false_hints.size(), 1U);
  EXPECT_EQ(report.false_hints[0].at.line, 7);
  EXPECT_EQ(gathered.out(9), 9.0f);
  EXPECT_EQ(gathered.out(10), 10.0f) << "lane 8 decides for lane 10";
}

TEST(Hints, WithoutAnyTheKernelHasNone) {
  const auto module = parse_module(gathering(""));
  ASSERT_TRUE(module);
  EXPECT_EQ(Hints::of(*module), nullptr);
}

TEST(Hints, ALaunchMustPassWhatTheKernelWasCompiledFor) {
  Gathering gathered;
  EXPECT_EQ(gathered.run(gathering(""), counting_from(0), kLanes, 16).status,
            LaunchStatus::completed);
  const LaunchReport report = gathered.run(gathering(""), counting_from(0), kLanes, 4);
  EXPECT_EQ(report.status, LaunchStatus::bad_launch);
  EXPECT_THAT(report.message, HasSubstr("argument 0 that is a multiple of 16 bytes"));
}

// Rows of `index` in runs: whether a claim holds, and how it ends, must agree for any claim.
TEST(Hints, AnAccessEndsAsTheWidthThatTheyClaimDeserves) {
  rc::check("random runs and claims", [](std::uint64_t seed) {
    Rng rng(seed, "hints", 0);
    std::vector<std::int32_t> index(kLanes);
    const std::size_t run = std::size_t{1} << rng.below(4);
    for (std::size_t k = 0; k < kLanes; k += run) {
      const auto first = static_cast<std::int32_t>(rng.below(16) << rng.below(4));
      for (std::size_t j = 0; j < run; ++j) index[k + j] = first + static_cast<std::int32_t>(j);
    }
    const auto length = std::int64_t{1} << rng.below(5), divisor = std::int64_t{1} << rng.below(5);
    const auto lanes = static_cast<std::int64_t>(4 * rng.below(5));
    const std::int64_t width = std::min({length, divisor, std::int64_t{4}});
    bool is_aligned = true, is_run = true;
    for (std::int64_t k = 0; k < lanes; k += width) {
      const std::int32_t first = index[static_cast<std::size_t>(k)];
      bool is_one = true;
      for (std::int64_t j = 0; j < width; ++j)
        is_one &= index[static_cast<std::size_t>(k + j)] == first + j;
      is_aligned &= first % width == 0;
      is_run &= is_one;
    }
    Gathering gathered;
    const LaunchReport report =
        gathered.run(gathering(hint("contiguity", length) + ", " + hint("divisibility", divisor),
                               hint("constancy", 4)),
                     index, lanes);
    RC_ASSERT((report.status == LaunchStatus::completed) == is_aligned);
    if (!is_aligned) return;
    RC_ASSERT(report.false_hints.empty() == is_run);
    for (std::int64_t k = 0; k < lanes; ++k) {
      const auto own = static_cast<float>(index[static_cast<std::size_t>(k)]);
      if (is_run || k % width == 0) RC_ASSERT(gathered.out(static_cast<std::size_t>(k)) == own);
    }
  });
}

// A kernel that computes 16 whole numbers in a few random steps and stores them.
class RandomNumbers {
 public:
  explicit RandomNumbers(std::uint64_t seed) : rng_(seed, "axes", 0) {
    text_ = R"(module {
  tt.func public @numbers(%out: !tt.ptr<i32>, %n: i32 {tt.divisibility = 16 : i32}, %m: i32) attributes {noinline = false} {
)";
    for (const std::string scalar : {"%n", "%m"})
      add(fmt::format("tt.splat {} : i32 -> tensor<16xi32>", scalar));
    for (const int start : {0, 8, 5})
      add(fmt::format("tt.make_range {{end = {} : i32, start = {} : i32}} : tensor<16xi32>",
                      start + 16, start));
    for (const int number : {1, 2, 3, 4, 8, 16, 24})
      constants_.push_back(add(fmt::format("arith.constant dense<{}> : tensor<16xi32>", number)));
    for (int step = 0; step < 5; ++step) add_step();
    text_ += fmt::format(R"(    %p = tt.splat %out : !tt.ptr<i32> -> tensor<16x!tt.ptr<i32>>
    %r = tt.make_range {{end = 16 : i32, start = 0 : i32}} : tensor<16xi32>
    %q = tt.addptr %p, %r : tensor<16x!tt.ptr<i32>>, tensor<16xi32>
    tt.store %q, {} : tensor<16x!tt.ptr<i32>>
    tt.return
  }}
}}
)",
                         values_.back());
  }
  const std::string& text() const { return text_; }

 private:
  std::string add(const std::string& operation) {
    values_.push_back(fmt::format("%v{}", values_.size()));
    text_ += fmt::format("    {} = {}\n", values_.back(), operation);
    return values_.back();
  }
  const std::string& any(const std::vector<std::string>& of) { return of[rng_.below(of.size())]; }
  void add_step() {
    static const std::vector<std::string> of_both = {"addi", "subi",  "muli", "andi",
                                                     "ori",  "maxui", "minui"};
    static const std::vector<std::string> by_constant = {"divui", "remui", "shli", "shrui", "muli"};
    const std::string left = any(values_), right = any(values_), number = any(constants_);
    switch (rng_.below(3)) {
      case 0:
        add(fmt::format("arith.{} {}, {} : tensor<16xi32>", any(of_both), left, right));
        break;
      case 1:
        add(fmt::format("arith.{} {}, {} : tensor<16xi32>", any(by_constant), left, number));
        break;
      default: {
        text_ += fmt::format("    %c{} = arith.cmpi {}, {}, {} : tensor<16xi32>\n", values_.size(),
                             rng_.below(2) == 0 ? "ult" : "ule", left, number);
        add(fmt::format("arith.select %c{}, {}, {} : tensor<16xi1>, tensor<16xi32>", values_.size(),
                        left, right));
      }
    }
  }
  Rng rng_;
  std::string text_;
  std::vector<std::string> values_, constants_;
};

// Tells what is known of the value that the module's only store stores.
AxisInfo stored_axes(const std::string& text) {
  const auto module = parse_module(text);
  if (!module) {
    ADD_FAILURE() << module.error().message;
    return {};
  }
  const auto known = analyse_axes(*module, HintsCount::no);
  AxisInfo found;
  for_each_operation(module->functions[0].body, [&](const Operation& operation) {
    if (operation.name == "tt.store")
      found = (*known)[static_cast<std::size_t>(operation.operands[1])];
  });
  return found;
}

TEST(Axes, HoldOfTheValuesThatAKernelComputes) {
  rc::check("random arithmetic", [](std::uint64_t seed, std::uint8_t m) {
    const std::string text = RandomNumbers(seed).text();
    std::vector<std::uint32_t> out(kLanes);
    auto program = parse_ttir(text);
    RC_ASSERT(program.has_value());
    Launch launch{.arguments = {PointerArgument{0}, std::int64_t{48}, std::int64_t{m}}};
    launch.buffers = {{.data = reinterpret_cast<std::byte*>(out.data()), .bytes = 4 * out.size()}};
    RC_ASSERT(evaluate(*program, launch, {}).status == LaunchStatus::completed);
    const AxisInfo known = stored_axes(text);
    RC_ASSERT(known.rank() == 1U);
    const auto run = std::min<std::int64_t>(known.contiguity[0], kLanes);
    const auto same = std::min<std::int64_t>(known.constancy[0], kLanes);
    // Divisibility is of use for runs and for equal elements alone.
    const std::int64_t divisor =
        run > 1 || same == kLanes ? std::min<std::int64_t>(known.divisibility[0], 1 << 20) : 1;
    for (std::int64_t k = 0; k < kLanes; ++k) {
      const auto at = [&](std::int64_t i) { return out[static_cast<std::size_t>(i)]; };
      RC_ASSERT(at(k) == at(k - k % run) + static_cast<std::uint32_t>(k % run));
      RC_ASSERT(at(k - k % run) % static_cast<std::uint32_t>(divisor) == 0U);
      RC_ASSERT(at(k) == at(k - k % same));
    }
  });
}

TEST(Axes, OfAPointerThatALoopMovesHoldInEachRound) {
  const auto end_of = [](int step, std::int64_t lanes) {
    const std::string text = fmt::format(R"(module {{
  tt.func public @walk(%x: !tt.ptr<f32> {{tt.divisibility = 16 : i32}}) attributes {{noinline = false}} {{
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c4 = arith.constant 4 : i32
    %step = arith.constant dense<{}> : tensor<16xi32>
    %one = arith.constant dense<1.0> : tensor<16xf32>
    %r = tt.make_range {{end = 16 : i32, start = 0 : i32, tt.divisibility = dense<16> : tensor<1xi32>}} : tensor<16xi32>
    %h = arith.muli %r, %step {{tt.contiguity = dense<16> : tensor<1xi32>, tt.divisibility = dense<16> : tensor<1xi32>}} : tensor<16xi32>
    %p = tt.splat %x : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
    %q = tt.addptr %p, %h : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
    %next = arith.constant dense<{}> : tensor<16xi32>
    %end = scf.for %i = %c0 to %c4 step %c1 iter_args(%a = %q) -> (tensor<16x!tt.ptr<f32>>)  : i32 {{
      tt.store %a, %one : tensor<16x!tt.ptr<f32>>
      %b = tt.addptr %a, %next : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
      scf.yield %b : tensor<16x!tt.ptr<f32>>
    }}
    tt.return
  }}
}}
)",
                                         step, lanes);
    std::vector<float> x(1024);
    auto program = parse_ttir(text);
    EXPECT_TRUE(program) << program.error().message;
    Launch launch{.arguments = {PointerArgument{0}}};
    launch.buffers = {{.data = reinterpret_cast<std::byte*>(x.data()), .bytes = 4 * x.size()}};
    return evaluate(*program, launch, {}).status;
  };
  EXPECT_EQ(end_of(1, 16), LaunchStatus::completed);
  EXPECT_EQ(end_of(2, 16), LaunchStatus::assertion_failed);
  // By steps of 1 the pointers lose their alignment, and no compiler accesses several at once.
  EXPECT_EQ(end_of(2, 1), LaunchStatus::completed);
}

}  // namespace
}  // namespace tritonsmith::gym::triton_ir
