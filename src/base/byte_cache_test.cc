#include "base/byte_cache.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <memory>

namespace tritonsmith {
namespace {

constexpr std::size_t kEach = ByteCache<int>::kEntryBytes + 1;  // an entry without bytes of its own

TEST(ByteCache, ForgetsWhatWasUsedLongestAgo) {
  ByteCache<int> cache(2 * kEach);
  cache.add("a", 1, 0);
  cache.add("b", 2, 0);
  ASSERT_NE(cache.find("a"), nullptr);
  std::vector<std::string> left;
  cache.add("c", 3, 0, &left);
  EXPECT_EQ(left, std::vector<std::string>{"b"});
  EXPECT_EQ(cache.find("b"), nullptr);
  EXPECT_EQ(*cache.find("a"), 1);
  EXPECT_EQ(*cache.find("c"), 3);
}

TEST(ByteCache, KeepsTheNewestEvenIfItIsLargerThanTheCache) {
  ByteCache<std::unique_ptr<int>> cache(100);
  cache.add("a", std::make_unique<int>(1), 10);
  EXPECT_EQ(*cache.add("large", std::make_unique<int>(2), 1000), 2);
  EXPECT_TRUE(cache.contains("large"));
  EXPECT_FALSE(cache.contains("a"));
  cache.add("b", std::make_unique<int>(3), 0);
  EXPECT_FALSE(cache.contains("large"));
}

TEST(ByteCache, ReplacesAValueAndItsSize) {
  ByteCache<int> cache(10 * kEach);
  cache.add("a", 1, 5 * kEach);
  cache.add("a", 2, 0);
  EXPECT_EQ(*cache.find("a"), 2);
  EXPECT_EQ(cache.size(), 1u);
  EXPECT_EQ(cache.bytes(), kEach);
}

// A plain list of keys, newest first, is the model.
RC_GTEST_PROP(ByteCache, StaysWithinItsBytesAndKeepsTheNewest, ()) {
  constexpr std::size_t most = 4 * kEach;
  ByteCache<int> cache(most);
  std::vector<std::pair<std::string, std::size_t>> model;
  const auto steps = *rc::gen::container<std::vector<std::pair<int, int>>>(
      rc::gen::pair(rc::gen::inRange(0, 9), rc::gen::inRange(-1, 400)));
  for (const auto& [number, size] : steps) {
    const std::string key(1, static_cast<char>('a' + number));
    const auto known = std::ranges::find(model, key, [](const auto& each) { return each.first; });
    if (size < 0) {
      RC_ASSERT((cache.find(key) != nullptr) == (known != model.end()));
      if (known != model.end()) std::rotate(model.begin(), known, known + 1);
      continue;
    }
    if (known != model.end()) model.erase(known);
    const auto bytes = static_cast<std::size_t>(size);
    model.insert(model.begin(), {key, bytes + kEach});
    cache.add(key, number, bytes);
    const auto total = [&] {
      std::size_t sum = 0;
      for (const auto& each : model) sum += each.second;
      return sum;
    };
    while (model.size() > 1 && total() > most) model.pop_back();
    RC_ASSERT(cache.bytes() == total());
    RC_ASSERT(cache.size() == model.size());
    for (const auto& each : model) RC_ASSERT(cache.contains(each.first));
  }
}

}  // namespace
}  // namespace tritonsmith
