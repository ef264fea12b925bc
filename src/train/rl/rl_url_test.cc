// A run whose rewards come from a server, too (reward.url).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "reward/url/testing/reward_server.h"
#include "train/rl/testing/rl_fixture.h"

namespace tritonsmith::train {
namespace {

using ::testing::HasSubstr;

// Half a point for a kernel that begins with a or b.
void reward_first_letters(const Json& body, httplib::Response& response) {
  Json rewards = Json::array();
  for (const Json& item : body["items"])
    rewards.push_back(item["kernel"].get<std::string>()[0] <= 'b' ? 0.5 : 0.0);
  response.set_content(rewards.dump(), "application/json");
}

class RlUrlTest : public RlTest {
 protected:
  void expect_terms() {
    const auto all = samples();
    ASSERT_EQ(all.size(), 3U * 2 * 4);
    for (const Sample& sample : all) {
      const auto term = std::ranges::find(sample.reward.terms, "url", &RewardTerm::name);
      ASSERT_NE(term, sample.reward.terms.end());
      EXPECT_EQ(term->value, sample.kernel[0] <= 'b' ? 0.5 : 0.0);
      EXPECT_EQ(term->weight, 3);
      double sum = 0;
      for (const RewardTerm& each : sample.reward.terms) sum += each.value * each.weight;
      EXPECT_NEAR(sample.reward.total, sum, 1e-9);
    }
  }
};

TEST_F(RlUrlTest, AddsTheServersNumberAsATermOfItsOwn) {
  reward::RewardServer server([](int, const Json& body, httplib::Response& response) {
    reward_first_letters(body, response);
  });
  config_.url_reward = {.url = server.url(), .url_weight = 3, .url_batch = 5};
  const auto summary = run();
  ASSERT_TRUE(summary) << summary.error().message;
  expect_terms();
  EXPECT_EQ(server.asked().size(), 3U * 2);  // two requests a step: five samples and three
  EXPECT_EQ(server.asked()[0]["items"][0]["verdict"]["stage"].is_string(), true);
  EXPECT_EQ(metric("reward_weight/url").back(), 3);
}

TEST_F(RlUrlTest, AsksForEachGroupWhereGroupsAreLearntFromEarly) {
  reward::RewardServer server([](int, const Json& body, httplib::Response& response) {
    reward_first_letters(body, response);
  });
  config_.url_reward = {.url = server.url(), .url_weight = 3};
  config_.rollout.learn_early = true;
  const auto summary = run();
  ASSERT_TRUE(summary) << summary.error().message;
  expect_terms();
  EXPECT_EQ(server.asked().size(), 3U * 2);  // two groups a step
}

TEST_F(RlUrlTest, StopsByAFaultWhenTheServerFails) {
  reward::RewardServer server(
      [](int, const Json&, httplib::Response& response) { response.status = 500; });
  for (const bool early : {false, true}) {
    config_.url_reward = {.url = server.url(), .url_attempts = 1};
    config_.rollout.learn_early = early;
    const auto summary = run();
    ASSERT_FALSE(summary);
    EXPECT_EQ(summary.error().kind, ErrorKind::fault);
    EXPECT_THAT(summary.error().message, HasSubstr("a missing reward is no zero"));
  }
}

TEST_F(RlUrlTest, RefusesAUrlThatIsNoneBeforeItStarts) {
  config_.url_reward = {.url = "localhost:9000"};
  const auto summary = run();
  ASSERT_FALSE(summary);
  EXPECT_THAT(summary.error().message, HasSubstr("must be a URL"));
}

}  // namespace
}  // namespace tritonsmith::train
