#include "gym/remote/remote_judge.h"

#include <gtest/gtest.h>
#include <httplib.h>

#include <fstream>

#include "base/event_stream.h"
#include "gym/service/http/http_server.h"
#include "gym/service/testing/service_fixture.h"

namespace tritonsmith::gym::service {
namespace {

constexpr const char* kServerToken = "a-token-of-some-length";

struct RemoteJudgeTest : ServiceFixture {
  void serve(int port = 0) {
    auto started = HttpServer::start({.address = {.host = "127.0.0.1", .port = port},
                                      .tokens = {{.name = "all", .token = kServerToken}}},
                                     service(), metrics);
    ASSERT_TRUE(started) << started.error().message;
    server = *std::move(started);
  }
  remote::RemoteJudgeConfig config(const std::string& token = kServerToken) const {
    const std::string file = (directory->path() / "token").string();
    std::ofstream(file) << token << "\n";
    return {.url = fmt::format("http://127.0.0.1:{}", server ? server->port() : 1),
            .token_file = file};
  }
  static api::JudgeJob job(std::uint64_t id, const std::string& kernel) {
    return {.id = id, .task = {.id = fmt::format("task {}", id), .source = "t"}, .kernel = kernel};
  }
  static std::map<std::uint64_t, Verdict> take(api::Judge& judge, int count) {
    std::map<std::uint64_t, Verdict> verdicts;
    for (int k = 0; k < count; ++k) {
      const auto judged = judge.next(Deadline::after(std::chrono::seconds(20)));
      EXPECT_TRUE(judged && *judged);
      if (judged && *judged) verdicts[(*judged)->id] = (*judged)->verdict;
    }
    return verdicts;
  }
  static bool soon(const std::function<bool()>& holds) {
    const Deadline deadline = Deadline::after(std::chrono::seconds(20));
    while (!holds() && !deadline.passed())
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return holds();
  }
  std::unique_ptr<HttpServer> server;
};

TEST_F(RemoteJudgeTest, JudgesAsALocalOneDoes) {
  serve();
  const auto judge = *remote::RemoteJudge::open(config());
  ASSERT_TRUE(judge->submit(job(1, "good")));
  ASSERT_TRUE(judge->submit(job(2, "bad")));
  ASSERT_TRUE(judge->submit(job(3, "good")));  // equal to the first job, except for its task's name
  const auto verdicts = take(*judge, 3);
  EXPECT_TRUE(verdicts.at(1).accepted && verdicts.at(3).accepted);
  EXPECT_EQ(verdicts.at(2).error->error_class, ErrorClass::wrong_value);
  EXPECT_EQ(verdicts.at(3).task_id, "task 3");
  EXPECT_FALSE(judge->next(Deadline::never())->has_value());
  ASSERT_TRUE(judge->submit(job(4, "good")));
  EXPECT_TRUE(take(*judge, 1).at(4).accepted);
}

TEST_F(RemoteJudgeTest, GoesOnWhenTheServiceComesBack) {
  serve();
  const auto judge = *remote::RemoteJudge::open(config());
  hold = true;
  for (std::uint64_t id = 1; id <= 5; ++id)
    ASSERT_TRUE(judge->submit(job(id, fmt::format("kernel {}", id))));
  while (job_store->counts()->running + job_store->counts()->queued.at(api::Priority::normal) < 5)
    std::this_thread::yield();
  const int port = server->port();
  server.reset();
  // Imitates a restart without the list of jobs.
  forget_everything();
  hold = false;
  serve(port);
  EXPECT_EQ(take(*judge, 5).size(), 5U);
}

TEST_F(RemoteJudgeTest, AsksForItsClassOfDevicesInEachJobThatNamesNone) {
  devices = {"gpu", "sm_90", "NVIDIA H200"};
  std::atomic<int> by_name = 0, by_chip = 0;
  verdict_for = [&](const api::JudgeJob& asked) {
    (asked.device == "NVIDIA H200" ? by_name : by_chip) += 1;
    return api::accepted_verdict();
  };
  serve();
  auto of_class = config();
  of_class.device = "NVIDIA H200";
  const auto judge = *remote::RemoteJudge::open(of_class);
  auto other = job(2, "good");
  other.device = "sm_90";
  ASSERT_TRUE(judge->submit(job(1, "good")));
  ASSERT_TRUE(judge->submit(other));
  take(*judge, 2);
  EXPECT_EQ(by_name, 1);
  EXPECT_EQ(by_chip, 1);
  auto evaluated = job(3, "good");
  evaluated.backend = Backend::evaluate;
  EXPECT_FALSE(judge->submit(evaluated)) << "a GPU evaluates nothing";
}

TEST_F(RemoteJudgeTest, SaysAtTheStartThatTheServiceHasNoDeviceOfItsClass) {
  devices = {"gpu", "sm_90", "NVIDIA H200"};
  serve();
  ASSERT_TRUE(soon([this] { return !job_store->reports().workers()->empty(); }));
  auto of_class = config();
  of_class.device = "NVIDIA A100";
  const auto judge = remote::RemoteJudge::open(of_class);
  ASSERT_FALSE(judge);
  EXPECT_EQ(judge.error().kind, ErrorKind::input);
  for (const char* part : {"NVIDIA A100", "NVIDIA H200", "sm_90"})
    EXPECT_NE(judge.error().message.find(part), std::string::npos) << judge.error().message;
}

TEST_F(RemoteJudgeTest, AsksForOneKindWhereTheServiceHasSeveral) {
  devices = {"cpu", "gpu", "sm_90", "NVIDIA H200"};
  std::mutex mutex;
  std::map<std::string, std::string> asked_for;  // by kernel
  verdict_for = [&](const api::JudgeJob& asked) {
    const std::lock_guard lock(mutex);
    asked_for[asked.kernel] = asked.device;
    return api::accepted_verdict();
  };
  serve();
  ASSERT_TRUE(soon([this] { return !job_store->reports().workers()->empty(); }));
  const auto judge = [&](const std::string& kernel, const std::string& device, Backend backend) {
    auto with = config();
    with.device = device;
    const auto remote = *remote::RemoteJudge::open(with);
    auto asked = job(1, kernel);
    asked.backend = backend;
    ASSERT_TRUE(remote->submit(asked));
    take(*remote, 1);
  };
  judge("alone", "", Backend::automatic);
  const std::vector<std::string> others = {"cpu", "gpu", "sm_89", "NVIDIA L4"};
  ASSERT_TRUE(job_store->reports().announce({.worker = "other", .devices = others},
                                            {.host = "h", .devices = others}));
  judge("of one kind", "", Backend::automatic);
  judge("on all GPUs", "gpu", Backend::automatic);
  judge("evaluated", "", Backend::evaluate);
  const std::map<std::string, std::string> expected = {
      {"alone", ""}, {"of one kind", "NVIDIA H200"}, {"on all GPUs", "gpu"}, {"evaluated", ""}};
  EXPECT_EQ(asked_for, expected);
}

TEST_F(RemoteJudgeTest, CancelsThereToo) {
  serve();
  const auto judge = *remote::RemoteJudge::open(config());
  hold = true;
  ASSERT_TRUE(judge->submit(job(1, "k")));
  while (job_store->counts()->running == 0) std::this_thread::yield();
  judge->cancel(1);
  while (job_store->counts()->running != 0) std::this_thread::yield();
  EXPECT_FALSE(judge->next(Deadline::never())->has_value());
}

TEST_F(RemoteJudgeTest, LeavesNothingBehind) {
  serve();
  auto judge = *remote::RemoteJudge::open(config());
  hold = true;
  ASSERT_TRUE(judge->submit(job(1, "k")));
  while (job_store->counts()->running == 0) std::this_thread::yield();
  judge.reset();
  EXPECT_TRUE(soon([this] { return job_store->counts()->running == 0; }));
}

// On a busy machine, a judge may leave while its second submission is read but not yet handled. (It
// sends everything again when a stream begins.)
TEST_F(RemoteJudgeTest, LeavesNothingBehindThatArrivesLate) {
  hold = true;
  service();
  std::atomic<int> posts = 0;
  std::atomic<bool> said_farewell = false;
  const auto pass = [this](const httplib::Request& request, httplib::Response& response) {
    const HttpReply reply =
        service().answer({.method = request.method, .path = request.path, .body = request.body});
    response.status = reply.status;
    response.set_content(reply.body, reply.content_type);
  };
  httplib::Server front;
  front.Post(".*", [&](const httplib::Request& request, httplib::Response& response) {
    const bool is_late = posts++ > 0;
    EXPECT_TRUE(!is_late || soon([&] { return said_farewell.load(); }));
    pass(request, response);
  });
  front.Delete(".*", [&](const httplib::Request& request, httplib::Response& response) {
    pass(request, response);
    said_farewell = true;
  });
  front.Get("/v1/status", pass);
  front.Get("/v1/verdicts", [](const httplib::Request&, httplib::Response& response) {
    response.set_content(": still here\n\n", "text/event-stream");
  });
  remote::RemoteJudgeConfig at_front = config();
  at_front.url = fmt::format("http://127.0.0.1:{}", front.bind_to_any_port("127.0.0.1"));
  std::jthread serving([&] { front.listen_after_bind(); });
  auto judge = *remote::RemoteJudge::open(at_front);
  ASSERT_TRUE(judge->submit(job(1, "k")));
  EXPECT_TRUE(soon([&] { return posts > 1; }));
  judge.reset();
  front.stop();
  serving.join();  // every request has been answered
  const JobCounts counts = *job_store->counts();
  EXPECT_EQ(counts.running + counts.queued.at(api::Priority::normal), 0);
}

TEST_F(RemoteJudgeTest, SaysAtOnceWhenItIsNotServed) {
  const auto nobody = remote::RemoteJudge::open(config());
  ASSERT_FALSE(nobody);
  EXPECT_NE(nobody.error().message.find("http://127.0.0.1:1"), std::string::npos);
  serve();
  const auto stranger = remote::RemoteJudge::open(config("a-wrong-token-of-that-length"));
  ASSERT_FALSE(stranger);
  EXPECT_NE(stranger.error().message.find("token"), std::string::npos);
  const auto short_token = remote::RemoteJudge::open(config("short"));
  ASSERT_FALSE(short_token);
}

TEST_F(RemoteJudgeTest, GivesUpWhenPatienceIsOver) {
  serve();
  remote::RemoteJudgeConfig impatient = config();
  impatient.patience_seconds = 0;
  const auto judge = *remote::RemoteJudge::open(impatient);
  hold = true;
  ASSERT_TRUE(judge->submit(job(1, "k")));
  while (job_store->counts()->running == 0) std::this_thread::yield();
  server.reset();
  const auto judged = judge->next(Deadline::after(std::chrono::seconds(20)));
  ASSERT_FALSE(judged);
  EXPECT_NE(judged.error().message.find("away"), std::string::npos);
}

TEST(EventStreamReader, ReadsEventsHoweverTheyAreCut) {
  const std::string text =
      "id: 1\nevent: verdict\ndata: a\ndata: b\n\n: comment\n\nid: 2\r\ndata:c\r\n\r\n";
  for (std::size_t step = 1; step <= text.size(); ++step) {
    std::vector<ServerEvent> events;
    EventStreamReader reader([&](const ServerEvent& event) { events.push_back(event); });
    for (std::size_t at = 0; at < text.size(); at += step)
      ASSERT_TRUE(reader.feed(std::string_view(text).substr(at, step)));
    ASSERT_EQ(events.size(), 2U);
    EXPECT_EQ(events[0].data, "a\nb");
    EXPECT_EQ(events[0].type, "verdict");
    EXPECT_EQ(events[1].id + events[1].data, "2c");
  }
  EventStreamReader small([](const ServerEvent&) {}, 10);
  EXPECT_FALSE(small.feed("data: " + std::string(20, 'x')));
}

}  // namespace
}  // namespace tritonsmith::gym::service
