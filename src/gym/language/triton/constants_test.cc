#include "gym/language/triton/constants.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tritonsmith::gym::language::triton {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Constants, AreNumbersAndTheValuesOfTensors) {
  EXPECT_THAT(constants("%c5 = arith.constant 5 : i32\n"
                        "%x = arith.constant dense<1.0e+00> : tensor<8xf32>\n"
                        "%true = arith.constant true\n"),
              ElementsAre("5", "1.0e+00", "true"));
}

TEST(Constants, AreNoneInOtherText) {
  EXPECT_THAT(constants(""), IsEmpty());
  EXPECT_THAT(constants("%0 = arith.addi %c5, %c6 : i32"), IsEmpty());
  EXPECT_THAT(constants("arith.constant "), ElementsAre(""));
}

}  // namespace
}  // namespace tritonsmith::gym::language::triton
