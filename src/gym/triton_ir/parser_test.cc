#include "gym/triton_ir/syntax/parser.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gym/triton_ir/kernel_program.h"

namespace tritonsmith::gym::triton_ir {
namespace {

using testing::HasSubstr;

std::string function(std::string_view body) {
  return fmt::format(
      "module {{\n  tt.func public @f(%p: !tt.ptr<f32>, %n: i32) {{\n{}\n    tt.return\n  }}\n}}\n",
      body);
}

TEST(Parser, ReadsAnOperationOfAnyName) {
  auto module =
      parse_module(function("    %a:2, %b = some.thing %n, %p[%n] key = word {axis = 1 : i32, "
                            "flag} : i32, !tt.ptr<f32> -> tensor<4x8xf16> loc(unknown)"));
  ASSERT_TRUE(module) << module.error().message;
  const Operation& operation = module->functions[0].body.blocks[0].operations[0];
  EXPECT_EQ(operation.name, "some.thing");
  EXPECT_EQ(operation.results.size(), 3u);
  EXPECT_EQ(operation.operands.size(), 3u);
  EXPECT_EQ(operation.attributes.at("key"), "word");
  EXPECT_EQ(operation.integer_attribute("axis"), 1);
  EXPECT_TRUE(operation.attributes.contains("flag"));
  EXPECT_EQ(to_string(operation.result_types.at(0)), "tensor<4x8xf16>");
}

TEST(Parser, ALineOfTheLibraryIsChargedToTheCandidatesCall) {
  auto module = parse_module(R"(
#loc = loc("candidate.py":3:0)
#loc1 = loc("triton/language/standard.py":293:36)
module {
  tt.func public @f() {
    %x = arith.constant 1 : i32 loc("x"(callsite(#loc1 at #loc2)))
    %y = arith.constant 2 : i32 loc(fused[#loc1, #loc2])
    tt.return loc(#loc1)
  } loc(#loc)
}
#loc2 = loc("s"("candidate.py":8:4))
)");
  ASSERT_TRUE(module) << module.error().message;
  const auto& operations = module->functions[0].body.blocks[0].operations;
  auto line = [&](std::size_t i) {
    return module->locations[static_cast<std::size_t>(operations[i].location)].line;
  };
  EXPECT_EQ(line(0), 8);
  EXPECT_EQ(line(1), 8);
  EXPECT_EQ(line(2), 0);  // a line of another file is not the candidate's
}

TEST(Parser, SaysWhereTheTextIsWrong) {
  std::string flood = "    %a:256";
  for (int i = 0; i < 2000; ++i) flood += fmt::format(", %a{}:256", i);
  flood += " = tt.load %p : i32";
  for (auto [body, why] :
       {std::pair{"    %a = arith.addi %n, %m : i32", "%m is not defined"},
        std::pair{"    %a = arith.addi %n, %n : tensor<0xi32>", "shape"},
        std::pair{"    %a = arith.addi %n, %n : tensor<4096x4096xi32>", "too many elements"},
        std::pair{"    %a = tt.load %p : !tt.ptr<!tt.ptr<f32>>", "pointer to a pointer"},
        std::pair{"    %a:9999999 = tt.load %p : i32", "number of results"},
        std::pair{flood.c_str(), "too many results"},
        std::pair{"    scf.if %n {", "'}' is missing"}}) {
    auto module = parse_module(function(body));
    ASSERT_FALSE(module) << body;
    EXPECT_THAT(module.error().message, HasSubstr(why));
    EXPECT_THAT(module.error().message, HasSubstr("line"));
  }
}

TEST(Parser, DeepNestingIsRefusedNotFollowed) {
  std::string body;
  for (int i = 0; i < 100000; ++i) body += "scf.if %n {\n";
  EXPECT_FALSE(parse_module(function(body)));
  std::string location = "#loc = ";
  for (int i = 0; i < 100000; ++i) location += "loc(callsite(";
  EXPECT_FALSE(parse_module(location));
  EXPECT_FALSE(parse_module(std::string(100000, '(')));
  std::string modules;
  for (int i = 0; i < 100000; ++i) modules += "module {\n";
  EXPECT_FALSE(parse_module(modules));
}

TEST(Parser, LocationsThatPointAtEachOtherAreUnknown) {
  auto module = parse_module(
      "#loc = loc(#loc1)\n#loc1 = loc(\"a\"(#loc))\nmodule {\n  tt.func public @f() {\n    "
      "tt.return loc(#loc)\n  } loc(#loc1)\n}\n");
  ASSERT_TRUE(module) << module.error().message;
  EXPECT_EQ(module->locations.back().line, 0);
}

TEST(Parser, WrongTypesAreMalformedNotExecuted) {
  for (std::string_view body :
       {"    %a = tt.load %n : i32", "    tt.store %p, %n : !tt.ptr<f32>",
        "    %a = arith.addi %p, %n : i32",
        "    %a = tt.splat %n : i32 -> tensor<4xi32>\n    %b = arith.addi %a, %n : i32",
        "    %a = tt.splat %n : i32 -> tensor<4xi32>\n    %b = tt.reshape %a : tensor<4xi32> -> "
        "tensor<8xi32>",
        "    %a = tt.splat %n : i32 -> tensor<4xi32>\n    %b = tt.trans %a {order = array<i32: 1>} "
        ": tensor<4xi32> -> tensor<4xi32>",
        "    %a = \"scf.for\"(%n, %n, %n) : (i32, i32, i32) -> ()",
        "    %a = \"scf.if\"(%n) : (i32) -> ()",
        "    %a = \"tt.reduce\"(%n) <{axis = 0 : i32}> : (i32) -> i32", "    cf.br ^nowhere",
        "    %a = tt.call @g(%n) : (i32) -> i32",
        "    %a = tt.make_range {end = 9223372036854775807 : i32, start = -9223372036854775807 : "
        "i32} "
        ": tensor<4xi32>"}) {
    auto program = parse_ttir(function(body));
    EXPECT_FALSE(program) << body;
  }
}

// The descriptor's register has the size of a descriptor, and its type has the shape of a block.
TEST(Parser, ADescriptorIsNoTensorOfItsBlock) {
  const std::string make =
      "    %d = tt.make_tensor_descriptor %p, [%n], [%n] : <f32>, <tensor<1024xf32>>\n";
  ASSERT_TRUE(parse_ttir(function(make)));
  for (std::string_view use :
       {"    %j = tt.join %d, %d : !tt.tensordesc<tensor<1024xf32>> -> tensor<1024x2xf32>",
        "    %r = tt.reshape %n : i32 -> !tt.tensordesc<tensor<1024xi32>>",
        "    %i = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32>\n"
        "    %g = tt.gather %d[%i] {axis = 0 : i32} : (tensor<1024xf32>, tensor<1024xi32>) -> "
        "tensor<1024xf32>",
        "    %v = tt.splat %n : i32 -> tensor<4096xi32>\n"
        "    %m = \"tt.map_elementwise\"(%v) ({\n"
        "    ^bb0(%x: i32):\n"
        "      %l = tt.descriptor_load %d[%x] : !tt.tensordesc<tensor<1024xf32>> -> "
        "tensor<1024xf32>\n"
        "      tt.map_elementwise.return %x : i32\n"
        "    }) : (tensor<4096xi32>) -> tensor<4096xi32>"}) {
    auto program = parse_ttir(function(make + std::string(use)));
    EXPECT_FALSE(program) << use;
  }
}

// A value from outside of a combine function may be a tensor of any shape.
TEST(Parser, ACombineFunctionHandsOnOneValueForEachLane) {
  const std::string make =
      "    %few = tt.splat %n : i32 -> tensor<4xi32>\n    %many = tt.splat %n : i32 -> "
      "tensor<4096xi32>\n";
  const auto map = [](std::string_view operand, std::string_view body) {
    return fmt::format(
        "    %m = \"tt.map_elementwise\"({}) ({{\n    ^bb0(%x: i32):\n{}\n    }}) : (i32) -> i32",
        operand, body);
  };
  EXPECT_TRUE(
      parse_ttir(function(make + map("%many", "      tt.map_elementwise.return %x : i32"))));
  EXPECT_FALSE(parse_ttir(
      function(make + map("%many", "      tt.map_elementwise.return %few : tensor<4xi32>"))));
  EXPECT_FALSE(parse_ttir(function(make + map("%few", R"(      %c = arith.cmpi eq, %x, %x : i32
      %y = scf.if %c -> (tensor<4096xi32>) {
        scf.yield %many : tensor<4096xi32>
      } else {
        scf.yield %many : tensor<4096xi32>
      }
      tt.map_elementwise.return %x : i32)"))));
}

TEST(Parser, ProgramsThatUnfoldWithoutEndAreRefused) {
  std::string calls = "module {\n";
  for (int level = 0; level < 16; ++level) {
    calls += fmt::format("  tt.func {} @f{}() {{\n", level == 0 ? "public" : "private", level);
    for (int i = 0; i < 20 && level < 15; ++i)
      calls += fmt::format("    tt.call @f{}() : () -> ()\n", level + 1);
    calls += "    tt.return\n  }\n";
  }
  auto program = parse_ttir(calls + "}\n");
  ASSERT_TRUE(program) << program.error().message;
  EXPECT_TRUE(program->refusal());

  std::string loops = "    cf.br ^again\n  ^again:\n";
  for (int i = 0; i < 30'000; ++i) loops += fmt::format("    %v{} = arith.addi %n, %n : i32\n", i);
  for (int i = 0; i < 20'000; ++i) loops += "    cf.br ^again\n";
  program = parse_ttir(function(loops));
  ASSERT_TRUE(program) << program.error().message;
  ASSERT_TRUE(program->refusal());
  EXPECT_THAT(program->refusal()->message, HasSubstr("loops"));
}

TEST(Parser, EveryPrefixAndEveryHoleOfRealTextEndsWell) {
  const std::string text = function(
      R"(    %r = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32> loc(#loc1)
    %q = tt.splat %p : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
    %a = tt.addptr %q, %r : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
    %z = arith.constant dense<0.000000e+00> : tensor<16xf32>
    %s = scf.for %i = %n to %n step %n iter_args(%x = %z) -> (tensor<16xf32>)  : i32 {
      %v = tt.load %a : tensor<16x!tt.ptr<f32>>
      %m = "tt.reduce"(%v) <{axis = 0 : i32}> ({
      ^bb0(%k: f32, %l: f32):
        %o = arith.addf %k, %l : f32
        tt.reduce.return %o : f32
      }) : (tensor<16xf32>) -> f32
      scf.yield %v : tensor<16xf32>
    }
    tt.store %a, %s : tensor<16x!tt.ptr<f32>>)");
  ASSERT_TRUE(parse_ttir(text)) << parse_ttir(text).error().message;
  for (std::size_t i = 0; i < text.size(); ++i) {
    (void)parse_ttir(text.substr(0, i));
    std::string holed = text;
    holed.erase(i, 3);
    (void)parse_ttir(holed);
    holed = text;
    holed[i] = '%';
    (void)parse_ttir(holed);
  }
}

}  // namespace
}  // namespace tritonsmith::gym::triton_ir
