#include "gym/api/token.h"

#include <gtest/gtest.h>

namespace tritonsmith::gym::api {
namespace {

TEST(ServiceUrlTest, TakesTheTokenOutOfTheUrl) {
  const auto service = service_url("http://any:a-token-of-20-letters@gym:8800", "");
  ASSERT_TRUE(service) << service.error().message;
  EXPECT_EQ(service->url, "http://gym:8800");
  EXPECT_EQ(service->token, "a-token-of-20-letters");
}

TEST(ServiceUrlTest, RefusesAUserWithoutATokenAndDoesNotRepeatThePassword) {
  EXPECT_FALSE(service_url("http://any@gym:8800", ""));
  const auto shorter = service_url("http://any:short@gym:8800", "");
  ASSERT_FALSE(shorter);
  EXPECT_EQ(shorter.error().message.find("short@"), std::string::npos);
}

TEST(ServiceUrlTest, ReadsTheTokensFileWhereTheUrlHasNone) {
  const auto none = service_url("http://gym:8800/a@b", "/no/such/file");
  ASSERT_FALSE(none);
  EXPECT_NE(none.error().message.find("/no/such/file"), std::string::npos);
}

}  // namespace
}  // namespace tritonsmith::gym::api
