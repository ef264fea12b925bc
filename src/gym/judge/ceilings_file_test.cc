#include "gym/judge/ceilings_file.h"

#include <gtest/gtest.h>

#include <fstream>

#include "base/temp_dir.h"

namespace tritonsmith::gym::judge {
namespace {

TEST(CeilingsFile, IsFoundAgainByTheGpusName) {
  const auto folder = TempDir::make("ceilings");
  ASSERT_TRUE(folder);
  const Ceilings h100{.gpu = "NVIDIA H100 80GB",
                      .date = "today",
                      .bytes_per_second = 3e12,
                      .flops_per_second = {{"bfloat16", 6e14}},
                      .launch_us = 2};
  ASSERT_TRUE(keep_ceilings(folder->path(), h100));
  EXPECT_EQ(known_ceilings(folder->path(), "NVIDIA H100 80GB"), h100);
  EXPECT_FALSE(known_ceilings(folder->path(), "NVIDIA H200"));
  EXPECT_FALSE(known_ceilings(folder->path(), "NVIDIA H100-80GB")) << "the same file's name";
  EXPECT_FALSE(known_ceilings({}, "NVIDIA H100 80GB"));
}

TEST(CeilingsFile, ADamagedOneCountsAsNone) {
  const auto folder = TempDir::make("ceilings");
  ASSERT_TRUE(folder);
  std::ofstream(std::filesystem::path(folder->path()) / "gpu.json") << "{\"gpu\":";
  EXPECT_FALSE(known_ceilings(folder->path(), "gpu"));
}

}  // namespace
}  // namespace tritonsmith::gym::judge
