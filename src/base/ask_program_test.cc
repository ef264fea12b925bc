#include "base/ask_program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tritonsmith {
namespace {

using testing::HasSubstr;

Deadline in_time() { return Deadline::after(std::chrono::seconds(10)); }

TEST(AskProgram, ReturnsTheAnswerToALargeQuestion) {
  const Json question = {{"text", std::string(300'000, 'x')}};
  const auto answer = ask_program({"/bin/cat"}, question, in_time());
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(*answer, question);
}

TEST(AskProgram, SaysHowAProgramFailed) {
  const auto failed = ask_program({"/bin/sh", "-c", "exit 3"}, {}, in_time());
  ASSERT_FALSE(failed);
  EXPECT_THAT(failed.error().message, HasSubstr("/bin/sh exited with code 3"));
  EXPECT_FALSE(ask_program({"/bin/echo", "no JSON"}, {}, in_time()));
}

}  // namespace
}  // namespace tritonsmith
