#include "generate/stop_strings.h"

#include <gtest/gtest.h>

namespace tritonsmith::generate {
namespace {

// Returns the number of pieces after which the search finds a string, or 0 if it never does.
std::size_t found_after(const std::vector<std::string>& strings,
                        const std::vector<std::string>& pieces) {
  StopStringSearch search(strings);
  for (std::size_t i = 0; i < pieces.size(); ++i)
    if (search.push(pieces[i])) return i + 1;
  return 0;
}

TEST(StopStrings, AreFoundHoweverTheTextIsCutIntoPieces) {
  const std::vector<std::string> strings = {"never", "</answer>"};
  EXPECT_EQ(found_after(strings, {"x = 1 </answer> more"}), 1U);
  EXPECT_EQ(found_after(strings, {"x </ans", "", "wer", ">", "more"}), 4U);
  EXPECT_EQ(found_after(strings, {"x <", "/a <", "/answer", "> more"}), 4U);
  EXPECT_EQ(found_after(strings, {"x </answer", " >"}), 0U);
}

TEST(StopStrings, StayFound) {
  StopStringSearch search({"END"});
  EXPECT_FALSE(search.push("E"));
  EXPECT_TRUE(search.push("ND"));
  EXPECT_TRUE(search.push("of everything"));
}

TEST(StopStrings, EmptyOnesAreNeverFound) {
  EXPECT_EQ(found_after({""}, {"a", "b"}), 0U);
  EXPECT_EQ(found_after({}, {"a", "b"}), 0U);
}

TEST(StopStrings, AreNotPartOfTheTextBeforeThem) {
  const std::vector<std::string> strings = {"", "END", "STOP"};
  EXPECT_EQ(before_any_of("so STOP it ENDs", strings), "so ");
  EXPECT_EQ(before_any_of("STO", strings), "STO");
}

}  // namespace
}  // namespace tritonsmith::generate
