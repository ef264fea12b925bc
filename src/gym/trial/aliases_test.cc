#include "gym/trial/aliases.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

namespace tritonsmith::gym::trial {
namespace {

TEST(Aliases, TensorsShareMemoryWhereAByteBelongsToBoth) {
  const at::Tensor x = at::zeros({4, 6});
  EXPECT_TRUE(share_memory(x, x));
  EXPECT_TRUE(share_memory(x, x.t()));
  EXPECT_TRUE(share_memory(x.slice(1, 0, 6, 2), x.slice(1, 0, 6, 3)));
  EXPECT_TRUE(share_memory(x, x.view(at::kByte).slice(1, 5, 6)));
  EXPECT_TRUE(share_memory(x[1][2].expand({5}), x));
  EXPECT_FALSE(share_memory(x, x.clone()));
  EXPECT_FALSE(share_memory(x[0], x[1]));
  EXPECT_FALSE(share_memory(x.slice(1, 0, 6, 2), x.slice(1, 1, 6, 2)));
  EXPECT_FALSE(share_memory(x.slice(0, 0, 0), x));
}

}  // namespace
}  // namespace tritonsmith::gym::trial
