// McpFixture: the judge's tools over a service whose judge is a fake.
#pragma once

#include "gym/service/testing/service_fixture.h"
#include "serve/mcp/server.h"

namespace tritonsmith::serve::mcp {

struct McpFixture : gym::service::ServiceFixture {
  McpFixture()
      : McpFixture({Task{.id = "level1/1_A", .source = "class Model: pass\n", .family = "norm"},
                    Task{.id = "level1/2_B", .source = "class Model: pass\n"},
                    Task{.id = "level2/1_C", .source = "class Model: pass\n"}}) {}
  explicit McpFixture(std::vector<Task> tasks) : suite(std::move(tasks)) {}
  const Tools& tools() {
    if (!tools_)
      tools_ = std::make_unique<Tools>(
          suite, service().context().limits, [this]() -> Result<Json> { return facts; }, files);
    return *tools_;
  }
  const McpServer& server() {
    if (!server_)
      server_ = std::make_unique<McpServer>(
          AwaitedJudge{.context = service().context(), .patience_seconds = patience_seconds},
          tools());
    return *server_;
  }
  static Json request(const Json& id, const std::string& method, Json params = Json::object()) {
    return {{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", std::move(params)}};
  }
  static Json modern(const Json& id, const std::string& method, Json params = Json::object()) {
    params["_meta"]["io.modelcontextprotocol/protocolVersion"] = kModernVersion;
    params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = Json::object();
    return request(id, method, std::move(params));
  }
  static Json judging(const std::string& kernel) {
    return {{"name", "judge_kernel"}, {"arguments", {{"kernel", kernel}, {"task", "level1/1_A"}}}};
  }
  void let_fail() {
    verdict_for = [](const gym::api::JudgeJob&) {
      Verdict verdict;
      verdict.fault = Fault::infrastructure;
      verdict.error =
          VerdictError{.error_class = ErrorClass::infrastructure, .message = "the referee died"};
      return verdict;
    };
  }

  const Suite suite;
  Json facts = {{"backend", "evaluate"}, {"target", "sm_90"}, {"gpus", Json::array()}};
  FileAccess files = FileAccess::none;
  double patience_seconds = 100;  // with a judge that takes no jobs

 private:
  std::unique_ptr<Tools> tools_;
  std::unique_ptr<McpServer> server_;
};

}  // namespace tritonsmith::serve::mcp
