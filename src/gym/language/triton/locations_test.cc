#include "gym/language/triton/locations.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace tritonsmith::gym::language::triton {
namespace {

TEST(WithoutLocations, DropsAliasesAndReferences) {
  EXPECT_EQ(without_locations("#loc = loc(\"a(b)\\\").py\":1:0)\n"
                              "module {\n"
                              "  tt.func @k(%a: i32 loc(\"k\"(#loc))) {\n"
                              "    tt.return loc(#loc2)\n"
                              "  } loc(#loc)\n"
                              "} loc(#loc)\n"
                              "#loc2 = loc(callsite(#loc at #loc))\n"),
            "\nmodule {\n  tt.func @k(%a: i32) {\n    tt.return\n  }\n}\n\n");
}

TEST(WithoutLocations, LeavesWhatOnlyLooksLikeOne) {
  for (const std::string ir : {"%0 = \"x loc(a)\"", "#local = #tt.x", "#loc1 = #tt.x", "x_loc(3)",
                               "loc", "", "^bb2:  // 2 preds: ^bb0, ^bb1\n", "a = \"http://\""})
    EXPECT_EQ(without_locations(ir), ir);
}

// A compiler continues after a comment and treats the next text as code. A parser that does not
// know comments could take the same text for part of a location's name.
TEST(WithoutLocations, RefusesWhatTritonDoesNotWrite) {
  for (const std::string ir : {
           "a loc(never closed",
           "\"never closed loc(",
           "\"over\nlines\"",
           "a loc(#loc // \"\n)\n code\n // \")\n",
           "a // \" loc(\n code // )\"\n",
           "a // (\n",
           "a loc(fused<#x>[#loc])",
           "a loc(\n#loc)",
           "#loc1 = loc(/\n)",
       })
    EXPECT_FALSE(without_locations(ir)) << ir;
}

RC_GTEST_PROP(WithoutLocations, NeverGrows, (const std::string& ir)) {
  const auto kept = without_locations(ir);
  RC_ASSERT(!kept || kept->size() <= ir.size());
}

TEST(FirstLine, IsOfAFile) {
  EXPECT_EQ(first_line("#loc = loc(\"a(b)\\\".py\":17:3)"), 17);
  EXPECT_EQ(first_line("%a: i32 loc(\"x\"(#loc)) loc(\"a.py\":5:0)"), 5);
  EXPECT_EQ(first_line("loc(\"a.py"), 0);
  EXPECT_EQ(first_line("loc(\"a.py\":99999999999:0)"), 0);
  EXPECT_EQ(first_line(""), 0);
}

}  // namespace
}  // namespace tritonsmith::gym::language::triton
