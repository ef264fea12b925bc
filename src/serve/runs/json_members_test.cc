#include "serve/runs/json_members.h"

#include <gtest/gtest.h>

#include "base/json.h"

namespace tritonsmith::serve::runs {
namespace {

TEST(JsonMembers, AreTheTextsOfTheirValues) {
  const std::string text =
      R"( {"a" : "x\\\"}" , "b":[1,{"c":"]"},[]],"empty":{},"n":-1.5e3 ,"t":true,"a":null} )";
  const auto members = JsonMembers::of(text);
  ASSERT_TRUE(members);
  const Json parsed = Json::parse(text);
  for (const auto& [name, value] : parsed.items())
    EXPECT_EQ(Json::parse(members->get(name)), value) << name;
  EXPECT_EQ(members->get("c"), "");
  EXPECT_TRUE(JsonMembers::of("{}"));
}

TEST(JsonMembers, AreNoneOfATextThatIsNoObjectAndOfNoneThatIsCutOff) {
  const std::string whole = R"({"a":"x\\","b":[1,{"c":2}],"d":false})";
  ASSERT_TRUE(JsonMembers::of(whole));
  for (std::size_t length = 0; length < whole.size(); ++length)
    EXPECT_FALSE(JsonMembers::of(whole.substr(0, length))) << whole.substr(0, length);
  for (const char* none :
       {"[1]", "1", R"({"a"})", R"({"a":})", R"({"a":1,})", R"({"a":1 2})", "{1:2}"})
    EXPECT_FALSE(JsonMembers::of(none)) << none;
}

TEST(JsonMembers, CountTheElementsOfAnArray) {
  EXPECT_EQ(count_elements("[]"), 0);
  EXPECT_EQ(count_elements("[ 7 ]"), 1);
  EXPECT_EQ(count_elements(R"([1, "a,b", [2,3], {"x": [4,5]}])"), 4);
  EXPECT_FALSE(count_elements("{}"));
}

}  // namespace
}  // namespace tritonsmith::serve::runs
