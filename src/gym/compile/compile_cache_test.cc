#include "gym/compile/compile_cache.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/file.h"
#include "base/temp_dir.h"

namespace tritonsmith::gym::compile {
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

TEST(CompileKey, DiffersByEverythingThatChangesTheCubin) {
  const CompileRequest base{.ttir = "module"};
  CompileRequest other = base;
  other.num_warps = 8;
  EXPECT_NE(compile_key(base, "1"), compile_key(other, "1"));
  other = base;
  other.target = "sm_80";
  EXPECT_NE(compile_key(base, "1"), compile_key(other, "1"));
  EXPECT_NE(compile_key(base, "1"), compile_key(base, "2"));
  other = base;
  other.ttir = "module ";
  EXPECT_NE(compile_key(base, "1"), compile_key(other, "1"));
}

std::string key_of(const std::string& ir) { return compile_key({.ttir = ir}, ""); }

CompileCache cache_of(std::size_t memory_bytes, const std::filesystem::path& folder) {
  return {memory_bytes, KernelFolder(folder, std::uint64_t{1} << 20)};
}

TEST(CompileCache, ForgetsInMemoryWhatWasUsedLongestAgo) {
  CompileCache cache = cache_of(2500, "");
  cache.add(key_of("a"), CompiledKernel{.cubin = std::string(100, 'x'), .name = "a"});
  cache.add(key_of("b"), CompiledKernel{.cubin = std::string(100, 'x'), .name = "b"});
  EXPECT_TRUE(cache.find(key_of("a")));
  cache.add(key_of("c"), CompiledKernel{.cubin = std::string(1000, 'x'), .name = "c"});
  EXPECT_TRUE(cache.find(key_of("a")));
  EXPECT_FALSE(cache.find(key_of("b")));
}

TEST(CompileCache, FindsOnDiskWhatMemoryForgot) {
  const auto folder = TempDir::make("tritonsmith-cache");
  ASSERT_TRUE(folder);
  CompileCache cache = cache_of(1, folder->path());
  cache.add(key_of("a"), CompiledKernel{.cubin = "bytes", .name = "a"});
  cache.add(key_of("b"), CompiledKernel{.cubin = "bytes", .name = "b"});
  const auto found = cache.find(key_of("a"));
  ASSERT_TRUE(found);
  EXPECT_EQ(std::get<CompiledKernel>(*found).name, "a");
}

TEST(CompileCache, DamagedFilesAreNotBelieved) {
  const auto folder = TempDir::make("tritonsmith-cache");
  ASSERT_TRUE(folder);
  const std::string key = key_of("a");
  cache_of(2, folder->path()).add(key_of("a"), CompiledKernel{.cubin = "bytes", .name = "a"});
  EXPECT_TRUE(cache_of(2, folder->path()).find(key_of("a")));
  ASSERT_TRUE(write_file_atomic(folder->path() / key.substr(0, 2) / (key + ".json"),
                                R"({"cubin":"####","name":"a"})"));
  EXPECT_FALSE(cache_of(2, folder->path()).find(key_of("a")));
}

TEST(CompileCache, FullDiskLeavesItInMemory) {
  CompileCache cache = cache_of(1000, "/proc/nowhere");
  cache.add(key_of("a"), CompiledKernel{.cubin = "x", .name = "a"});
  EXPECT_TRUE(cache.find(key_of("a")));
}

RC_GTEST_PROP(Base64, GoesBothWays, (const std::string& bytes)) {
  RC_ASSERT(from_base64(to_base64(bytes)) == bytes);
}

TEST(Base64, RefusesWhatIsNone) {
  EXPECT_FALSE(from_base64("abc"));
  EXPECT_FALSE(from_base64("a*c="));
}

}  // namespace
}  // namespace tritonsmith::gym::compile
