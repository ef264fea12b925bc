#include "generate/engine/page_pool.h"

#include <gtest/gtest.h>

#include <set>

namespace tritonsmith::generate::engine {
namespace {

TEST(PagePool, FreesAPageWhenItsLastReferenceIsGivenBack) {
  PagePool pool(5);
  const auto prompt = *pool.take(2), own = *pool.take(3);
  EXPECT_EQ(pool.free_pages(), 0);
  EXPECT_FALSE(pool.take(1));
  std::set<int> all(prompt.begin(), prompt.end());
  all.insert(own.begin(), own.end());
  EXPECT_EQ(all, (std::set<int>{0, 1, 2, 3, 4}));
  pool.share(prompt);
  pool.give_back(prompt);
  EXPECT_EQ(pool.free_pages(), 0);
  pool.give_back(prompt);
  EXPECT_EQ(pool.free_pages(), 2);
  EXPECT_FALSE(pool.take(3));
  pool.give_back(own);
  EXPECT_EQ(pool.take(5)->size(), 5u);
}

TEST(PagePool, TakesNothingWhenItCannotTakeAll) {
  PagePool pool(3);
  EXPECT_TRUE(pool.take(0)->empty());
  EXPECT_FALSE(pool.take(4));
  EXPECT_EQ(pool.free_pages(), 3);
}

}  // namespace
}  // namespace tritonsmith::generate::engine
