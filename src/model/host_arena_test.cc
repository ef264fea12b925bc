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

TEST(ComingArena, IsMadeOnceForWhatWasExpectedAndAnewForMore) {
  ComingArena coming;
  coming.expect(8192);
  coming.expect(4096);
  const auto first = coming.get(8192);
  ASSERT_NE(first, nullptr);
  EXPECT_GE(first->size(), 8192U);
  EXPECT_EQ(coming.get(5000), first);
  EXPECT_TRUE(at::equal(first->copy(at::arange(5)), at::arange(5)));
  coming.expect(20000);
  const auto second = coming.get(20000);
  EXPECT_NE(second, first);
  EXPECT_GE(second->size(), 20000U);
  EXPECT_GE(ComingArena().get(4096)->size(), 4096U);
}

TEST(ComingArena, SaysWhenThereIsNoSuchMemoryAndServesTheNext) {
  ComingArena coming;
  coming.expect(std::size_t{1} << 60);
  EXPECT_ANY_THROW(coming.get(std::size_t{1} << 60));
  EXPECT_GE(coming.get(4096)->size(), 4096U);
}

}  // namespace
}  // namespace tritonsmith::model
