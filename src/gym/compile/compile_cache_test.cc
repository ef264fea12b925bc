#include "gym/compile/compile_cache.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/file.h"
#include "base/temp_dir.h"

namespace tritonsmith::gym::compile {
namespace {

TEST(CompileKey, DiffersByEverythingThatChangesTheCubin) {
  const CompileRequest base{.code = "module"};
  CompileRequest other = base;
  other.num_warps = 8;
  EXPECT_NE(compile_key(base, "1"), compile_key(other, "1"));
  other = base;
  other.enable_fp_fusion = false;
  EXPECT_NE(compile_key(base, "1"), compile_key(other, "1"));
  other = base;
  other.target = "sm_80";
  EXPECT_NE(compile_key(base, "1"), compile_key(other, "1"));
  EXPECT_NE(compile_key(base, "1"), compile_key(base, "2"));
  other = base;
  other.code = "module ";
  EXPECT_NE(compile_key(base, "1"), compile_key(other, "1"));
}

std::string key_of(const std::string& ir) { return compile_key({.code = ir}, ""); }

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
