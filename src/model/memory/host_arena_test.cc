#include "model/memory/host_arena.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <map>

namespace tritonsmith::model {
namespace {

constexpr std::size_t kPiece = 8192;

// Records the calls to a driver: the pinned pieces, and the unpinned ones.
struct Driver {
  std::map<std::byte*, std::size_t> pinned;
  std::size_t asked = 0, refused = 0;

  // Refuses every `refuse_every`-th piece; 0: none.
  Pinning pinning(std::size_t refuse_every = 0) {
    return {.piece = kPiece,
            .pin =
                [this, refuse_every](std::byte* data, std::size_t size) {
                  const bool is_refused = refuse_every > 0 && ++asked % refuse_every == 0;
                  if (is_refused) ++refused;
                  return !is_refused && pinned.emplace(data, size).second;
                },
            .unpin = [this](std::byte* data) { ASSERT_EQ(pinned.erase(data), 1U); }};
  }
};

TEST(HostArena, SplitsARangeWherePiecesMeet) {
  using Parts = std::vector<ByteRange>;
  EXPECT_EQ(split_at_pieces({0, 100}, 100), (Parts{{0, 100}}));
  EXPECT_EQ(split_at_pieces({30, 70}, 100), (Parts{{30, 70}}));
  EXPECT_EQ(split_at_pieces({30, 71}, 100), (Parts{{30, 70}, {100, 1}}));
  EXPECT_EQ(split_at_pieces({199, 202}, 100), (Parts{{199, 1}, {200, 100}, {300, 100}, {400, 1}}));
  EXPECT_EQ(split_at_pieces({100, 0}, 100), Parts());
}

TEST(HostArena, CopiesWhatIsLargerThanAPieceAsItIs) {
  Driver driver;
  const std::vector<at::Tensor> tensors = {
      at::arange(1000, at::kShort),                       // within a piece
      at::arange(3000, at::kDouble).view({30, 100}).t(),  // over three pieces, and not contiguous
      at::empty({0}, at::kFloat),
      at::arange(7001).to(at::kByte),  // from the middle of a piece
      at::full({}, 3.5, at::kFloat),
      at::arange(2500).remainder(3).to(at::kBool)};
  std::size_t room = 0;
  for (const at::Tensor& each : tensors) room += HostArena::room_for(each.nbytes());
  const auto arena = HostArena::make(room, driver.pinning());
  for (int pass = 0; pass < 2; ++pass) {
    arena->rewind();
    std::vector<at::Tensor> copies;
    for (const at::Tensor& each : tensors) copies.push_back(arena->copy(each));
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      EXPECT_TRUE(at::equal(copies[i], tensors[i])) << i;
      EXPECT_EQ(copies[i].scalar_type(), tensors[i].scalar_type());
    }
  }
}

TEST(HostArena, PinsEachPieceAndLetsEachGo) {
  Driver driver;
  auto arena = HostArena::make(2 * kPiece + 4096, driver.pinning());
  std::byte* next = driver.pinned.begin()->first;
  std::vector<std::size_t> sizes;
  for (const auto& [data, size] : driver.pinned) {
    EXPECT_EQ(data, next);
    sizes.push_back(size);
    next = data + size;
  }
  EXPECT_EQ(sizes, (std::vector<std::size_t>{kPiece, kPiece, 4096}));
  at::Tensor kept = arena->copy(at::arange(5));
  arena.reset();
  EXPECT_EQ(driver.pinned.size(), 3U);
  kept.reset();
  EXPECT_TRUE(driver.pinned.empty());
}

TEST(HostArena, PinsTheOthersWhereTheDriverRefusesSome) {
  Driver driver;
  auto arena = HostArena::make(7 * kPiece, driver.pinning(3));
  EXPECT_EQ(driver.refused, 2U);
  EXPECT_EQ(driver.pinned.size(), 5U);
  const at::Tensor numbers = at::arange(7 * kPiece / 8);
  EXPECT_TRUE(at::equal(arena->copy(numbers), numbers));
  arena.reset();
  EXPECT_TRUE(driver.pinned.empty());
}

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
