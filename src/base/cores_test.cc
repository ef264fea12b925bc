#include "base/cores.h"

#include <gtest/gtest.h>

#include <thread>

namespace tritonsmith {
namespace {

TEST(Cores, AreThoseOfTheControlGroupsLimitRoundedUp) {
  EXPECT_EQ(cores_of_quota("200000 100000\n"), 2);
  EXPECT_EQ(cores_of_quota("150000 100000"), 2);
  EXPECT_EQ(cores_of_quota("max 100000\n"), 0);
  EXPECT_EQ(cores_of_quota("-1 100000"), 0);
  EXPECT_EQ(cores_of_quota(""), 0);
}

TEST(Cores, AreAtLeastOneAndNoMoreThanThereAre) {
  EXPECT_GE(usable_cores(), 1);
  EXPECT_LE(usable_cores(), static_cast<int>(std::thread::hardware_concurrency()));
}

}  // namespace
}  // namespace tritonsmith
