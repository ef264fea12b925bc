#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "gym/triton_ir/kernel_program.h"

namespace tritonsmith::gym::triton_ir {
namespace {

using testing::HasSubstr;

// out[i] = 2 * x[i] for 8 elements per program. Line 7 loads, and line 9 stores.
std::string doubling(std::string_view mask_from) {
  return fmt::format(R"(
#loc = loc("candidate.py":3:0)
#loc1 = loc("candidate.py":7:16)
#loc2 = loc("candidate.py":9:4)
module {{
  tt.func public @double(%x_ptr: !tt.ptr<f32> loc("x_ptr"(#loc)), %out: !tt.ptr<f32> loc("out"(#loc)), %n: i32 loc("n"(#loc))) attributes {{noinline = false}} {{
    %c8 = arith.constant 8 : i32 loc(#loc)
    %two = arith.constant dense<2.000000e+00> : tensor<8xf32> loc(#loc)
    %pid = tt.get_program_id x : i32 loc(#loc)
    %first = arith.muli %pid, %c8 : i32 loc(#loc)
    %range = tt.make_range {{end = 8 : i32, start = 0 : i32}} : tensor<8xi32> loc(#loc)
    %offsets = tt.splat %first : i32 -> tensor<8xi32> loc(#loc)
    %offsets_0 = arith.addi %offsets, %range : tensor<8xi32> loc(#loc)
    %limit = tt.splat {} : i32 -> tensor<8xi32> loc(#loc)
    %mask = arith.cmpi slt, %offsets_0, %limit : tensor<8xi32> loc(#loc)
    %x = tt.splat %x_ptr : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>> loc(#loc1)
    %x_1 = tt.addptr %x, %offsets_0 : tensor<8x!tt.ptr<f32>>, tensor<8xi32> loc(#loc1)
    %x_2 = tt.load %x_1, %mask : tensor<8x!tt.ptr<f32>> loc("x"(#loc1))
    %y = arith.mulf %x_2, %two : tensor<8xf32> loc(#loc)
    %o = tt.splat %out : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>> loc(#loc2)
    %o_3 = tt.addptr %o, %offsets_0 : tensor<8x!tt.ptr<f32>>, tensor<8xi32> loc(#loc2)
    tt.store %o_3, %y, %mask : tensor<8x!tt.ptr<f32>> loc(#loc2)
    tt.return loc(#loc2)
  }} loc(#loc)
}} loc(#loc)
)",
                     mask_from);
}

class Doubling : public testing::Test {
 protected:
  LaunchReport run(const std::string& text, std::int64_t programs, const Budget& budget = {}) {
    auto program = parse_ttir(text);
    if (!program) {
      ADD_FAILURE() << program.error().message;
      return {};
    }
    for (std::size_t i = 0; i < x_.size(); ++i) x_[i] = static_cast<float>(i);
    Launch launch{.grid = {programs, 1, 1},
                  .arguments = {PointerArgument{0}, PointerArgument{1}, std::int64_t{20}}};
    launch.buffers.push_back(buffer(x_, 4));
    launch.buffers.push_back(buffer(out_, 9));
    launch.buffers[1].written = written_;
    return evaluate(*program, launch, budget);
  }
  Buffer buffer(std::vector<float>& values, int tensor) const {
    return {.data = reinterpret_cast<std::byte*>(values.data()),
            .bytes = 4 * values.size(),
            .tensor = tensor,
            .name = name_,
            .element_bytes = 4};
  }
  std::vector<float> x_ = std::vector<float>(20), out_ = std::vector<float>(20, -1.0f);
  std::vector<std::uint8_t> written_ = std::vector<std::uint8_t>(20);
  std::string_view name_;  // of both buffers
};

TEST_F(Doubling, ComputesWhatTheMaskAllows) {
  LaunchReport report = run(doubling("%n"), 3);
  EXPECT_EQ(report.status, LaunchStatus::completed) << report.message;
  for (std::size_t i = 0; i < 20; ++i) EXPECT_EQ(out_[i], 2.0f * static_cast<float>(i));
  EXPECT_EQ(report.elements_written, (std::vector<std::uint64_t>{0, 20}));
  EXPECT_TRUE(report.double_writes.empty());
}

TEST_F(Doubling, AnAccessPastTheEndNamesBufferElementProgramAndLine) {
  std::string text = doubling("%big");
  text.replace(text.find("    %c8 ="), 0, "    %big = arith.constant 2147483647 : i32\n");
  LaunchReport report = run(text, 3);
  EXPECT_EQ(report.status, LaunchStatus::out_of_bounds);
  ASSERT_EQ(report.violations.size(), 2u);
  const Violation& load = report.violations[0];
  EXPECT_EQ(load.kind, ViolationKind::load);
  EXPECT_EQ(load.tensor, 4);
  EXPECT_EQ(load.element, 20);
  EXPECT_EQ(load.program[0], 2);
  EXPECT_EQ(load.at.line, 7);
  EXPECT_EQ(load.times, 4u);
  EXPECT_EQ(report.violations[1].kind, ViolationKind::store);
  EXPECT_EQ(report.violations[1].at.line, 9);
  EXPECT_EQ(report.message,
            "reads 4 elements past tensor 4 at line 7 (element 20 of 20, program (2, 0, 0))");
  EXPECT_THAT(report.violations[1].message, HasSubstr("writes 4 elements past tensor 9 at line 9"));
  EXPECT_EQ(report.at.line, 7);
  name_ = "`x`";
  EXPECT_THAT(run(text, 3).message, HasSubstr("reads 4 elements past `x` at line 7 ("));
}

TEST_F(Doubling, ElementsThatNoProgramWroteStayUnmarked) {
  LaunchReport report = run(doubling("%n"), 2);
  EXPECT_EQ(report.elements_written[1], 16u);
  EXPECT_EQ(std::count(written_.begin(), written_.end(), 1), 16);
  EXPECT_EQ(written_[15], 1);
  EXPECT_EQ(written_[16], 0);
}

TEST_F(Doubling, TwoProgramsThatWriteOneElementAreNamed) {
  std::string text = doubling("%n");
  text.replace(text.find("arith.muli %pid, %c8"), 20, "arith.divsi %pid, %c8");
  LaunchReport report = run(text, 3);
  EXPECT_EQ(report.status, LaunchStatus::completed);
  ASSERT_EQ(report.double_writes.size(), 1u);
  EXPECT_EQ(report.double_writes[0].tensor, 9);
  EXPECT_EQ(report.double_writes[0].elements, 16u);
  EXPECT_EQ(report.double_writes[0].conflicting, 0u);  // all wrote the same value
  EXPECT_EQ(report.double_writes[0].program[0], 1);
  EXPECT_EQ(report.double_writes[0].at.line, 9);
}

TEST_F(Doubling, ABudgetEndsIt) {
  LaunchReport report = run(doubling("%n"), 3, Budget{.op_elements = 100});
  EXPECT_EQ(report.status, LaunchStatus::too_large_to_evaluate);
  EXPECT_THAT(report.message, HasSubstr("100 element operations"));
}

TEST_F(Doubling, AnUnknownOperationIsNamedWithItsLine) {
  std::string text = doubling("%n");
  text.replace(text.find("arith.mulf"), 10, "fancy.mulf");
  auto program = parse_ttir(text);
  ASSERT_TRUE(program) << program.error().message;
  ASSERT_TRUE(program->refusal());
  EXPECT_EQ(program->refusal()->operation, "fancy.mulf");
  LaunchReport report = run(text, 3);
  EXPECT_EQ(report.status, LaunchStatus::not_evaluable);
  EXPECT_THAT(report.message, HasSubstr("fancy.mulf"));
}

TEST_F(Doubling, ALaunchThatDoesNotFitIsRefused) {
  auto program = parse_ttir(doubling("%n"));
  ASSERT_TRUE(program);
  Launch launch{.arguments = {std::int64_t{1}, std::int64_t{1}, std::int64_t{1}}};
  EXPECT_EQ(evaluate(*program, launch).status, LaunchStatus::bad_launch);
  launch.arguments = {PointerArgument{7}, PointerArgument{0}, std::int64_t{1}};
  EXPECT_EQ(evaluate(*program, launch).status, LaunchStatus::bad_launch);
}

std::string function(std::string_view arguments, std::string_view body) {
  return fmt::format("module {{\n  tt.func public @f({}) {{\n{}\n  }}\n}}\n", arguments, body);
}

TEST(Evaluate, AnEndlessLoopEndsByTheDeadline) {
  auto program = parse_ttir(function("%x: i1", R"(
    scf.while : () -> () {
      scf.condition(%x)
    } do {
      scf.yield
    }
    tt.return)"));
  ASSERT_TRUE(program) << program.error().message;
  Launch launch{.arguments = {std::int64_t{1}}};
  Budget budget{.op_elements = ~0ull, .deadline = Deadline::after(std::chrono::milliseconds(50))};
  EXPECT_EQ(evaluate(*program, launch, budget).status, LaunchStatus::too_large_to_evaluate);
}

TEST(Evaluate, AFailedAssertionIsReported) {
  for (const auto& [operation, says] :
       {std::pair("tt.assert %x, \"x must hold\" : i1", "x must hold"),
        std::pair("llvm.intr.assume %x : i1", "tl.assume")}) {
    auto program = parse_ttir(function("%x: i1", fmt::format("    {}\n    tt.return", operation)));
    ASSERT_TRUE(program) << program.error().message;
    LaunchReport report = evaluate(*program, {.arguments = {std::int64_t{0}}});
    EXPECT_EQ(report.status, LaunchStatus::assertion_failed);
    EXPECT_THAT(report.message, HasSubstr(says));
    EXPECT_EQ(evaluate(*program, {.arguments = {std::int64_t{1}}}).status, LaunchStatus::completed);
  }
}

TEST(Evaluate, APointerIntoNoBufferIsAViolation) {
  auto program = parse_ttir(function("%p: !tt.ptr<i32>, %o: i64", R"(
    %q = tt.addptr %p, %o : !tt.ptr<i32>, i64
    %v = tt.load %q : !tt.ptr<i32>
    tt.return)"));
  ASSERT_TRUE(program) << program.error().message;
  std::array<std::int32_t, 4> memory{};
  for (std::int64_t offset : {-1ll, 4ll, 1ll << 40, -(1ll << 60), (1ll << 62) - 1}) {
    Launch launch{.arguments = {PointerArgument{0}, std::int64_t{offset}}};
    launch.buffers.push_back({.data = reinterpret_cast<std::byte*>(memory.data()),
                              .bytes = 16,
                              .tensor = 0,
                              .element_bytes = 4});
    EXPECT_EQ(evaluate(*program, launch).status, LaunchStatus::out_of_bounds) << offset;
  }
}

// The row's number of the largest size, by a combine function that calls one with three returns.
constexpr std::string_view kLargestSize = R"(
module {
  tt.func private @larger(%a: f32, %b: f32) -> f32 attributes {noinline = false} {
    %l = math.absf %a : f32
    %r = math.absf %b : f32
    %is_more = arith.cmpf ogt, %l, %r : f32
    cf.cond_br %is_more, ^bb1, ^bb2(%r : f32)
  ^bb1:
    tt.return %l : f32
  ^bb2(%size: f32):
    %is_less = arith.cmpf olt, %l, %size : f32
    cf.cond_br %is_less, ^bb3, ^bb4
  ^bb3:
    tt.return %size : f32
  ^bb4:
    cf.br ^bb1
  }
  tt.func public @largest(%x: !tt.ptr<f32>, %out: !tt.ptr<f32>) attributes {noinline = false} {
    %r = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %p = tt.splat %x : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
    %q = tt.addptr %p, %r : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
    %v = tt.load %q : tensor<16x!tt.ptr<f32>>
    %m = "tt.reduce"(%v) <{axis = 0 : i32}> ({
    ^bb0(%k: f32, %l: f32):
      %o = tt.call @larger(%k, %l) : (f32, f32) -> f32
      tt.reduce.return %o : f32
    }) : (tensor<16xf32>) -> f32
    tt.store %out, %m : !tt.ptr<f32>
    tt.return
  }
}
)";

TEST(Evaluate, ACombineFunctionMayCallAFunctionWithBranches) {
  auto program = parse_ttir(kLargestSize);
  ASSERT_TRUE(program) << program.error().message;
  ASSERT_FALSE(program->refusal()) << program->refusal()->message;
  for (std::size_t position = 0; position < 16; ++position) {
    std::array<float, 16> x{};
    for (std::size_t k = 0; k < x.size(); ++k) x[k] = static_cast<float>(k % 5) - 2;
    x[position] = -7;
    float largest = 0;
    Launch launch{.arguments = {PointerArgument{0}, PointerArgument{1}}};
    launch.buffers.push_back({.data = reinterpret_cast<std::byte*>(x.data()),
                              .bytes = sizeof(x),
                              .tensor = 0,
                              .element_bytes = 4});
    launch.buffers.push_back({.data = reinterpret_cast<std::byte*>(&largest),
                              .bytes = sizeof(largest),
                              .tensor = 1,
                              .element_bytes = 4});
    const LaunchReport report = evaluate(*program, launch);
    EXPECT_EQ(report.status, LaunchStatus::completed) << report.message;
    EXPECT_EQ(largest, 7.0f) << position;
  }
}

TEST(Evaluate, ACombineFunctionThatLoopsIsNamed) {
  std::string text(kLargestSize);
  const std::string back = "  ^bb4:\n    cf.br ^bb1";
  text.replace(text.find(back), back.size(), "  ^bb4:\n    cf.br ^bb2(%l : f32)");
  auto program = parse_ttir(text);
  ASSERT_TRUE(program) << program.error().message;
  ASSERT_TRUE(program->refusal());
  EXPECT_THAT(program->refusal()->message, HasSubstr("a loop in a combine function"));
}

}  // namespace
}  // namespace tritonsmith::gym::triton_ir
