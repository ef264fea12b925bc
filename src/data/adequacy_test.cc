#include "data/adequacy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tritonsmith {
namespace {

using ::testing::ElementsAre;

Adequacy example() {
  Adequacy adequacy;
  adequacy.faults = {
      {.what = "a", .kind = "range", .end = FaultEnd::told, .trial = "ragged", .margin = 7.5},
      {.what = "b", .kind = "special", .end = FaultEnd::told, .trial = "shifted", .margin = {}},
      {.what = "c", .kind = "constant", .end = FaultEnd::no_difference, .margin = 0},
      {.what = "d", .kind = "cheaper", .end = FaultEnd::within_tolerance, .margin = 0.25},
      {.what = "e", .kind = "left_out", .end = FaultEnd::equivalent, .margin = 0}};
  adequacy.variants = 3;
  adequacy.refused = {{.what = "f", .trial = "small", .message = "too far off"}};
  return adequacy;
}

TEST(Adequacy, CountsTheFaultsThatSomeInputTells) {
  EXPECT_EQ(summary_of(example()), "2 of 4 faults told apart");
  EXPECT_EQ(share_told(example()), 0.5);
  EXPECT_EQ(share_told({}), std::nullopt);
}

TEST(Adequacy, NamesEachFaultThatIsNotToldAndEachVariantThatIsRefused) {
  EXPECT_THAT(complaints_of(example()), ElementsAre("not told: c (no trial shows a difference)",
                                                    "not told: d (off by 0.25 of what is allowed)",
                                                    "wrongly refused: f (small: too far off)"));
}

TEST(Adequacy, SaysWhatWasNotMeasured) {
  Adequacy adequacy = example();
  adequacy.reduced_by = 8;
  adequacy.untried = 2;
  EXPECT_EQ(summary_of(adequacy),
            "2 of 4 faults told apart, with sizes divided by 8, 2 not tried for lack of time");
  adequacy.why_not = "no plan";
  EXPECT_EQ(summary_of(adequacy), "not measured: no plan");
}

TEST(Adequacy, IsTheSameAfterItsJson) {
  const auto read = adequacy_from_json(to_json(example()));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(*read, example());
}

}  // namespace
}  // namespace tritonsmith
