#include "serve/mcp/stdio.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <thread>

#include "serve/mcp/testing/mcp_fixture.h"

namespace tritonsmith::serve::mcp {
namespace {

// A client at the other ends of two pipes.
struct StdioTest : McpFixture {
  void start() {
    auto to_server = make_pipe();
    auto from_server = make_pipe();
    ASSERT_TRUE(to_server && from_server);
    in_ = *std::move(to_server);
    out_ = *std::move(from_server);
    config.input = in_.read.get();
    config.output = out_.write.get();
    const McpServer& serving = server();
    thread_ = std::jthread([this, &serving](const std::stop_token& stop) {
      ended = serve_stdio(serving, config, stop);
    });
  }
  void send_text(const std::string& text) const {
    ASSERT_EQ(::write(in_.write.get(), text.data(), text.size()),
              static_cast<ssize_t>(text.size()));
  }
  void send(const Json& message) const { send_text(to_line(message) + "\n"); }
  Json receive() {
    while (text_.find('\n') == std::string::npos) {
      char buffer[4096];
      const ssize_t count = ::read(out_.read.get(), buffer, sizeof buffer);
      if (count <= 0) return nullptr;
      text_.append(buffer, static_cast<std::size_t>(count));
    }
    const std::size_t end = text_.find('\n');
    const Json message = Json::parse(text_.substr(0, end));
    text_.erase(0, end + 1);
    return message;
  }
  void end() {
    in_.write.reset();
    thread_.join();
  }
  ~StdioTest() override {
    in_.write.reset();
    out_.read.reset();
  }

  StdioConfig config;
  Status ended = ok();

 private:
  Pipe in_, out_;
  std::string text_;
  std::jthread thread_;
};

TEST_F(StdioTest, AnswersALineForALineAndEndsWithItsInput) {
  start();
  send(modern(1, "server/discover"));
  EXPECT_EQ(receive()["result"]["resultType"], "complete");
  send_text("\n  \r\n{\n");
  EXPECT_EQ(receive()["error"]["code"], kParseError);
  send(modern(2, "tools/call", judging("good")));
  const Json judged = receive();
  EXPECT_EQ(judged["id"], 2);
  EXPECT_EQ(judged["result"]["structuredContent"]["accepted"], true);
  end();
  EXPECT_TRUE(ended);
}

TEST_F(StdioTest, AnswersOthersWhileAJobWaitsAndCancelsIt) {
  hold = true;
  start();
  Json call = request(1, "tools/call", judging("slow"));
  call["params"]["_meta"]["progressToken"] = 5;
  send(call);
  send(request(2, "ping"));
  Json message = receive();
  EXPECT_EQ(message["id"], 2);
  message = receive();
  EXPECT_EQ(message["method"], "notifications/progress");
  EXPECT_EQ(message["params"]["progressToken"], 5);
  send({{"jsonrpc", "2.0"}, {"method", "notifications/cancelled"}, {"params", {{"requestId", 1}}}});
  const std::string id = gym::api::job_name(
      {.job = {.task = {.id = "level1/1_A", .source = "class Model: pass\n"}, .kernel = "slow"}});
  const Deadline soon = Deadline::after(std::chrono::seconds(10));
  while ((*job_store->find(id))->state != gym::service::JobState::cancelled && !soon.passed())
    job_store->wait_for_change(job_store->changes(),
                               Deadline::after(std::chrono::milliseconds(20)));
  EXPECT_EQ((*job_store->find(id))->state, gym::service::JobState::cancelled);
  send(request(3, "ping"));
  for (message = receive(); message.contains("method"); message = receive())
    ;  // progress that was on its way
  EXPECT_EQ(message["id"], 3);
  end();
}

TEST_F(StdioTest, RefusesLongLinesAndTooManyCalls) {
  hold = true;
  config.calls = 1;
  config.line_bytes = 1000;
  start();
  send_text(std::string(2000, ' ') + "x\n");
  EXPECT_EQ(receive()["error"]["code"], kInvalidRequest);
  send(request(1, "tools/call", judging("a")));
  send(request(2, "tools/call", judging("b")));
  const Json refused = receive();
  EXPECT_EQ(refused["id"], 2);
  EXPECT_EQ(refused["error"]["code"], kInternalError);
  end();
}

}  // namespace
}  // namespace tritonsmith::serve::mcp
