#include "gym/referee/protocol/blocks.h"

#include <gtest/gtest.h>

#include <thread>

namespace tritonsmith::gym::referee {
namespace {

const auto kSoon = [] { return Deadline::after(std::chrono::seconds(20)); };

TEST(Blocks, PassThroughAThirdInPieces) {
  const auto first = make_socket_pair(), second = make_socket_pair();
  const std::string large(kPieceBytes + 5, 'x'), small = "abc";
  const std::vector<std::size_t> sizes = {large.size(), 0, small.size()};
  std::jthread sender([&] {
    for (const std::string& block : {large, std::string(), small})
      EXPECT_TRUE(write_block(first->ours.get(), block, kSoon()));
  });
  std::jthread between([&] {
    const Passed passed = pass_blocks(sizes, first->theirs.get(), second->ours.get(), kSoon());
    EXPECT_TRUE(passed.read && passed.written);
  });
  std::vector<std::string> came;
  for (const std::size_t size : sizes) {
    came.emplace_back(size, '\0');
    EXPECT_TRUE(read_block(second->theirs.get(), came.back(), kSoon()));
  }
  EXPECT_EQ(came[0], large);
  EXPECT_EQ(came[2], small);
}

TEST(Blocks, AreReadToTheirEndWhereNobodyTakesThem) {
  const auto from = make_socket_pair();
  auto to = make_socket_pair();
  to->theirs.reset();
  std::jthread sender([&] {
    for (int k = 0; k < 2; ++k)
      EXPECT_TRUE(write_block(from->ours.get(), std::string("12345"), kSoon()));
  });
  const Passed passed =
      pass_blocks(std::vector<std::size_t>{5, 5}, from->theirs.get(), to->ours.get(), kSoon());
  EXPECT_TRUE(passed.read);
  EXPECT_FALSE(passed.written);
}

TEST(Blocks, RefuseSizesThatCannotBe) {
  EXPECT_EQ(block_sizes(Json::object())->size(), 0U);
  EXPECT_EQ(block_sizes({{"blocks", {3U, 0U}}})->size(), 2U);
  EXPECT_FALSE(block_sizes({{"blocks", 3}}));
  EXPECT_FALSE(block_sizes({{"blocks", {-1}}}));
  EXPECT_FALSE(block_sizes({{"blocks", {std::uint64_t{1} << 62}}}));
  const auto pair = make_socket_pair();
  EXPECT_TRUE(wire::write_frame(pair->ours.get(), "123456", kSoon()));
  std::string five(5, '\0');
  EXPECT_FALSE(read_block(pair->theirs.get(), five, kSoon())) << "a piece beyond its block";
}

}  // namespace
}  // namespace tritonsmith::gym::referee
