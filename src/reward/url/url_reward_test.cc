#include "reward/url/url_reward.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "base/temp_dir.h"
#include "reward/url/testing/reward_server.h"

namespace tritonsmith::reward {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// The length of each completion.
void give_lengths(const Json& body, httplib::Response& response) {
  Json rewards = Json::array();
  for (const Json& item : body["items"])
    rewards.push_back(item["completion"].get<std::string>().size());
  response.set_content(Json{{"rewards", rewards}}.dump(), "application/json");
}

class UrlRewardTest : public testing::Test {
 protected:
  std::vector<UrlItem> items(std::initializer_list<const char*> completions) const {
    std::vector<UrlItem> made;
    for (const char* each : completions)
      made.push_back(
          {.task = "t", .prompt = "p", .completion = each, .kernel = "k", .verdict = &verdict_});
    return made;
  }
  Result<std::vector<double>> ask(const UrlRewardConfig& config, std::vector<UrlItem> given) {
    const auto made = UrlReward::make(config, [&](double seconds) { waits_.push_back(seconds); });
    if (!made) return tl::unexpected(made.error());
    return made->ask(given);
  }
  Verdict verdict_{.task_id = "t", .accepted = true};
  std::vector<double> waits_;
};

TEST_F(UrlRewardTest, PostsPromptCompletionAndVerdictInBatches) {
  RewardServer server(
      [](int, const Json& body, httplib::Response& response) { give_lengths(body, response); });
  const auto rewards = ask({.url = server.url(), .url_batch = 2}, items({"a", "bb", "ccc"}));
  ASSERT_TRUE(rewards) << rewards.error().message;
  EXPECT_THAT(*rewards, ElementsAre(1, 2, 3));
  ASSERT_EQ(server.asked().size(), 2U);
  const Json first = server.asked()[0]["items"][1];
  EXPECT_EQ(first["prompt"], "p");
  EXPECT_EQ(first["completion"], "bb");
  EXPECT_EQ(first["kernel"], "k");
  EXPECT_EQ(first["verdict"]["accepted"], true);
  EXPECT_EQ(server.asked()[1]["items"].size(), 1U);
}

TEST_F(UrlRewardTest, AsksAgainWithLongerWaitsUntilTheServerIsBack) {
  RewardServer server([](int number, const Json& body, httplib::Response& response) {
    if (number == 0) response.status = 500;
    if (number == 1) {
      response.status = 503;
      response.set_header("Retry-After", "7");
    }
    if (number == 2) response.set_content(R"({"rewards": [1]})", "application/json");  // too few
    if (number == 3) response.set_content(R"([1, null])", "application/json");
    if (number == 4) give_lengths(body, response);
  });
  const auto rewards = ask({.url = server.url()}, items({"a", "bb"}));
  ASSERT_TRUE(rewards) << rewards.error().message;
  EXPECT_THAT(*rewards, ElementsAre(1, 2));
  EXPECT_THAT(waits_, ElementsAre(1, 7, 4, 8));
}

TEST_F(UrlRewardTest, AFailingServerIsAFaultAndNeverAZero) {
  RewardServer server([](int, const Json&, httplib::Response& response) { response.status = 500; });
  const auto rewards = ask({.url = server.url(), .url_attempts = 3}, items({"a"}));
  ASSERT_FALSE(rewards);
  EXPECT_EQ(rewards.error().kind, ErrorKind::fault);
  EXPECT_THAT(rewards.error().message, HasSubstr("status 500"));
  EXPECT_EQ(server.asked().size(), 3U);
}

TEST_F(UrlRewardTest, AServerThatIsNotThereIsAFault) {
  std::string url;
  {
    url = RewardServer([](int, const Json&, httplib::Response&) {}).url();
  }
  const auto rewards = ask({.url = url, .url_attempts = 2}, items({"a"}));
  ASSERT_FALSE(rewards);
  EXPECT_EQ(rewards.error().kind, ErrorKind::fault);
  EXPECT_THAT(rewards.error().message, HasSubstr("no answer"));
}

TEST_F(UrlRewardTest, ARefusalIsNotRepeated) {
  RewardServer server([](int, const Json&, httplib::Response& response) {
    response.status = 401;
    response.set_content("who are you?", "text/plain");
  });
  const auto rewards = ask({.url = server.url()}, items({"a"}));
  ASSERT_FALSE(rewards);
  EXPECT_THAT(rewards.error().message, HasSubstr("status 401: who are you?"));
  EXPECT_EQ(server.asked().size(), 1U);
}

TEST_F(UrlRewardTest, SendsTheTokenOfItsFile) {
  const auto folder = TempDir::make("token");
  ASSERT_TRUE(folder && write_file_atomic(folder->path() / "token", "secret\n"));
  RewardServer server(
      [](int, const Json& body, httplib::Response& response) { give_lengths(body, response); });
  ASSERT_TRUE(ask({.url = server.url(), .url_token_file = (folder->path() / "token").string()},
                  items({"a"})));
  EXPECT_THAT(server.tokens(), ElementsAre("Bearer secret"));
}

TEST(UrlRewardConfig, RefusesWhatIsNoUrl) {
  EXPECT_TRUE(check(UrlRewardConfig{}));
  EXPECT_TRUE(check(UrlRewardConfig{.url = "https://host/path"}));
  for (const char* wrong : {"host:9000", "ftp://host", "http://"}) {
    const Status status = check(UrlRewardConfig{.url = wrong});
    ASSERT_FALSE(status) << wrong;
    EXPECT_THAT(status.error().message, HasSubstr("must be a URL"));
  }
}

TEST(RewardsIn, TakesOneFiniteNumberForEachCompletion) {
  EXPECT_THAT(*rewards_in("[0.5, -1]", 2), ElementsAre(0.5, -1));
  for (const char* wrong :
       {"{}", "3", "[1]", "[1, \"2\"]", "[1, 1e999]", "{\"rewards\": 1}", "not json"})
    EXPECT_FALSE(rewards_in(wrong, 2)) << wrong;
}

}  // namespace
}  // namespace tritonsmith::reward
