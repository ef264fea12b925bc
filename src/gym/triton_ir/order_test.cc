// Kernels whose programs depend on one another: their order, and what atomics order.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <set>

#include "gym/triton_ir/execute/program_scheduler.h"
#include "gym/triton_ir/kernel_program.h"

namespace tritonsmith::gym::triton_ir {
namespace {

using Kind = language::ProgramOrder::Kind;
constexpr std::array kKinds = {Kind::forwards, Kind::backwards, Kind::interleaved, Kind::shuffled,
                               Kind::lanes_apart};

// A kernel over integers x and flags f. `body` has the program's index as %pid.
class Programs {
 public:
  explicit Programs(std::string_view body, std::int64_t count) : count_(count) {
    text_ = fmt::format(R"(module {{
  tt.func public @k(%x: !tt.ptr<i32>, %f: !tt.ptr<i32>) {{
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %true = arith.constant true
    %pid = tt.get_program_id x : i32
    %mine = tt.addptr %x, %pid : !tt.ptr<i32>, i32
    %flag = tt.addptr %f, %pid : !tt.ptr<i32>, i32
    %next = tt.addptr %mine, %one : !tt.ptr<i32>, i32
    %next_flag = tt.addptr %flag, %one : !tt.ptr<i32>, i32
    {}
    tt.return
  }}
}}
)",
                        body);
  }
  LaunchReport run(language::ProgramOrder order, Budget budget = {}) {
    x.assign(static_cast<std::size_t>(count_) + 1, 0);
    flags.assign(static_cast<std::size_t>(count_) + 1, 0);
    flags.back() = 1;
    auto program = parse_ttir(text_);
    if (!program) {
      ADD_FAILURE() << program.error().message;
      return {};
    }
    Launch launch{.grid = {count_, 1, 1},
                  .arguments = {PointerArgument{0}, PointerArgument{1}},
                  .order = order};
    for (std::vector<std::int32_t>* each : {&x, &flags})
      launch.buffers.push_back({.data = reinterpret_cast<std::byte*>(each->data()),
                                .bytes = 4 * each->size(),
                                .tensor = static_cast<int>(launch.buffers.size()),
                                .element_bytes = 4});
    return evaluate(*program, launch, budget);
  }
  std::vector<std::int32_t> x, flags;

 private:
  std::string text_;
  std::int64_t count_;
};

// x[p] = x[p + 1] + 1
constexpr std::string_view kTakesFromTheNext = R"(
    %v = tt.load %next : !tt.ptr<i32>
    %w = arith.addi %v, %one : i32
    tt.store %mine, %w : !tt.ptr<i32>)";
// Waits until flags[p + 1] is set.
constexpr std::string_view kWaits = R"(
    scf.while : () -> () {
      %seen = tt.atomic_rmw add, acq_rel, gpu, %next_flag, %zero, %true : (!tt.ptr<i32>, i32, i1) -> i32
      %again = arith.cmpi eq, %seen, %zero : i32
      scf.condition(%again)
    } do {
      scf.yield
    })";
constexpr std::string_view kTells = R"(
    %was = tt.atomic_rmw exch, acq_rel, gpu, %flag, %one, %true : (!tt.ptr<i32>, i32, i1) -> i32)";
// x[0] += 1 without an atomic.
constexpr std::string_view kAddsPlainly = R"(
    %v = tt.load %x : !tt.ptr<i32>
    %w = arith.addi %v, %one : i32
    tt.store %x, %w : !tt.ptr<i32>)";

TEST(ProgramOrders, RunEachProgramOnce) {
  for (const std::array<std::int64_t, 3>& grid :
       {std::array<std::int64_t, 3>{1, 1, 1}, {2, 1, 1}, {5, 3, 2}, {64, 1, 3}, {0, 3, 1}})
    for (const Kind kind : kKinds) {
      std::set<std::array<std::int64_t, 3>> seen;
      std::vector<std::uint64_t> order;
      for (ProgramScheduler scheduler(grid, {.kind = kind, .seed = 7}); !scheduler.over();
           scheduler.next()) {
        seen.insert(scheduler.program());
        order.push_back(scheduler.index());
      }
      EXPECT_EQ(order.size(), static_cast<std::size_t>(grid[0] * grid[1] * grid[2]));
      EXPECT_EQ(seen.size(), order.size());
      EXPECT_TRUE(kind != Kind::forwards || std::ranges::is_sorted(order));
      EXPECT_TRUE(kind != Kind::backwards || std::ranges::is_sorted(order, std::greater<>()));
    }
}

TEST(ProgramOrder, WhatNeedsAnOrderDiffersInAnotherAndIsARace) {
  Programs programs(kTakesFromTheNext, 20);
  LaunchReport report = programs.run({});
  EXPECT_EQ(programs.x[0], 1);
  ASSERT_EQ(report.shared_elements.size(), 1u);
  EXPECT_EQ(report.shared_elements[0].elements, 18u);  // one was read before any write
  report = programs.run({.kind = Kind::backwards});
  EXPECT_EQ(programs.x[0], 20);
  ASSERT_EQ(report.shared_elements.size(), 1u);
  EXPECT_EQ(report.shared_elements[0].elements, 19u);
}

TEST(ProgramOrder, WhoWaitsForAnotherIsServedInEveryOrder) {
  Programs programs(fmt::format("{}{}{}", kWaits, kTakesFromTheNext, kTells), 300);
  for (const Kind kind : kKinds) {
    const LaunchReport report = programs.run({.kind = kind, .seed = 3});
    EXPECT_EQ(report.status, LaunchStatus::completed) << report.message;
    EXPECT_EQ(programs.x[0], 300);
    EXPECT_TRUE(report.shared_elements.empty());
    EXPECT_TRUE(report.unclear_elements.empty());
  }
}

TEST(ProgramOrder, WhoWaitsInVainRunsOutOfItsBudget) {
  Programs programs(kWaits, 2);  // no program sets flags[1]
  EXPECT_EQ(programs.run({}, {.op_elements = 1'000'000}).status,
            LaunchStatus::too_large_to_evaluate);
}

// Each program waits for the next one, and only the last waits for none.
TEST(ProgramOrder, MoreProgramsThanAGpuRunsMayNotWaitForLaterOnes) {
  Programs programs(fmt::format("{}{}{}", kWaits, kTakesFromTheNext, kTells), 300);
  EXPECT_EQ(programs.run({}, {.resident_programs = 300}).status, LaunchStatus::completed);
  const LaunchReport report = programs.run({}, {.resident_programs = 100});
  EXPECT_EQ(report.status, LaunchStatus::waits_for_ever);
  EXPECT_NE(report.message.find("100 programs wait"), std::string::npos) << report.message;
  EXPECT_EQ(programs.run({.kind = Kind::backwards}, {.resident_programs = 100}).status,
            LaunchStatus::completed);
}

TEST(ProgramOrder, BackwardsTheFirstOfTwoLanesWins) {
  Programs programs(R"(
    %lanes = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
    %to = tt.splat %x : !tt.ptr<i32> -> tensor<4x!tt.ptr<i32>>
    tt.store %to, %lanes : tensor<4x!tt.ptr<i32>>)",
                    1);
  EXPECT_EQ(programs.run({}).status, LaunchStatus::completed);
  EXPECT_EQ(programs.x[0], 3);
  EXPECT_EQ(programs.run({.kind = Kind::backwards}).status, LaunchStatus::completed);
  EXPECT_EQ(programs.x[0], 0);
}

TEST(Race, AToldFlagThatNobodyWaitsForOrdersNothing) {
  Programs programs(fmt::format("{}{}", kTakesFromTheNext, kTells), 20);
  EXPECT_EQ(programs.run({.kind = Kind::backwards}).shared_elements.size(), 1u);
}

TEST(Race, AnAtomicBesideAPlainAdditionExcusesNothing) {
  Programs programs(fmt::format(R"(
    %was = tt.atomic_rmw add, acq_rel, gpu, %x, %zero, %true : (!tt.ptr<i32>, i32, i1) -> i32{})",
                                kAddsPlainly),
                    20);
  const LaunchReport report = programs.run({});
  EXPECT_EQ(programs.x[0], 20);
  EXPECT_FALSE(report.shared_elements.empty());
}

TEST(Race, ALockOrdersWhatIsDoneUnderIt) {
  constexpr std::string_view take = R"(
    scf.while : () -> () {{
      %got = tt.atomic_cas acq_rel, gpu, %f, %zero, %one : (!tt.ptr<i32>, i32, i32) -> i32
      %again = arith.cmpi eq, %got, %one : i32
      scf.condition(%again)
    }} do {{
      scf.yield
    }}
    {}
    %freed = tt.atomic_rmw exch, {}, gpu, {}, %zero, %true : (!tt.ptr<i32>, i32, i1) -> i32)";
  Programs locked(fmt::format(take, kAddsPlainly, "release", "%f"), 20);
  for (const Kind kind : kKinds) {
    const LaunchReport report = locked.run({.kind = kind, .seed = 5});
    EXPECT_EQ(report.status, LaunchStatus::completed) << report.message;
    EXPECT_EQ(locked.x[0], 20);
    EXPECT_TRUE(report.shared_elements.empty());
    EXPECT_TRUE(report.double_writes.empty());
  }
  // A relaxed atomic frees the lock without publishing the work before it.
  Programs relaxed(fmt::format(take, kAddsPlainly, "relaxed", "%f"), 20);
  EXPECT_FALSE(relaxed.run({}).double_writes.empty());
}

TEST(Race, AtomicsOfOneProgramsScopeOrderNothingBetweenPrograms) {
  const auto narrow = [](std::string_view text) {
    std::string made(text);
    made.replace(made.find("gpu"), 3, "cta");
    return made;
  };
  Programs waits(fmt::format("{}{}{}", kWaits, kTakesFromTheNext, narrow(kTells)), 20);
  EXPECT_FALSE(waits.run({}).shared_elements.empty());
  constexpr std::string_view add = R"(
    %was = tt.atomic_rmw add, {}, cta, {}, %one, %true : (!tt.ptr<i32>, i32, i1) -> i32)";
  for (const std::string_view order : {"relaxed", "acq_rel"}) {
    Programs apart(fmt::format(add, order, "%mine"), 20);
    EXPECT_TRUE(apart.run({}).shared_elements.empty());
    Programs alone(fmt::format(add, order, "%x"), 1);
    EXPECT_TRUE(alone.run({}).shared_elements.empty());
    Programs together(fmt::format(add, order, "%x"), 20);
    const LaunchReport report = together.run({});
    ASSERT_EQ(report.shared_elements.size(), 1u);
    EXPECT_EQ(report.shared_elements[0].elements, 19u);
  }
}

TEST(Race, AnAtomicOfOneProgramsScopeIsNoneBesideOthers) {
  constexpr std::string_view both = R"(
    %wide = tt.atomic_rmw add, acq_rel, gpu, %x, %one, %true : (!tt.ptr<i32>, i32, i1) -> i32
    %narrow = tt.atomic_rmw add, relaxed, cta, %x, %one, %true : (!tt.ptr<i32>, i32, i1) -> i32)";
  EXPECT_FALSE(Programs(both, 4).run({}).shared_elements.empty());
  EXPECT_TRUE(Programs(both, 1).run({}).shared_elements.empty());
}

TEST(Race, AWriteBesideAtomicsOfOthersIsOne) {
  Programs programs(R"(
    %was = tt.atomic_rmw add, relaxed, gpu, %x, %one, %true : (!tt.ptr<i32>, i32, i1) -> i32
    %first = arith.cmpi eq, %pid, %zero : i32
    scf.if %first {
      tt.store %x, %zero : !tt.ptr<i32>
    })",
                    4);
  EXPECT_FALSE(programs.run({}).shared_elements.empty());
}

TEST(Race, AReadBesideAtomicsOfOthersIsOnlyNoted) {
  Programs programs(R"(
    %was = tt.atomic_rmw add, relaxed, gpu, %x, %one, %true : (!tt.ptr<i32>, i32, i1) -> i32
    %v = tt.load %x : !tt.ptr<i32>)",
                    4);
  const LaunchReport report = programs.run({});
  EXPECT_TRUE(report.shared_elements.empty());
  EXPECT_FALSE(report.unclear_elements.empty());
}

TEST(Race, InterleavedProgramsLoseWhatTwoAtomicsAdd) {
  Programs programs(R"(
    %v = tt.atomic_rmw add, acq_rel, gpu, %x, %zero, %true : (!tt.ptr<i32>, i32, i1) -> i32
    %w = arith.addi %v, %one : i32
    %was = tt.atomic_rmw exch, acq_rel, gpu, %x, %w, %true : (!tt.ptr<i32>, i32, i1) -> i32)",
                    100);
  programs.run({});
  EXPECT_EQ(programs.x[0], 100);
  programs.run({.kind = Kind::interleaved, .seed = 1});
  EXPECT_LT(programs.x[0], 100);
}

// Each program takes the largest number until now, and its own in its place if that is larger.
TEST(Race, ShuffledProgramsKeepAnotherNumberThanTheLargest) {
  Programs programs(R"(
    %i = arith.addi %pid, %one : i32
    %v = tt.atomic_rmw add, acq_rel, gpu, %x, %zero, %true : (!tt.ptr<i32>, i32, i1) -> i32
    %larger = arith.cmpi sgt, %i, %v : i32
    scf.if %larger {
      %was = tt.atomic_rmw exch, acq_rel, gpu, %x, %i, %true : (!tt.ptr<i32>, i32, i1) -> i32
    })",
                    9);
  programs.run({});
  EXPECT_EQ(programs.x[0], 9);
  int wrong = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    programs.run({.kind = Kind::shuffled, .seed = seed});
    wrong += programs.x[0] != 9 ? 1 : 0;
  }
  EXPECT_GT(wrong, 10);
}

// Stores a block forwards and loads it in the other order, with `between` between them.
std::vector<std::int32_t> loaded_in_reverse(std::string_view between,
                                            language::ProgramOrder order) {
  std::vector<std::int32_t> memory(256, 7);
  auto program = parse_ttir(fmt::format(R"(module {{
  tt.func public @k(%p: !tt.ptr<i32>) {{
    %last = arith.constant dense<127> : tensor<128xi32>
    %size = arith.constant dense<128> : tensor<128xi32>
    %range = tt.make_range {{end = 128 : i32, start = 0 : i32}} : tensor<128xi32>
    %other = arith.subi %last, %range : tensor<128xi32>
    %to = arith.addi %size, %range : tensor<128xi32>
    %q = tt.splat %p : !tt.ptr<i32> -> tensor<128x!tt.ptr<i32>>
    %a = tt.addptr %q, %range : tensor<128x!tt.ptr<i32>>, tensor<128xi32>
    %b = tt.addptr %q, %other : tensor<128x!tt.ptr<i32>>, tensor<128xi32>
    %c = tt.addptr %q, %to : tensor<128x!tt.ptr<i32>>, tensor<128xi32>
    tt.store %a, %range : tensor<128x!tt.ptr<i32>>
    {}
    %v = tt.load %b : tensor<128x!tt.ptr<i32>>
    tt.store %c, %v : tensor<128x!tt.ptr<i32>>
    tt.return
  }}
}}
)",
                                        between));
  if (!program) {
    ADD_FAILURE() << program.error().message;
    return {};
  }
  Launch launch{.grid = {1, 1, 1}, .arguments = {PointerArgument{0}}, .order = order};
  launch.buffers.push_back({.data = reinterpret_cast<std::byte*>(memory.data()),
                            .bytes = 4 * memory.size(),
                            .element_bytes = 4});
  EXPECT_EQ(evaluate(*program, launch, {}).status, LaunchStatus::completed);
  return {memory.begin() + 128, memory.end()};
}

TEST(Race, LanesThatAreApartSeeWhatOthersStoredOnlyAfterABarrier) {
  EXPECT_EQ(loaded_in_reverse("", {})[0], 127);
  EXPECT_EQ(loaded_in_reverse("", {.kind = Kind::lanes_apart})[0], 7);
  EXPECT_EQ(loaded_in_reverse("gpu.barrier", {.kind = Kind::lanes_apart})[0], 127);
}

TEST(Race, MoreFlagsThanAreKeptExcuseRatherThanAccuse) {
  Programs programs(fmt::format("{}{}{}", kWaits, kTakesFromTheNext, kTells), 3000);
  const LaunchReport report = programs.run({.kind = Kind::backwards});
  EXPECT_EQ(programs.x[0], 3000);
  EXPECT_TRUE(report.shared_elements.empty());
}

// A kernel whose one program stores `blocks` blocks of 1024 bytes from p on.
LaunchReport fill(std::vector<std::uint8_t>& memory, std::int64_t blocks, const Budget& budget) {
  auto program = parse_ttir(R"(module {
  tt.func public @k(%p: !tt.ptr<i8>) {
    %c = arith.constant 1024 : i32
    %v = arith.constant dense<1> : tensor<1024xi8>
    %pid = tt.get_program_id x : i32
    %first = arith.muli %pid, %c : i32
    %range = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32>
    %firsts = tt.splat %first : i32 -> tensor<1024xi32>
    %offsets = arith.addi %firsts, %range : tensor<1024xi32>
    %q = tt.splat %p : !tt.ptr<i8> -> tensor<1024x!tt.ptr<i8>>
    %to = tt.addptr %q, %offsets : tensor<1024x!tt.ptr<i8>>, tensor<1024xi32>
    tt.store %to, %v : tensor<1024x!tt.ptr<i8>>
    tt.return
  }
}
)");
  if (!program) {
    ADD_FAILURE() << program.error().message;
    return {};
  }
  Launch launch{.grid = {blocks, 1, 1}, .arguments = {PointerArgument{0}}};
  launch.buffers.push_back(
      {.data = reinterpret_cast<std::byte*>(memory.data()), .bytes = memory.size()});
  return evaluate(*program, launch, budget);
}

TEST(Race, TablesCountWhereTheyAreTouchedAndEndWhatIsTooLarge) {
  std::vector<std::uint8_t> memory(std::size_t{8} << 20);
  const Budget budget{.table_bytes = std::size_t{4} << 20};
  EXPECT_EQ(fill(memory, 1, budget).status, LaunchStatus::completed);
  const LaunchReport report = fill(memory, 8192, budget);
  EXPECT_EQ(report.status, LaunchStatus::too_large_to_evaluate);
  EXPECT_THAT(report.message, testing::HasSubstr("races"));
}

}  // namespace
}  // namespace tritonsmith::gym::triton_ir
