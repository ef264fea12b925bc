#include "gym/triton_ir/syntax/accessed_arguments.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

namespace tritonsmith::gym::triton_ir {
namespace {

using Indices = std::vector<int>;

Indices stored_arguments(std::string_view ttir) { return accessed_arguments(ttir).stored; }

std::string kernel(std::string_view body, std::string_view more = "") {
  return fmt::format(
      "module {{\n  tt.func public @k(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>, %n: i32) {{\n{}\n    "
      "tt.return\n  }}\n{}}}\n",
      body, more);
}

TEST(AccessedArguments, AreThoseThatAStoresPointerIsMadeFrom) {
  EXPECT_EQ(stored_arguments(kernel(R"(
    %range = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
    %from = tt.splat %x : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
    %from_1 = tt.addptr %from, %range : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
    %values = tt.load %from_1 : tensor<8x!tt.ptr<f32>>
    %to = tt.splat %y : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
    %to_1 = tt.addptr %to, %range : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
    tt.store %to_1, %values : tensor<8x!tt.ptr<f32>>)")),
            Indices{1})
      << "what is stored is read through x, and y is where";
  EXPECT_EQ(stored_arguments(kernel("    %v = tt.load %x : !tt.ptr<f32>")), Indices{});
  EXPECT_EQ(stored_arguments("no module"), Indices{});
}

TEST(AccessedArguments, LoadedOnesAreThoseThatALoadsPointerIsMadeFrom) {
  const std::string copies = kernel(R"(
    %v = tt.load %x : !tt.ptr<f32>
    tt.store %y, %v : !tt.ptr<f32>)");
  EXPECT_EQ(accessed_arguments(copies).loaded, Indices{0});
  EXPECT_EQ(stored_arguments(copies), Indices{1});
  EXPECT_EQ(accessed_arguments(kernel(R"(
    %one = arith.constant 1.0 : f32
    %true = arith.constant true
    %old = tt.atomic_rmw fadd, acq_rel, gpu, %y, %one, %true : (!tt.ptr<f32>, f32, i1) -> f32)"))
                .loaded,
            Indices{1});
}

TEST(AccessedArguments, AtomicsStore) {
  EXPECT_EQ(stored_arguments(kernel(R"(
    %one = arith.constant 1.0 : f32
    %true = arith.constant true
    %old = tt.atomic_rmw fadd, acq_rel, gpu, %x, %one, %true : (!tt.ptr<f32>, f32, i1) -> f32)")),
            Indices{0});
}

TEST(AccessedArguments, EachPointerThatALoopCarriesKeepsItsOrigin) {
  EXPECT_EQ(stored_arguments(kernel(R"(
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %end:2 = scf.for %i = %c0 to %n step %c1 iter_args(%from = %x, %to = %y) -> (!tt.ptr<f32>, !tt.ptr<f32>)  : i32 {
      %v = tt.load %from : !tt.ptr<f32>
      tt.store %to, %v : !tt.ptr<f32>
      %from_1 = tt.addptr %from, %c1 : !tt.ptr<f32>, i32
      %to_1 = tt.addptr %to, %c1 : !tt.ptr<f32>, i32
      scf.yield %from_1, %to_1 : !tt.ptr<f32>, !tt.ptr<f32>
    })")),
            Indices{1});
}

TEST(AccessedArguments, AChosenPointerMayBeEither) {
  EXPECT_EQ(stored_arguments(kernel(R"(
    %c0 = arith.constant 0 : i32
    %one = arith.constant 1.0 : f32
    %is = arith.cmpi eq, %n, %c0 : i32
    %to = scf.if %is -> (!tt.ptr<f32>) {
      scf.yield %x : !tt.ptr<f32>
    } else {
      scf.yield %y : !tt.ptr<f32>
    }
    tt.store %to, %one : !tt.ptr<f32>)")),
            (Indices{0, 1}));
}

TEST(AccessedArguments, ACalledFunctionStoresThroughWhatItIsGiven) {
  EXPECT_EQ(stored_arguments(kernel(R"(
    %one = arith.constant 1.0 : f32
    tt.call @put(%y, %one) : (!tt.ptr<f32>, f32) -> ())",
                                    R"(  tt.func private @put(%to: !tt.ptr<f32>, %v: f32) {
    tt.store %to, %v : !tt.ptr<f32>
    tt.return
  }
)")),
            Indices{1});
}

TEST(AccessedArguments, UnconditionallyStoredOnesLeaveOutBranchesAndPointersThatMayBeEither) {
  EXPECT_EQ(accessed_arguments(kernel(R"(
    %c0 = arith.constant 0 : i32
    %one = arith.constant 1.0 : f32
    %is = arith.cmpi eq, %n, %c0 : i32
    tt.store %y, %one : !tt.ptr<f32>
    scf.if %is {
      tt.store %x, %one : !tt.ptr<f32>
    })"))
                .unconditionally_stored,
            Indices{1});
  EXPECT_EQ(accessed_arguments(kernel(R"(
    %c0 = arith.constant 0 : i32
    %one = arith.constant 1.0 : f32
    %is = arith.cmpi eq, %n, %c0 : i32
    %to = arith.select %is, %x, %y : !tt.ptr<f32>
    tt.store %to, %one : !tt.ptr<f32>)"))
                .unconditionally_stored,
            Indices{});
}

}  // namespace
}  // namespace tritonsmith::gym::triton_ir
