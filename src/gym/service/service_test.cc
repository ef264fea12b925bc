#include "gym/service/service.h"

#include <gtest/gtest.h>

#include "base/temp_dir.h"
#include "gym/service/testing/service_fixture.h"

namespace tritonsmith::gym::service {
namespace {

using ServiceTest = ServiceFixture;

TEST_F(ServiceTest, JudgesOneJobAndTellsItsVerdict) {
  const HttpReply reply = call("POST", "/v1/jobs", job_json("good"));
  EXPECT_EQ(reply.status, 202);
  const std::string id = json_of(reply)["id"];
  const Json done = json_of(call("GET", "/v1/jobs/" + id, "", {{"wait", "10"}}));
  EXPECT_EQ(done["state"], "done");
  EXPECT_EQ(done["verdict"]["accepted"], true);
  EXPECT_EQ(json_of(call("POST", "/v1/jobs", job_json("good")))["state"], "done");
}

TEST_F(ServiceTest, TakesNoEndpointsOnceItHasAnsweredACall) {
  EXPECT_EQ(call("GET", "/livez").status, 200);
  EXPECT_DEATH(service().add({}), "calls are being answered");
}

TEST_F(ServiceTest, StreamsABatchesVerdictsOnceEachAndResumes) {
  const Json batch = {{"client", "ann"},
                      {"task", {{"source", "task"}}},
                      {"jobs", {{{"kernel", "a"}}, {{"kernel", "b"}}, {{"kernel", "c"}}}}};
  EXPECT_EQ(json_of(call("POST", "/v1/jobs", batch.dump()))["jobs"].size(), 3U);
  HttpReply reply = call("GET", "/v1/verdicts", "", {{"client", "ann"}, {"until", "idle"}});
  ASSERT_TRUE(reply.stream);
  const std::string all = drain(*reply.stream);
  EXPECT_EQ(occurrences(all, "event: verdict"), 3);
  const std::size_t begin = all.find("id: ") + 4;
  HttpCall again{.method = "GET",
                 .path = "/v1/verdicts",
                 .query = {{"client", "ann"}, {"until", "idle"}},
                 .headers = {{"last-event-id", all.substr(begin, all.find('\n') - begin)}}};
  reply = service().answer(again);
  EXPECT_EQ(occurrences(drain(*reply.stream), "event: verdict"), 2);
  again.headers["last-event-id"] = "another-file-7";
  reply = service().answer(again);
  EXPECT_EQ(occurrences(drain(*reply.stream), "event: verdict"), 3);
}

TEST_F(ServiceTest, SaysInOneLineWhatIsWrongWithABody) {
  const std::vector<std::pair<std::string, std::string>> wrong = {
      {"{", "JSON"},
      {"[]", "object"},
      {R"({"kernel": "k"})", "source"},
      {R"({"task": {"source": "t"}})", "kernel"},
      {R"({"task": {"source": "t"}, "kernel": "k", "trials": 0})", "trials"},
      {R"({"task": {"source": "t"}, "kernel": "k", "policy": "lax"})", "policy"},
      {R"({"task": {"source": "t"}, "kernel": "k", "comparison": "lax"})", "comparison"},
      {R"({"task": {"source": "t", "tolerance": 1e-5}, "kernel": "k", "comparison": "allclose"})",
       "tolerance"},
      {R"({"task": {"source": "t"}, "kernel": "k", "baselines": ["c++"]})", "c++"},
      {R"({"task": {"source": "t"}, "kernel": "k", "baselines": ["eager", "eager"]})", "twice"},
      {R"({"task": {"source": "t"}, "kernel": "k", "client": "a b"})", "client"},
      {R"({"task": {"source": "t"}, "kernel": "k", "deadline_seconds": -1})", "deadline"},
      {R"({"task": {"source": "t"}, "kernel": "k", "polcy": "open"})", "'policy'"},
      {R"({"jobs": []})", "jobs"},
      {R"({"jobs": [{"kernel": "k"}]})", "jobs[0]"},
      {R"({"jobs": [7]})", "jobs[0]"}};
  for (const auto& [body, word] : wrong) {
    const HttpReply reply = call("POST", "/v1/jobs", body);
    EXPECT_EQ(reply.status, 400) << body;
    const std::string message = json_of(reply)["error"]["message"];
    EXPECT_NE(message.find(word), std::string::npos) << body << ": " << message;
    EXPECT_EQ(message.find('\n'), std::string::npos);
  }
}

TEST_F(ServiceTest, RefusesMoreThanItsLimits) {
  limits.source_bytes = 100;
  limits.batch = 2;
  limits.batch_bytes = 150;
  EXPECT_EQ(call("POST", "/v1/jobs", job_json(std::string(101, 'x'))).status, 400);
  Json batch = {{"task", {{"source", std::string(80, 't')}}},
                {"jobs", {{{"kernel", "a"}}, {{"kernel", "b"}}}}};
  EXPECT_EQ(call("POST", "/v1/jobs", batch.dump()).status, 400) << "the task counts for each";
  batch["jobs"].push_back({{"kernel", "c"}});
  EXPECT_EQ(call("POST", "/v1/jobs", batch.dump()).status, 400);
}

TEST_F(ServiceTest, PushesBackInsteadOfQueueingWithoutEnd) {
  hold = true;
  store_limits.unfinished = 2;
  EXPECT_EQ(call("POST", "/v1/jobs", job_json("a")).status, 202);
  EXPECT_EQ(call("POST", "/v1/jobs", job_json("b")).status, 202);
  const HttpReply reply = call("POST", "/v1/jobs", job_json("c"));
  EXPECT_EQ(reply.status, 429);
  EXPECT_GT(reply.retry_after_seconds, 0);
  EXPECT_EQ(call("POST", "/v1/jobs", job_json("a")).status, 202) << "a repeat needs no room";
}

TEST_F(ServiceTest, AnswersWhatTheStoreHasInTheReplyThoughItIsFull) {
  hold = true;
  store_limits.unfinished = 1;
  recall = [](const api::JudgeJob& job) {
    return job.kernel == "known" ? std::optional(api::accepted_verdict()) : std::nullopt;
  };
  EXPECT_EQ(call("POST", "/v1/jobs", job_json("a")).status, 202);
  EXPECT_EQ(call("POST", "/v1/jobs", job_json("b")).status, 429);
  const HttpReply reply = call("POST", "/v1/jobs", job_json("known"));
  EXPECT_EQ(reply.status, 202);
  EXPECT_EQ(json_of(reply)["state"], "done");
  EXPECT_EQ(json_of(reply)["verdict"]["accepted"], true);
}

TEST_F(ServiceTest, EndsAJobAtItsDeadlineAndCancelsAnother) {
  hold = true;
  Json hasty = Json::parse(job_json("hasty"));
  hasty["deadline_seconds"] = 5;
  const std::string late = json_of(call("POST", "/v1/jobs", hasty.dump()))["id"];
  const std::string unwanted = json_of(call("POST", "/v1/jobs", job_json("unwanted")))["id"];
  EXPECT_EQ(json_of(call("DELETE", "/v1/jobs/" + unwanted))["state"], "cancelled");
  now += 6000;
  const Json done = json_of(call("GET", "/v1/jobs/" + late, "", {{"wait", "10"}}));
  EXPECT_EQ(done["verdict"]["error"]["class"], "deadline");
  EXPECT_EQ(done["verdict"]["fault"], "infrastructure");
}

TEST_F(ServiceTest, CancelsAllOfAClient) {
  hold = true;
  Json of_ann = Json::parse(job_json("k"));
  of_ann["client"] = "ann";
  const std::string id = json_of(call("POST", "/v1/jobs", of_ann.dump()))["id"];
  EXPECT_EQ(call("DELETE", "/v1/jobs").status, 400);
  EXPECT_EQ(call("DELETE", "/v1/jobs", "", {{"client", "ann"}}).status, 200);
  EXPECT_EQ(json_of(call("GET", "/v1/jobs/" + id))["state"], "cancelled");
}

TEST_F(ServiceTest, TakesNoMoreFromAClientThatHasLeft) {
  hold = true;
  Json of_ann = Json::parse(job_json("k"));
  of_ann["client"] = "ann";
  const std::string id = json_of(call("POST", "/v1/jobs", of_ann.dump()))["id"];
  EXPECT_EQ(call("DELETE", "/v1/clients/a b").status, 400);
  EXPECT_EQ(call("DELETE", "/v1/clients/ann").status, 200);
  const HttpReply late = call("POST", "/v1/jobs", of_ann.dump());
  EXPECT_EQ(late.status, 409);
  EXPECT_EQ(json_of(late)["error"]["code"], "client_gone");
  EXPECT_EQ(json_of(call("GET", "/v1/jobs/" + id))["state"], "cancelled");
}

TEST_F(ServiceTest, SurvivesAJudgeThatBreaksDown) {
  breakdowns = 1;
  const std::string id = json_of(call("POST", "/v1/jobs", job_json("k")))["id"];
  const Json done = json_of(call("GET", "/v1/jobs/" + id, "", {{"wait", "20"}}));
  EXPECT_EQ(done["state"], "done");
  EXPECT_EQ(done["verdict"]["accepted"], true);
  EXPECT_EQ(call("GET", "/healthz").status, 200);
}

TEST_F(ServiceTest, KnowsNothingElse) {
  EXPECT_EQ(call("GET", "/v1/jobs/0123").status, 404);
  EXPECT_EQ(call("GET", "/etc/passwd").status, 404);
  EXPECT_EQ(call("GET", "/v1/verdicts").status, 400);
  EXPECT_EQ(call("GET", "/v1/jobs/0123", "", {{"wait", "soon"}}).status, 400);
}

TEST_F(ServiceTest, SaysWhichMethodsAPathHas) {
  const auto allow = [&](const std::string& method, const std::string& path) {
    const HttpReply reply = call(method, path);
    EXPECT_EQ(reply.status, 405) << method << " " << path;
    EXPECT_EQ(json_of(reply)["error"]["code"], "method_not_allowed");
    return reply.allow;
  };
  EXPECT_EQ(allow("PUT", "/v1/jobs"), "DELETE, POST");
  EXPECT_EQ(allow("GET", "/v1/jobs"), "DELETE, POST");
  EXPECT_EQ(allow("POST", "/v1/jobs/0123"), "DELETE, GET, HEAD");
  EXPECT_EQ(allow("DELETE", "/metrics"), "GET, HEAD");
  EXPECT_EQ(allow("GET", "/evaluate"), "POST");
  EXPECT_EQ(call("HEAD", "/v1/status").status, 200);
}

TEST_F(ServiceTest, IsAliveBeforeItIsReady) {
  slow_start = true;
  EXPECT_EQ(call("GET", "/livez").status, 200);
  const std::string why = json_of(call("GET", "/readyz"))["trouble"];
  EXPECT_NE(why.find("self-test"), std::string::npos) << why;
  EXPECT_EQ(call("GET", "/readyz").status, 503);
  EXPECT_EQ(call("GET", "/healthz").status, 200) << "nothing is wrong";
  EXPECT_EQ(json_of(call("GET", "/v1/status"))["ready"], false);
  const std::string id = json_of(call("POST", "/v1/jobs", job_json("k")))["id"];
  slow_start = false;
  call("GET", "/v1/jobs/" + id, "", {{"wait", "20"}});
  EXPECT_EQ(call("GET", "/readyz").status, 200);
  EXPECT_EQ(json_of(call("GET", "/v1/status"))["ready"], true);
}

TEST_F(ServiceTest, IsReadyOnceAJudgeStartsAfterAnotherDidNotThoughNoJobComes) {
  failed_starts = 1;
  service();
  const Deadline soon = Deadline::in_seconds(20);
  while (call("GET", "/readyz").status != 200 && !soon.passed())
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  const Json ready = json_of(call("GET", "/readyz"));
  EXPECT_EQ(ready.value("trouble", ""), "") << ready.dump();
  EXPECT_EQ(call("GET", "/readyz").status, 200);
}

TEST_F(ServiceTest, ReplacesAJudgeOfManyFaultsThoughNoFurtherJobComes) {
  std::atomic<int> faults = 5;
  verdict_for = [&](const api::JudgeJob&) {
    if (faults-- <= 0) return api::accepted_verdict();
    Verdict fault = api::failed_verdict(Stage::extracted, ErrorClass::infrastructure);
    fault.fault = Fault::infrastructure;
    return fault;
  };
  for (int k = 0; k < 5; ++k) {
    const std::string id = json_of(call("POST", "/v1/jobs", job_json(std::to_string(k))))["id"];
    call("GET", "/v1/jobs/" + id, "", {{"wait", "10"}});
  }
  const Deadline soon = Deadline::in_seconds(20);
  while (call("GET", "/readyz").status != 200 && !soon.passed())
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_EQ(call("GET", "/readyz").status, 200);
}

TEST_F(ServiceTest, TellsWrongKernelsFromThoseThatFailed) {
  verdict_for = [](const api::JudgeJob& job) {
    return job.kernel == "wrong" ? api::failed_verdict(Stage::ran, ErrorClass::wrong_value)
                                 : api::failed_verdict(Stage::captured, ErrorClass::compile_error);
  };
  for (const char* kernel : {"wrong", "does not compile"}) {
    const std::string id = json_of(call("POST", "/v1/jobs", job_json(kernel)))["id"];
    call("GET", "/v1/jobs/" + id, "", {{"wait", "10"}});
  }
  const Json verdicts = json_of(call("GET", "/v1/status"))["verdicts"];
  EXPECT_EQ(verdicts["wrong"], 1);
  EXPECT_EQ(verdicts["failed"], 1);
  EXPECT_EQ(verdicts["accepted"], 0);
  const std::string text = call("GET", "/metrics").body;
  EXPECT_NE(text.find("verdicts_total{outcome=\"wrong\"} 1\n"), std::string::npos) << text;
  EXPECT_NE(text.find("verdicts_total{outcome=\"failed\"} 1\n"), std::string::npos) << text;
}

TEST(ServiceMetrics, AddsUpWhatTheDevicesOfSuccessiveJudgesDid) {
  ServiceMetrics metrics;
  metrics.begin_judge();
  metrics.set_devices({{.name = "cuda:0", .verdicts = 2, .busy_seconds = 1.5, .restarts = 1},
                       {.name = "cuda:1", .verdicts = 1}});
  metrics.begin_judge();
  metrics.set_devices({{.name = "cuda:0", .verdicts = 3, .busy_seconds = 0.25}});
  const std::string text = metrics.text({}, true, true);
  for (const char* line : {"device_verdicts_total{device=\"cuda:0\"} 5\n",
                           "device_verdicts_total{device=\"cuda:1\"} 1\n",
                           "device_busy_seconds_total{device=\"cuda:0\"} 1.75\n",
                           "device_referee_restarts_total{device=\"cuda:0\"} 1\n"})
    EXPECT_NE(text.find(line), std::string::npos) << line << text;
}

TEST_F(ServiceTest, CountsForPrometheus) {
  const std::string id = json_of(call("POST", "/v1/jobs", job_json("good")))["id"];
  call("GET", "/v1/jobs/" + id, "", {{"wait", "10"}});
  const std::string text = call("GET", "/metrics").body;
  for (const char* line :
       {"\ntritonsmith_submitted_jobs_total 1\n",
        "tritonsmith_verdicts_total{outcome=\"accepted\"} 1", "tritonsmith_verdict_seconds_count 1",
        "tritonsmith_queued_jobs{priority=\"high\"} 0"})
    EXPECT_NE(text.find(line), std::string::npos) << line << "\n" << text;
}

TEST_F(ServiceTest, AnswersAsKernelGymDoes) {
  const Json request = {{"task_id", "t-1"},
                        {"reference_code", "class Model: ..."},
                        {"kernel_code", "good"},
                        {"num_correct_trials", 3},
                        {"num_perf_trials", 100},
                        {"timeout", 30},
                        {"reference_backend", nullptr},
                        {"cases", nullptr},
                        {"detect_decoy_kernel", true}};
  const HttpReply reply = call("POST", "/evaluate", request.dump());
  ASSERT_EQ(reply.status, 200) << reply.body;
  const Json response = json_of(reply);
  EXPECT_EQ(response["status"], "completed");
  EXPECT_EQ(response["compiled"], true);
  EXPECT_EQ(response["correctness"], true);
  EXPECT_EQ(response["decoy_kernel"], false);
  EXPECT_EQ(response["kernel_runtime"], -1) << "evaluated, not timed";
  EXPECT_EQ(json_of(call("GET", "/status/t-1"))["status"], "completed");
  EXPECT_EQ(json_of(call("GET", "/results/t-1"))["correctness"], true);
  EXPECT_EQ(call("GET", "/status/t-2").status, 404);
}

// A verdict of one comparison must never answer a job of the other.
TEST_F(ServiceTest, AJobComparedOtherwiseIsAnotherJob) {
  const auto judged = [&](const Json& job) {
    const std::string id = json_of(call("POST", "/v1/jobs", job.dump()))["id"];
    const Json done = json_of(call("GET", "/v1/jobs/" + id, "", {{"wait", "10"}}));
    return std::pair(id, done["verdict"].value("comparison", ""));
  };
  Json job = Json::parse(job_json("good"));
  const auto plain = judged(job);
  job["comparison"] = "allclose";
  const auto as_kernelbench = judged(job);
  job["comparison"] = "budget";
  EXPECT_EQ(judged(job), plain);
  EXPECT_EQ(plain.second, "budget");
  EXPECT_EQ(as_kernelbench.second, "allclose");
  EXPECT_NE(plain.first, as_kernelbench.first);
}

TEST_F(ServiceTest, ComparesAsItIsSetWhereAJobDoesNotSay) {
  limits.comparison = Comparison::allclose;
  Json request = {
      {"task_id", "t-1"}, {"reference_code", "class Model: ..."}, {"kernel_code", "good"}};
  const auto comparison = [&] {
    const Json response = json_of(call("POST", "/evaluate", request.dump()));
    return response["metadata"]["verdict"].value("comparison", "");
  };
  EXPECT_EQ(comparison(), "allclose");
  request["comparison"] = "budget";
  EXPECT_EQ(comparison(), "budget");
  const std::string id = json_of(call("POST", "/v1/jobs", job_json("good")))["id"];
  const Json done = json_of(call("GET", "/v1/jobs/" + id, "", {{"wait", "10"}}));
  EXPECT_EQ(done["verdict"]["comparison"], "allclose");
}

TEST_F(ServiceTest, TellsKernelGymsUsersWhatFailed) {
  Json request = {
      {"task_id", "t-1"}, {"reference_code", "class Model: ..."}, {"kernel_code", "bad"}};
  const Json response = json_of(call("POST", "/evaluate", request.dump()));
  EXPECT_EQ(response["correctness"], false);
  EXPECT_EQ(response["error_code"], "CORRECTNESS_ERROR");
  EXPECT_EQ(response["error_message"], "as the test says");
  const std::vector<std::pair<std::string, Json>> wrong = {{"entry_point", "Net()"},
                                                           {"backend", "cuda"},
                                                           {"num_correct_trials", 21},
                                                           {"timeout", 5},
                                                           {"reference_backend", "tensorrt"}};
  for (const auto& [name, value] : wrong) {
    Json other = request;
    other[name] = value;
    const HttpReply reply = call("POST", "/evaluate", other.dump());
    EXPECT_EQ(reply.status, 422);
    EXPECT_NE(reply.body.find(name), std::string::npos) << reply.body;
  }
}

}  // namespace
}  // namespace tritonsmith::gym::service
