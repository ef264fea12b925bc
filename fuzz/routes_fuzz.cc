// Fuzzes whole requests to the endpoints that trainers and agents use: NeMo Gym, OpenEnv (over HTTP and
// over a WebSocket), MCP with the arguments of its tools, OpenRLHF and slime. The first byte chooses
// what the judge says of every kernel. Then each line is a request: a letter for its route, and its
// body. Whatever the body, the reply is JSON. A reply of status 503, which a client repeats, needs a
// fault of the judge.
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/check.h"
#include "gym/api/testing/fake_judge.h"
#include "gym/service/routes/route.h"
#include "serve/mcp/mcp_routes.h"
#include "serve/nemo_gym/nemo_gym_routes.h"
#include "serve/openenv/openenv_routes.h"
#include "serve/rewards/reward_routes.h"

namespace {

using namespace tritonsmith;
using namespace tritonsmith::serve;
using gym::service::HttpCall;
using gym::service::HttpReply;
using gym::service::JobState;
using gym::service::JobView;

enum class Opinion { timed, accepted, wrong, refused, infrastructure };
constexpr std::size_t kOpinions = 5;

Verdict verdict_of(Opinion opinion) {
  Verdict verdict = gym::api::accepted_verdict();
  switch (opinion) {
    case Opinion::accepted:
      break;
    case Opinion::timed:
      verdict.stage = Stage::timed;
      verdict.backend = Backend::replay;
      verdict.speedup = 2.0;
      verdict.coverage = 1.0;
      verdict.reference_ms = Timing{.median = 2, .mean = 2, .p10 = 2, .p90 = 2, .n = 9};
      verdict.baselines = {{"eager", *verdict.reference_ms}};
      break;
    case Opinion::wrong:
      return gym::api::failed_verdict(Stage::ran, ErrorClass::wrong_value);
    case Opinion::refused:
      verdict.accepted = false;
      verdict.findings = {{.rule = "torch_compute", .severity = Severity::reject, .message = "m"}};
      break;
    case Opinion::infrastructure:
      verdict = {};
      verdict.fault = Fault::infrastructure;
  }
  return verdict;
}

// A store whose jobs are done as soon as they are submitted. The endpoints use no other part of it.
class DoneJobs : public gym::service::JobStore {
 public:
  explicit DoneJobs(Opinion opinion) : verdict_(to_line(to_json(verdict_of(opinion)))) {}

  Result<Submitted> submit(std::span<const gym::api::Submission> submissions,
                           const gym::service::Submitter&) override {
    std::vector<JobView> views;
    for (const gym::api::Submission& each : submissions) {
      CHECK(!each.job.kernel.empty() && !each.job.task.source.empty(), "an empty job");
      const auto json = parse_json(to_line(gym::api::to_json(each)));
      CHECK(json && gym::api::submission_from_json(*json), "a job that no worker can read");
      const std::string name = gym::api::job_name(each);
      views.push_back(jobs_[name] = {.name = name, .state = JobState::done, .verdict = verdict_});
    }
    return views;
  }
  Result<std::optional<JobView>> find(const std::string& name) override {
    const auto at = jobs_.find(name);
    return at == jobs_.end() ? std::optional<JobView>() : at->second;
  }
  Result<bool> cancel(const std::string&, const std::string&) override { return false; }
  std::uint64_t changes() const override { return 0; }
  void wait_for_change(std::uint64_t, Deadline) const override { not_asked(); }

  Status cancel_all(const std::string&) override { not_asked(); }
  Status dismiss(const std::string&) override { not_asked(); }
  Result<std::vector<gym::service::VerdictEvent>> events(const std::string&, std::int64_t,
                                                         int) override {
    not_asked();
  }
  Result<std::int64_t> awaited_by(const std::string&) override { not_asked(); }
  const std::string& epoch() const override { not_asked(); }
  Result<gym::service::JobCounts> counts() const override { not_asked(); }
  Status recall_queued() override { not_asked(); }
  Result<std::vector<gym::api::Submission>> take(const gym::service::Lease&, int) override {
    not_asked();
  }
  Status renew(const gym::service::Lease&) override { not_asked(); }
  Status conclude(const std::string&, std::span<const gym::service::ConcludedJob>) override {
    not_asked();
  }
  void give_back(const std::string&, const std::string&) override { not_asked(); }
  Result<std::vector<std::string>> take_withdrawn(const std::string&) override { not_asked(); }
  Result<std::vector<gym::api::Submission>> overdue() override { not_asked(); }
  gym::service::GpuRecords& gpus() override { not_asked(); }
  gym::service::JobAliases& aliases() override { not_asked(); }
  gym::service::WorkerReports& reports() override { not_asked(); }
  void notify() override { not_asked(); }

 private:
  [[noreturn]] static void not_asked() {
    CHECK(false, "no endpoint asks the store for this");
    std::abort();
  }

  std::string verdict_;
  std::map<std::string, JobView> jobs_;
};

const Suite& suite() {
  static const Suite suite(
      {Task{.id = "level1/19_ReLU", .source = "class Model: pass\n", .family = "activation"},
       Task{.id = "level1/20_LeakyReLU",
            .source = "class Model: pass\n",
            .instruction = "Be fast.",
            .tolerance = 0.01},
       Task{.id = "level2/1_Conv", .source = "class Model: pass\n"}});
  return suite;
}

// The headers that an honest client of MCP sends with this body.
std::map<std::string, std::string> headers_of(const std::string& body) {
  std::map<std::string, std::string> headers = {
      {"mcp-protocol-version", std::string(mcp::kModernVersion)}};
  const auto json = parse_json(body);
  if (!json || !json->is_object()) return headers;
  const Json method = json->value("method", Json()), params = json->value("params", Json());
  if (method.is_string()) headers["mcp-method"] = method;
  if (!params.is_object()) return headers;
  if (const Json name = params.value("name", Json()); name.is_string()) headers["mcp-name"] = name;
  return headers;
}

class Client {
 public:
  explicit Client(Opinion opinion) : opinion_(opinion), store_(opinion) {
    routes_.add(reward_routes(context_, suite()));
    routes_.add(nemo_gym::nemo_gym_routes(context_, suite()));
    routes_.add(openenv::openenv_routes(environment_));
    routes_.add(mcp::mcp_routes(server_));
  }

  void send(char letter, const std::string& text) {
    constexpr std::string_view letters = "rsgwvaolmeh";
    std::size_t route = letters.find(letter);
    if (route == std::string_view::npos)
      route = static_cast<unsigned char>(letter) % letters.size();
    switch (letters[route]) {
      case 'r':
        return check(call({.method = "POST", .path = "/reset", .body = text}));
      case 's':
        return check(call({.method = "POST", .path = "/step", .body = text}));
      case 'g':
        return check(call({.method = "GET", .path = "/state", .query = {{"episode_id", text}}}));
      case 'w':
        return say(text);
      case 'v':
        return check_reward(call({.method = "POST", .path = "/verify", .body = text}), "reward");
      case 'a':
        return check(call({.method = "POST", .path = "/aggregate_metrics", .body = text}));
      case 'o':
        return check(call({.method = "POST", .path = "/v1/reward/openrlhf", .body = text}));
      case 'l':
        return check_reward(call({.method = "POST",
                                  .path = "/v1/reward/slime",
                                  .query = {{"reward_key", "r"}},
                                  .body = text}),
                            "r");
      case 'm':
        return check(call({.method = "POST", .path = "/mcp", .body = text}));
      case 'e':
        return check(call({.method = "POST",
                           .path = "/mcp",
                           .headers = {{"accept", "application/json, text/event-stream"}},
                           .body = text}));
      default:
        return check(
            call({.method = "POST", .path = "/mcp", .headers = headers_of(text), .body = text}));
    }
  }

 private:
  HttpReply call(const HttpCall& call) const { return routes_.answer(call); }

  void check_status(int status) const {
    const bool is_good = status >= 200 && status < 500;
    CHECK(is_good || (status == 503 && opinion_ == Opinion::infrastructure), "status {}", status);
  }
  void check(const HttpReply& reply) const {
    check_status(reply.status);
    if (reply.stream) {
      std::string text;
      for (std::string piece = "start"; !piece.empty();)
        text += piece = reply.stream->next(Milliseconds(0));
      CHECK(text.starts_with("event: message\ndata: {") && text.ends_with("}\n\n"), "{}", text);
    } else if (reply.status != 202) {
      const auto json = parse_json(reply.body);
      CHECK(json, "'{}' is no JSON", reply.body);
      CHECK(reply.status < 400 || !json->at("error").at("message").empty(),
            "refused without a reason");
    }
  }
  void check_reward(const HttpReply& reply, const char* name) const {
    check(reply);
    if (reply.status != 200) return;
    CHECK(parse_json(reply.body)->at(name).is_number(), "'{}' holds no reward", reply.body);
  }
  void say(const std::string& text) {
    if (session_->is_over()) return;
    session_->take(text);
    while (session_->is_busy()) {
      const auto answer = session_->next(Milliseconds(0));
      if (session_->is_over()) return;
      CHECK(answer, "a message without an answer");
      const auto json = parse_json(*answer);
      CHECK(json && json->at("type").is_string() && json->at("data").is_object(), "{}", *answer);
    }
  }

  Opinion opinion_;
  DoneJobs store_;
  gym::service::ServiceMetrics metrics_;
  gym::service::RouteContext context_{
      .job_store = store_, .health = {}, .metrics = metrics_, .limits = {}, .stopping = {}};
  mcp::Tools tools_{suite(),
                    {},
                    [this]() -> Result<Json> {
                      if (opinion_ == Opinion::wrong) return fail("there is no device");
                      return Json{
                          {"backend", opinion_ == Opinion::accepted ? "evaluate" : "replay"},
                          {"target", "sm_90"},
                          {"gpus", Json::array()}};
                    },
                    mcp::FileAccess::none};
  mcp::McpServer server_{{context_}, tools_};
  openenv::EnvironmentContext environment_{
      .context = context_, .suite = suite(), .mcp = server_, .device = "a device"};
  gym::service::RouteTable routes_;
  std::shared_ptr<gym::service::WebSocketSession> session_ =
      openenv::environment_session(environment_, {}, 1);
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  Client client(static_cast<Opinion>(data[0] % kOpinions));
  constexpr int kMostRequests = 16;
  for (int i = 0; i < kMostRequests && !text.empty(); ++i) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (!line.empty()) client.send(line[0], std::string(line.substr(1)));
  }
  return 0;
}
