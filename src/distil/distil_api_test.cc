// A teacher behind a server, which is killed and goes on.
#include <gtest/gtest.h>

#include <fstream>

#include "base/file.h"
#include "base/temp_dir.h"
#include "distil/distil_run.h"
#include "generate/api/api_writer.h"
#include "generate/api/testing/fake_api_server.h"
#include "gym/api/testing/fake_judge.h"

namespace tritonsmith::distil {
namespace {

TEST(DistilOverApi, AsksTheServerNothingTwice) {
  const TempDir folder = *TempDir::make("distil-api-test");
  generate::FakeApiServer server([](const generate::Asked& asked, httplib::Response& response) {
    if (asked.number == 1) return generate::refuse(response, 503, "overloaded", "later");
    const bool is_repair = asked.body["messages"].size() > 1;
    generate::stream_text(response, std::string("<answer>\n```python\n") +
                                        (is_repair ? "right" : "wrong") + "\n```\n</answer>");
  });
  std::vector<Task> tasks;
  for (const char* id : {"a", "b", "c"}) tasks.push_back({.id = id, .source = id});
  const DistilOptions options{
      .samples = 2, .turns = {.limit = 2}, .directory = folder.path() / "run", .in_flight = 4};
  int judged = 0;
  const auto run = [&]() -> Result<DistilCounts> {
    TRY_ASSIGN(const auto writer,
               generate::ApiWriter::open({.base_url = server.url(), .first_wait_seconds = 0.001},
                                         "small", folder.path() / "requests.sqlite"));
    gym::api::FakeJudge judge([&](const gym::api::JudgeJob& job) {
      ++judged;
      return job.kernel.find("right") != std::string::npos
                 ? gym::api::accepted_verdict()
                 : gym::api::failed_verdict(Stage::ran, ErrorClass::wrong_value);
    });
    return distil(tasks, options, *writer, judge, [](const DistilCounts&) {});
  };
  const auto first = run();
  ASSERT_TRUE(first) << first.error().message;
  EXPECT_EQ(first->turns, 12U);
  EXPECT_EQ(first->repaired, 6U);
  EXPECT_EQ(server.asked().size(), 13U);  // one of them twice, because the server was busy

  // A kill between an answer and its record: the answer is in the store of requests.
  const auto lines = *read_lines(options.directory / "samples.jsonl");
  std::ofstream(options.directory / "samples.jsonl") << lines[0] << "\n" << lines[1] << "\n";
  judged = 0;
  const auto again = run();
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(server.asked().size(), 13U);
  EXPECT_EQ(judged, 10);
  EXPECT_EQ(again->turns, 12U);
}

}  // namespace
}  // namespace tritonsmith::distil
