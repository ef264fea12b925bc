#include "gym/service/http/access.h"

#include <gtest/gtest.h>

#include <fstream>

#include "base/json.h"
#include "base/temp_dir.h"
#include "gym/service/http/access_log.h"

namespace tritonsmith::gym::service {
namespace {

struct HandClock : Clock {
  TimePoint now() const override { return at; }
  TimePoint at;
};

struct TokensFileTest : ::testing::Test {
  Result<std::vector<Token>> read(const std::string& text) {
    const std::string file = (directory->path() / "tokens.toml").string();
    std::ofstream(file) << text;
    return read_tokens_file(file);
  }
  std::string error_of(const std::string& text) {
    const auto tokens = read(text);
    return tokens ? "" : tokens.error().message;
  }
  Result<TempDir> directory = TempDir::make("tokens");
};

TEST_F(TokensFileTest, HasASectionForEachToken) {
  const auto tokens = read(R"(
[ann]
token = "a-token-of-some-length"
unfinished_jobs = 100
requests_per_minute = 60

[nightly.ci]
token = "another-token-of-that-length"
)");
  ASSERT_TRUE(tokens) << tokens.error().message;
  ASSERT_EQ(tokens->size(), 2U);
  EXPECT_EQ(tokens->at(0).name, "ann");
  EXPECT_EQ(tokens->at(0).token, "a-token-of-some-length");
  EXPECT_EQ(tokens->at(0).unfinished_jobs, 100);
  EXPECT_EQ(tokens->at(0).requests_per_minute, 60);
  EXPECT_EQ(tokens->at(1).name, "nightly.ci");
  EXPECT_EQ(tokens->at(1).unfinished_jobs, 0);
}

TEST_F(TokensFileTest, SaysInOneLineWhatIsWrong) {
  const std::string good = "token = \"a-token-of-some-length\"\n";
  const std::vector<std::pair<std::string, std::string>> wrong = {
      {"", "no token"},
      {good, "outside of a section"},
      {"[ann]\ntokn = \"x\"\n", "'token'"},
      {"[ann]\ntoken = \"short\"\n", "16"},
      {"[ann]\nunfinished_jobs = 3\n", "[ann]"},
      {"[ann]\n" + good + "unfinished_jobs = 0\n", "unfinished_jobs"},
      {"[\"a b\"]\n" + good, "a b"},
      {"[ann]\n" + good + "[bob]\n" + good, "another section"}};
  for (const auto& [text, word] : wrong) {
    EXPECT_NE(error_of(text).find(word), std::string::npos) << text << ": " << error_of(text);
    EXPECT_EQ(error_of(text).find('\n'), std::string::npos);
  }
}

TEST(Access, KnowsWhoseTokenItIs) {
  const Access access({{.name = "ann", .token = "aaaa"}, {.name = "bob", .token = "bbbb"}});
  ASSERT_NE(access.find("Bearer bbbb"), nullptr);
  EXPECT_EQ(access.find("Bearer bbbb")->name, "bob");
  EXPECT_EQ(access.find("Bearer cccc"), nullptr);
  EXPECT_EQ(access.find("bbbb"), nullptr);
  EXPECT_EQ(access.find(""), nullptr);
}

TEST(Access, LetsEachTokenAskAsOftenAsItMay) {
  HandClock clock;
  Access access({{.name = "ann", .token = "aaaa", .requests_per_minute = 2},
                 {.name = "bob", .token = "bbbb"}},
                clock);
  const Token& ann = *access.find("Bearer aaaa");
  EXPECT_EQ(access.seconds_to_wait(ann), 0);
  EXPECT_EQ(access.seconds_to_wait(ann), 0);
  EXPECT_EQ(access.seconds_to_wait(ann), 30);
  clock.at += std::chrono::seconds(20);
  EXPECT_EQ(access.seconds_to_wait(ann), 10);
  clock.at += std::chrono::seconds(11);
  EXPECT_EQ(access.seconds_to_wait(ann), 0);
  clock.at += std::chrono::hours(1);
  EXPECT_EQ(access.seconds_to_wait(ann), 0);
  EXPECT_EQ(access.seconds_to_wait(ann), 0);
  EXPECT_GT(access.seconds_to_wait(ann), 0) << "no more than a minute's worth is saved up";
  for (int k = 0; k < 1000; ++k) ASSERT_EQ(access.seconds_to_wait(*access.find("Bearer bbbb")), 0);
}

TEST(AccessLog, WritesOneLineThatNobodyCanForge) {
  const AccessLogEntry entry{.unix_ms = 1'700'000'000'123,
                             .address = "127.0.0.1",
                             .token = "ann",
                             .method = "GET",
                             .target = "/v1/jobs\n\x1b[31m\"",
                             .status = 404,
                             .bytes = 7,
                             .milliseconds = 1.25};
  EXPECT_EQ(access_log_line(entry, AccessLogForm::text),
            "2023-11-14T22:13:20.123Z 127.0.0.1 ann \"GET /v1/jobs\\x0a\\x1b[31m\\x22\" 404 7 B "
            "1.2 ms");
  const Json json = Json::parse(access_log_line(entry, AccessLogForm::json));
  EXPECT_EQ(json["time"], "2023-11-14T22:13:20.123Z");
  EXPECT_EQ(json["target"], "/v1/jobs\\x0a\\x1b[31m\\x22");
  EXPECT_EQ(json["milliseconds"], 1.25);
}

}  // namespace
}  // namespace tritonsmith::gym::service
