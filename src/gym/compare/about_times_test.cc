#include "gym/compare/about_times.h"

#include <gtest/gtest.h>

#include <limits>

namespace tritonsmith::gym::compare {
namespace {

TEST(AboutTimes, HasTwoDigitsAndNoPowersOfTen) {
  EXPECT_EQ(about_times(1.52), "1.5 times");
  EXPECT_EQ(about_times(42.4), "about 42 times");
  EXPECT_EQ(about_times(1513), "about 1,500 times");
  EXPECT_EQ(about_times(999.7), "about 1,000 times");
  EXPECT_EQ(about_times(994999), "about 990,000 times");
  EXPECT_EQ(about_times(3e9), "about a million times or more");
  EXPECT_EQ(about_times(std::numeric_limits<double>::infinity()), "about a million times or more");
}

}  // namespace
}  // namespace tritonsmith::gym::compare
