#include "gym/service/kernelgym.h"

#include <gtest/gtest.h>

#include "gym/service/testing/service_fixture.h"

namespace tritonsmith::gym::service {
namespace {

Timing taking(double milliseconds) {
  return {.median = milliseconds,
          .mean = milliseconds,
          .p10 = milliseconds,
          .p90 = milliseconds,
          .n = 9};
}

// The verdict on a candidate whose kernel takes a quarter of forward's time, beside a copy.
Verdict timed_verdict(const std::vector<std::string>& baselines) {
  Verdict verdict = api::accepted_verdict();
  verdict.time_ms = taking(0.5);
  verdict.reference_ms = taking(1);
  verdict.speedup = 2;
  verdict.coverage = 0.25;
  verdict.kernels = {{.name = "fused_add", .launches = 3, .device_us = 100}};
  verdict.aten = {{.op = "aten::copy_", .calls = 1, .device_us = 300}};
  for (const std::string& name : baselines) verdict.baselines.emplace_back(name, taking(0.75));
  return verdict;
}

JobView done_with(const Verdict& verdict) {
  return {.name = "j", .state = JobState::done, .verdict = to_line(to_json(verdict))};
}

Result<KernelGymRequest> request_for(const Json& entry_point, const std::string& reference,
                                     const std::string& kernel) {
  const Json body = {{"task_id", "t"},
                     {"reference_code", reference},
                     {"kernel_code", kernel},
                     {"entry_point", entry_point}};
  return parse_kernelgym_request(body.dump(), {});
}

TEST(KernelGym, JudgesTheClassesThatTheEntryPointNames) {
  const std::string reference = "class Net(Module): pass", kernel = "class NetNew(Module): pass\n";
  const auto named = request_for("Net", reference, kernel);
  ASSERT_TRUE(named) << named.error().message;
  EXPECT_EQ(named->submission.job.task.source, reference + "\n\nModel = Net\n");
  EXPECT_EQ(named->submission.job.kernel, kernel + "\n\nModelNew = NetNew\n");
  const auto usual = request_for("Model", "class Model: pass", "class ModelNew: pass");
  ASSERT_TRUE(usual);
  EXPECT_EQ(usual->submission.job.kernel, "class ModelNew: pass") << "equal to jobs of /v1/jobs";
  const auto tricky = request_for("Net", reference, "class ModelNew(Module): pass\ny = \\");
  ASSERT_TRUE(tricky);
  EXPECT_TRUE(tricky->submission.job.kernel.ends_with("y = \\\n\nModelNew = NetNew\n"))
      << "no line of ours goes on one of the kernel's";
}

TEST(KernelGym, RefusesAnEntryPointThatIsNoNameOrNotThere) {
  const std::string reference = "class Net: pass";
  for (const char* wrong : {"", "1Net", "Net()", "Net\nimport os", "N\u00e9t", "Other"}) {
    const auto request = request_for(wrong, reference, "class NetNew: pass");
    ASSERT_FALSE(request) << wrong;
    EXPECT_NE(request.error().message.find("entry_point"), std::string::npos);
  }
}

TEST(KernelGym, TellsWhatItsRewardsReadOfAProfile) {
  const Json response =
      kernelgym_response("t", done_with(timed_verdict({})), ReferenceBackend::eager);
  EXPECT_EQ(response["reference_runtime"], 1);
  EXPECT_EQ(response["speedup"], 2);
  const Json& metadata = response["metadata"];
  EXPECT_EQ(metadata["triton_profiler_used"], true);
  EXPECT_EQ(metadata["triton_profiler_matches"], Json::array({"fused_add"}));
  EXPECT_EQ(metadata["num_custom_kernels"], 3);
  EXPECT_EQ(metadata["num_total_kernels"], 4);
  EXPECT_EQ(metadata["triton_kernel_coverage"], "0.7500");
  EXPECT_EQ(metadata["custom_kernel_cuda_time_in_profiling_us"], 100);
  EXPECT_EQ(metadata["total_kernel_run_time_in_profiling_us"], 400);
  EXPECT_EQ(metadata["custom_kernel_cuda_time_coverage"], "0.2500");
  const Json& profiling = metadata["profiling"];
  EXPECT_EQ(profiling["kernel_count"], 2);
  EXPECT_EQ(profiling["total_cuda_time_us"], 400);
  EXPECT_EQ(profiling["kernels"][0],
            Json({{"name", "fused_add"}, {"cuda_time_us", 100}, {"cpu_time_us", 0}, {"count", 3}}));
}

TEST(KernelGym, HasNoProfileOfWhatWasNotTimed) {
  Verdict verdict = api::accepted_verdict();
  verdict.coverage = std::nullopt;
  verdict.kernels = {{.name = "k", .launches = 1}};
  const Json metadata =
      kernelgym_response("t", done_with(verdict), ReferenceBackend::torch_compile)["metadata"];
  EXPECT_EQ(metadata["triton_profiler_used"], true);
  for (const char* name :
       {"profiling", "custom_kernel_cuda_time_coverage", "total_kernel_run_time_in_profiling_us"})
    EXPECT_FALSE(metadata.contains(name)) << name;
}

TEST(KernelGym, MeasuresAgainstTheTaskCompiledWhereItIsAsked) {
  const JobView job = done_with(timed_verdict({"torch_compile"}));
  const Json compiled = kernelgym_response("t", job, ReferenceBackend::torch_compile);
  EXPECT_EQ(compiled["status"], "completed");
  EXPECT_EQ(compiled["reference_runtime"], 0.75);
  EXPECT_EQ(compiled["speedup"], 1.5);
  EXPECT_EQ(kernelgym_response("t", job, ReferenceBackend::eager)["speedup"], 2);
}

// Otherwise a reward would blame the kernel.
TEST(KernelGym, CallsARightKernelWithoutItsReferenceAFailureOfOurs) {
  Verdict verdict = timed_verdict({});
  verdict.findings = {
      {.rule = "baseline_failed", .severity = Severity::note, .message = "it does not compile"}};
  const Json response =
      kernelgym_response("t", done_with(verdict), ReferenceBackend::torch_compile);
  EXPECT_EQ(response["status"], "failed");
  EXPECT_EQ(response["error_code"], "SYSTEM_ERROR");
  EXPECT_EQ(response["reference_runtime"], -1);
  const std::string message = response["error_message"];
  EXPECT_NE(message.find("it does not compile"), std::string::npos) << message;
}

struct KernelGymService : ServiceFixture {
  Json request(const std::string& task_id, const std::string& backend) const {
    return {{"task_id", task_id},
            {"reference_code", "class Model: ..."},
            {"kernel_code", "timed"},
            {"reference_backend", backend}};
  }
  double speedup(const std::string& task_id, const std::string& backend) {
    const HttpReply reply = call("POST", "/evaluate", request(task_id, backend).dump());
    EXPECT_EQ(reply.status, 200) << reply.body;
    return json_of(reply)["speedup"];
  }
  double told_again(const std::string& task_id) {
    return json_of(call("GET", "/results/" + task_id))["speedup"];
  }
};

TEST_F(KernelGymService, CallsAFaultOfTheInfrastructureAFailureOfOurs) {
  verdict_for = [](const api::JudgeJob&) {
    Verdict fault = api::failed_verdict(Stage::extracted, ErrorClass::infrastructure);
    fault.fault = Fault::infrastructure;
    return fault;
  };
  const Json response = json_of(call("POST", "/evaluate", request("t-1", "eager").dump()));
  EXPECT_EQ(response["status"], "failed");
  EXPECT_EQ(response["error_code"], "SYSTEM_ERROR");
  EXPECT_EQ(json_of(call("GET", "/status/t-1"))["status"], "failed");
}

TEST_F(KernelGymService, RemembersWhatEachTaskWasMeasuredAgainst) {
  verdict_for = [](const api::JudgeJob& job) { return timed_verdict(job.baselines); };
  for (const char* name : {"torch_compile", "torch-compile", "compile"})
    EXPECT_EQ(speedup("t-1", name), 1.5) << name;
  EXPECT_EQ(speedup("t-2", "eager"), 2);
  EXPECT_EQ(told_again("t-1"), 1.5);
  EXPECT_EQ(told_again("t-2"), 2);
  EXPECT_EQ(speedup("t-1", "eager"), 2);
  EXPECT_EQ(told_again("t-1"), 2) << "the newest of that name";
  const HttpReply odd = call("POST", "/evaluate", request("t-3", "tensorrt").dump());
  EXPECT_EQ(odd.status, 422);
}

}  // namespace
}  // namespace tritonsmith::gym::service
