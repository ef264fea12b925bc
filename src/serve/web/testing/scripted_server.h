// ScriptedServer: a WebServer whose models write what a test's functions say, with a fake judge.
#pragma once

#include <gtest/gtest.h>
#include <httplib.h>

#include <atomic>
#include <condition_variable>
#include <map>
#include <mutex>

#include "base/event_stream.h"
#include "generate/testing/scripted_writer.h"
#include "gym/api/testing/fake_judge.h"
#include "serve/web/web_server.h"

namespace tritonsmith::serve::web {

inline constexpr const char* kModule =
    "class Model:\n    pass\n\ndef get_inputs():\n    return []\n";

inline std::string with_kernel(const std::string& kernel) {
  return "<answer>\n```python\n" + kernel + "\n```\n</answer>";
}

// The number in a text with "number 7", or nothing.
inline std::string number_in(const std::string& text) {
  constexpr std::string_view mark = "number ";
  const std::size_t at = text.find(mark);
  if (at == std::string::npos) return "";
  const std::string rest = text.substr(at + mark.size());
  return rest.substr(0, rest.find_first_not_of("0123456789"));
}

// Begins every text and finishes none.
class EndlessWriter : public generate::Writer {
 public:
  Status submit(generate::WriteRequest request) override {
    if (request.on_text) request.on_text("more ");
    return ok();
  }
  Result<std::optional<generate::Written>> next_by(Deadline deadline) override {
    std::unique_lock lock(mutex_);
    never_.wait_until(lock, deadline.at());
    return std::optional<generate::Written>();
  }
  void cancel(std::uint64_t) override {}

 private:
  std::mutex mutex_;
  std::condition_variable never_;
};

// A server whose models write what `write` says, and whose judge accepts kernels with "good" in them. If
// the module has a number, the kernel must have the same. A kernel with "small" is wrong for 512 rows.
class ScriptedServer {
 public:
  explicit ScriptedServer(generate::ScriptedWriter::Write write,
                          std::vector<gym::service::Token> tokens = {},
                          const std::filesystem::path& store = {})
      : ScriptedServer(std::make_unique<generate::ScriptedWriter>(std::move(write)),
                       std::move(tokens), store) {}
  explicit ScriptedServer(std::unique_ptr<generate::Writer> writer,
                          std::vector<gym::service::Token> tokens = {},
                          const std::filesystem::path& store = {})
      : ScriptedServer(named("small", std::move(writer)), std::move(tokens), store) {}
  using Writers = std::map<std::string, std::unique_ptr<generate::Writer>>;
  explicit ScriptedServer(Writers writers, std::vector<gym::service::Token> tokens = {},
                          const std::filesystem::path& store = {})
      : writers_(std::move(writers)),
        gym_([this](const gym::api::JudgeJob& job) {
          ++judged_jobs;
          const bool fits = job.task.source.find("[torch.randn(512") == std::string::npos ||
                            job.kernel.find("small") == std::string::npos;
          return fits && job.kernel.find("good") != std::string::npos &&
                         number_in(job.kernel) == number_in(job.task.source)
                     ? gym::api::accepted_verdict()
                     : gym::api::failed_verdict(Stage::ran, ErrorClass::wrong_value);
        }),
        judge_(gym_) {
    std::vector<openai::ServedModel> served;
    for (const auto& [name, writer] : writers_)
      served.push_back({.name = name, .model = models_.try_emplace(name, *writer).first->second});
    auto assistant = assistant::Assistant::open(
        store, {}, {.models = uses(), .judge = judge_, .words = [](const Verdict& verdict) {
                      return verdict.accepted ? "right" : "wrong";
                    }});
    EXPECT_TRUE(assistant.has_value());
    assistant_ = *std::move(assistant);
    routes_.emplace(
        WebParts{.models = served,
                 .limits = {},
                 .assistant = *assistant_,
                 .judge = judge_,
                 .judged_by = "no GPU",
                 .suite = {{.id = "twice", .source = kModule, .instruction = "Do it."}}});
    auto server =
        WebServer::start({.address = {"127.0.0.1", 0}, .tokens = std::move(tokens)}, *routes_);
    EXPECT_TRUE(server.has_value());
    server_ = *std::move(server);
  }

  httplib::Client client(const std::string& token = "") const {
    httplib::Client client("127.0.0.1", server_->port());
    if (!token.empty()) client.set_bearer_token_auth(token);
    return client;
  }
  Json post(const std::string& path, const Json& body, int status = 200) const {
    const auto reply = client().Post(path, body.dump(), "application/json");
    EXPECT_TRUE(reply && reply->status == status) << (reply ? reply->body : "no reply");
    return reply ? Json::parse(reply->body) : Json();
  }
  Json get(const std::string& path) const {
    const auto reply = client().Get(path);
    EXPECT_TRUE(reply && reply->status == 200) << (reply ? reply->body : "no reply");
    return reply ? Json::parse(reply->body) : Json();
  }
  // One of the server's counters and gauges.
  int metric(const std::string& name) const { return metric_of("", name); }
  int metric_of(const std::string& token, const std::string& name) const {
    return value_in(metrics(token), name);
  }
  // All of them at one moment, as text.
  std::string metrics(const std::string& token = "") const {
    const auto reply = client(token).Get("/metrics");
    return reply ? reply->body : "";
  }
  static int value_in(const std::string& metrics, const std::string& name) {
    const std::string line = "\ntritonsmith_serve_" + name + " ";
    const std::size_t at = metrics.find(line);
    EXPECT_NE(at, std::string::npos) << name;
    return at == std::string::npos ? -1 : std::atoi(metrics.c_str() + at + line.size());
  }
  // The events of a search until its end; the last one, which has only the attempts that no earlier
  // event had.
  Json followed(const std::string& id) const {
    Json last;
    EventStreamReader reader([&](const ServerEvent& event) { last = Json::parse(event.data); });
    const auto reply =
        client().Get("/api/searches/" + id + "/events", [&](const char* data, std::size_t length) {
          return reader.feed({data, length}).has_value();
        });
    EXPECT_TRUE(reply);
    return last;
  }

  std::atomic<int> judged_jobs = 0;

 private:
  static Writers named(const std::string& name, std::unique_ptr<generate::Writer> writer) {
    Writers writers;
    if (writer) writers.emplace(name, std::move(writer));
    return writers;
  }
  std::vector<assistant::ModelUse> uses() {
    const auto prompt = [](const Task& task) {
      return std::vector<text::Message>{{text::Role::user, task.source}};
    };
    std::vector<assistant::ModelUse> uses;
    for (auto& [name, model] : models_)
      uses.push_back({.name = name, .model = model, .prompt = prompt});
    return uses;
  }

  Writers writers_;
  gym::api::FakeJudge gym_;
  std::map<std::string, openai::SharedModel> models_;
  assistant::SharedJudge judge_;
  std::unique_ptr<assistant::Assistant> assistant_;
  std::optional<Routes> routes_;
  std::unique_ptr<WebServer> server_;
};

inline Json chat(const std::string& model, const std::string& content) {
  return {{"model", model}, {"messages", {{{"role", "user"}, {"content", content}}}}};
}

}  // namespace tritonsmith::serve::web
