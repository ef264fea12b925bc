#include "model/host_arena.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

namespace tritonsmith::model {
namespace {

TEST(HostArena, GivesCopiesThatOutliveItAndIsUsedAgain) {
  auto arena = HostArena::make(HostArena::room_for(5000) + HostArena::room_for(12));
  const at::Tensor large = at::arange(1250, at::kFloat),
                   odd = at::arange(6, at::kHalf).view({2, 3});
  const at::Tensor first = arena->copy(large), second = arena->copy(odd.t());
  EXPECT_TRUE(at::equal(first, large));
  EXPECT_TRUE(at::equal(second, odd.t()));
  arena->rewind();
  const at::Tensor over = arena->copy(large + 1);
  EXPECT_EQ(over.const_data_ptr(), first.const_data_ptr());
  EXPECT_TRUE(at::equal(second, odd.t()));
  arena.reset();
  EXPECT_TRUE(at::equal(over, large + 1));
}

}  // namespace
}  // namespace tritonsmith::model
