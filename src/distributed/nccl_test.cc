// Tests of NCCL without a GPU. The wheel's library is found and has the functions that nccl.cc
// calls, and its header has the numbers of nccl_api.h.
#include "distributed/nccl.h"

#include <gtest/gtest.h>

#include <regex>

#include "base/file.h"

namespace tritonsmith::distributed {
namespace {

int number_of(const std::string& header, const std::string& name) {
  std::smatch found;
  const std::regex value(name + R"(\s*=\s*(\d+))");
  return std::regex_search(header, found, value) ? std::stoi(found[1]) : -1;
}

TEST(Nccl, IsLoadedFromTheWheel) {
  const auto version = Nccl::version();
  ASSERT_TRUE(version) << version.error().message;
  EXPECT_EQ(*version / 10000, 2);
}

TEST(Nccl, HasTheNumbersOfItsHeader) {
  const auto header = read_file(NCCL_HEADER);
  ASSERT_TRUE(header) << header.error().message;
  EXPECT_EQ(number_of(*header, "ncclInProgress"), nccl::kInProgress);
  EXPECT_EQ(number_of(*header, "ncclUint8"), nccl::kUint8);
  EXPECT_EQ(number_of(*header, "ncclInt64"), nccl::kInt64);
  EXPECT_EQ(number_of(*header, "ncclFloat32"), nccl::kFloat32);
  EXPECT_EQ(number_of(*header, "ncclFloat64"), nccl::kFloat64);
  EXPECT_EQ(number_of(*header, "ncclBfloat16"), nccl::kBFloat16);
  EXPECT_EQ(number_of(*header, "ncclSum"), nccl::kSum);
  EXPECT_EQ(number_of(*header, "ncclMax"), nccl::kLargest);
  EXPECT_NE(header->find("#define NCCL_UNIQUE_ID_BYTES 128"), std::string::npos);
}

}  // namespace
}  // namespace tritonsmith::distributed
