// Compares docs/openapi.json with the service's answers: every path with every method, and each
// reply's status and body. An undocumented member is a fault like a missing one.
#include <gtest/gtest.h>

#include "gym/service/service.h"
#include "gym/service/testing/service_fixture.h"

namespace tritonsmith::gym::service {
namespace {

// Checks values against the parts of OpenAPI 3.0 schemas that this document uses. It returns the
// first fault, or an empty string.
class Schemas {
 public:
  explicit Schemas(const Json& document) : document_(document) {}

  const Json& resolve(const Json& schema) const {
    if (!schema.contains("$ref")) return schema;
    return document_.at(Json::json_pointer(schema["$ref"].get<std::string>().substr(1)));
  }

  std::string fault_of(const Json& value, const Json& unresolved, const std::string& at) const {
    const Json& schema = resolve(unresolved);
    if (schema.contains("oneOf")) {
      std::string faults;
      for (const Json& one : schema["oneOf"]) {
        const std::string fault = fault_of(value, one, at);
        if (fault.empty()) return "";
        faults += fault + "; ";
      }
      return faults;
    }
    if (value.is_null() && schema.value("nullable", false)) return "";
    if (!is_of_type(value, schema.value("type", ""))) return at + " is no " + schema["type"].dump();
    if (schema.contains("enum") && std::ranges::find(schema["enum"], value) == schema["enum"].end())
      return at + " is none of " + schema["enum"].dump();
    if (value.is_array()) return fault_of_items(value, schema, at);
    return value.is_object() ? fault_of_members(value, schema, at) : "";
  }

 private:
  static bool is_of_type(const Json& value, const std::string& type) {
    if (type == "object") return value.is_object();
    if (type == "array") return value.is_array();
    if (type == "string") return value.is_string();
    if (type == "boolean") return value.is_boolean();
    if (type == "integer") return value.is_number_integer();
    return type.empty() || (type == "number" && value.is_number());
  }
  std::string fault_of_items(const Json& value, const Json& schema, const std::string& at) const {
    for (const Json& item : value)
      if (std::string fault = fault_of(item, schema.at("items"), at + "[]"); !fault.empty())
        return fault;
    return "";
  }
  std::string fault_of_members(const Json& value, const Json& schema, const std::string& at) const {
    for (const Json& name : schema.value("required", Json::array()))
      if (!value.contains(name.get<std::string>())) return at + " lacks " + name.dump();
    const Json properties = schema.value("properties", Json::object());
    for (const auto& [name, member] : value.items()) {
      const bool named = properties.contains(name);
      if (!named && !schema.contains("additionalProperties") && !properties.empty())
        return at + "." + name + " is not documented";
      if (!named && !schema.contains("additionalProperties")) continue;
      const Json& its = named ? properties[name] : schema["additionalProperties"];
      if (std::string fault = fault_of(member, its, at + "." + name); !fault.empty()) return fault;
    }
    return "";
  }
  const Json& document_;
};

struct OpenapiTest : ServiceFixture {
  // Compares one call with the document.
  void expect_documented(const std::string& method, const std::string& path,
                         const HttpReply& reply) const {
    const Json& operation = document["paths"].at(path).at(method);
    const std::string status = std::to_string(reply.status);
    const std::string what = method + " " + path + " " + status;
    ASSERT_TRUE(operation["responses"].contains(status)) << what << " is not documented";
    const Schemas schemas(document);
    const Json& content = schemas.resolve(operation["responses"][status]).at("content");
    const std::string type = reply.content_type.substr(0, reply.content_type.find(';'));
    ASSERT_TRUE(content.contains(type)) << what << ": " << type;
    if (type != "application/json") return;
    EXPECT_EQ(schemas.fault_of(Json::parse(reply.body), content[type]["schema"], what), "")
        << reply.body.substr(0, 2000);
  }
  const Json& schema_of(const std::string& name) const {
    return document["components"]["schemas"].at(name);
  }
  std::string fault_of(const std::string& name, const Json& value) const {
    return Schemas(document).fault_of(value, schema_of(name), name);
  }
  // Checks that a full value is as documented, and that it has every documented member.
  void expect_described(const std::string& name, const Json& full) const {
    EXPECT_EQ(fault_of(name, full), "");
    for (const auto& [member, property] : schema_of(name)["properties"].items())
      EXPECT_TRUE(full.contains(member))
          << member << " is documented, and no " << name << " has it";
  }
  const Json document = Json::parse(openapi_document());
};

// Returns a verdict with every member that a verdict can have.
Verdict full_verdict() {
  const Timing timing{
      .median = 1, .mean = 1, .p10 = 1, .p90 = 1, .n = 9, .median_low = 1, .median_high = 1};
  Verdict verdict = api::accepted_verdict();
  verdict.findings = {{.rule = "race", .severity = Severity::note, .line = 1, .message = "m"}};
  verdict.error =
      VerdictError{.error_class = ErrorClass::wrong_value, .message = "m", .excerpt = "e"};
  verdict.numerics =
      Numerics{.max_abs = 0.5, .max_rel = 0.25, .trials = 3, .tolerance_extension = 1e-3};
  verdict.time_ms = verdict.reference_ms = timing;
  verdict.baselines = {{"eager", timing}};
  verdict.speedup = verdict.coverage = 1.0;
  verdict.speed_of_light = {.ms = 0.5, .share = 0.5, .bytes = 1e6};
  verdict.peak_bytes = verdict.reference_peak_bytes = 1e6;
  verdict.kernels = {{.name = "k", .launches = 1, .ptx = "ret;", .ptx_name = "k"}};
  verdict.aten = {{.op = "aten::add", .calls = 1}};
  verdict.stage_ms = {{"queue", 1.5}};
  verdict.environment.jail_layers = {"seccomp"};
  verdict.environment.clocks = Clocks{.sm_mhz = 1980, .memory_mhz = 3201};
  return verdict;
}

TEST_F(OpenapiTest, DescribesAVerdictWhole) {
  const Json full = to_json(full_verdict());
  expect_described("Verdict", full);
  Json odd = full;
  odd["stage"] = "baked";
  EXPECT_NE(fault_of("Verdict", odd), "");
  odd = full;
  odd["kernels"][0]["colour"] = "blue";
  EXPECT_NE(fault_of("Verdict", odd), "");
}

TEST_F(OpenapiTest, DescribesAJobWhole) {
  const Json full =
      api::to_json(api::Submission{.job = {.task = {.id = "t", .source = "s", .tolerance = 1e-5},
                                           .kernel = "k",
                                           .comparison = Comparison::allclose,
                                           .strides = Strides::contiguous,
                                           .device = "NVIDIA H200",
                                           .baselines = {"eager"}},
                                   .deadline_seconds = 1,
                                   .client = "ann",
                                   .fresh = "again"});
  expect_described("Job", full);
  Json odd = full;
  odd["comparison"] = "lax";
  EXPECT_NE(fault_of("Job", odd), "");
}

TEST_F(OpenapiTest, KnowsEveryPathAndEachIsServed) {
  for (const auto& [path, methods] : document["paths"].items())
    for (const auto& [method, operation] : methods.items()) {
      if (operation.contains("x-served-by")) continue;  // Service::add; completion_calls_test.cc
      std::string name = method;
      std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::toupper(c); });
      std::string called = path;
      if (const auto brace = called.find('{'); brace != std::string::npos)
        called = called.substr(0, brace) + "somebody";
      const HttpReply reply = call(name, called);
      const bool is_unknown = reply.status == 404 && json_of(reply)["error"]["code"] == "not_found";
      EXPECT_FALSE(is_unknown) << name << " " << path;
      expect_documented(method, path, reply);
    }
}

TEST_F(OpenapiTest, DescribesEveryRoute) {
  for (const Route& route : service().routes()) {
    std::string method = route.method;
    std::ranges::transform(method, method.begin(), [](unsigned char c) { return std::tolower(c); });
    EXPECT_TRUE(document["paths"].contains(route.path) &&
                document["paths"][route.path].contains(method))
        << route.method << " " << route.path << " is not documented";
  }
}

TEST_F(OpenapiTest, IsTrueOfWhatIsAnswered) {
  store_limits.unfinished = 2;
  const HttpReply one = call("POST", "/v1/jobs", job_json("good"));
  expect_documented("post", "/v1/jobs", one);
  const std::string id = json_of(one)["id"];
  expect_documented("get", "/v1/jobs/{id}", call("GET", "/v1/jobs/" + id, "", {{"wait", "10"}}));
  expect_documented("post", "/v1/jobs", call("POST", "/v1/jobs", job_json("good")));
  hold = true;
  const Json batch = {{"task", {{"source", "task"}}},
                      {"client", "ann"},
                      {"jobs", {{{"kernel", "a"}}, {{"kernel", "bad"}}}}};
  expect_documented("post", "/v1/jobs", call("POST", "/v1/jobs", batch.dump()));
  expect_documented("post", "/v1/jobs", call("POST", "/v1/jobs", job_json("one too many")));
  expect_documented("post", "/v1/jobs", call("POST", "/v1/jobs", "{"));
  is_operator = true;
  expect_documented("post", "/v1/quarantine",
                    call("POST", "/v1/quarantine", Json{{"gpu", "GPU-1"}}.dump()));
  expect_documented("post", "/v1/quarantine", call("POST", "/v1/quarantine", "{}"));
  expect_documented("get", "/v1/quarantine", call("GET", "/v1/quarantine"));
  expect_documented("get", "/v1/status", call("GET", "/v1/status"));
  expect_documented("delete", "/v1/quarantine/{gpu}", call("DELETE", "/v1/quarantine/GPU-1"));
  expect_documented("delete", "/v1/quarantine/{gpu}", call("DELETE", "/v1/quarantine/GPU-1"));
  expect_documented("delete", "/v1/jobs", call("DELETE", "/v1/jobs", "", {{"client", "ann"}}));
  expect_documented("delete", "/v1/clients/{name}", call("DELETE", "/v1/clients/ann"));
  expect_documented("post", "/v1/jobs", call("POST", "/v1/jobs", batch.dump()));
  hold = false;
  Json request = {
      {"task_id", "t-1"}, {"reference_code", "class Model: ..."}, {"kernel_code", "bad"}};
  expect_documented("post", "/evaluate", call("POST", "/evaluate", request.dump()));
  expect_documented("get", "/status/{task_id}", call("GET", "/status/t-1"));
  expect_documented("get", "/results/{task_id}", call("GET", "/results/t-1"));
  request["timeout"] = 1;
  expect_documented("post", "/evaluate", call("POST", "/evaluate", request.dump()));
}

TEST_F(OpenapiTest, DescribesAKernelGymResponseWhole) {
  verdict_for = [](const api::JudgeJob&) {
    Verdict verdict = full_verdict();
    verdict.error = std::nullopt;
    return verdict;
  };
  const Json request = {
      {"task_id", "t-1"}, {"reference_code", "class Model: ..."}, {"kernel_code", "timed"}};
  const HttpReply reply = call("POST", "/evaluate", request.dump());
  expect_documented("post", "/evaluate", reply);
  EXPECT_TRUE(json_of(reply)["metadata"].contains("profiling"));
}

}  // namespace
}  // namespace tritonsmith::gym::service
