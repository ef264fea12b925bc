// Tests of judges and capturing hosts that share a real redis-server, with fake capture pools.
#include <gmock/gmock.h>

#include <csignal>
#include <future>

#include "base/json.h"
#include "base/temp_dir.h"
#include "gym/judge/testing/fake_pool.h"
#include "gym/service/redis/redis_job_store.h"
#include "gym/service/redis/sealed_text.h"
#include "gym/service/redis/testing/redis_server.h"
#include "gym/steps/capture_host.h"
#include "gym/steps/store_capture_pool.h"

namespace tritonsmith::gym::steps {
namespace {

using capture::CaptureOutcome;
using compile::CompileOutcome;
using ::testing::HasSubstr;

constexpr const char* kKey = "a key that judges and capturing hosts share";

// A pool whose torch is of another version, if the test says so.
class VersionedPool : public judge::FakePool {
 public:
  explicit VersionedPool(std::string torch = "2") : torch_(std::move(torch)) {
    on_capture = [](const capture::CaptureRequest& request) {
      return request.source == "bad"
                 ? judge::capture_failure(Stage::inspected, ErrorClass::exception)
                 : judge::captured("plan of " + request.source);
    };
    on_compile = [this](const compile::CompileRequest& request) {
      ++compilations;
      return CompileOutcome{.result = compile::CompiledKernel{.cubin = request.code, .name = "k"}};
    };
  }
  Result<Versions> versions(Deadline) override { return Versions{.torch = torch_, .triton = "3"}; }
  std::atomic<int> compilations = 0;

 private:
  std::string torch_;
};

class StepsTest : public ::testing::Test {
 protected:
  StepsTest() { std::signal(SIGPIPE, SIG_IGN); }

  // A host's program: its own queue, pool and threads.
  struct Host {
    Host(const StepQueueConfig& config, const std::string& key, const std::string& torch = "2",
         Milliseconds lease = std::chrono::seconds(60))
        : pool(torch), queue(config) {
      auto started = CaptureHost::start(
          queue, pool, {.host = "gpu-less", .key = key, .at_once = 4, .lease = lease});
      EXPECT_TRUE(started) << started.error().message;
      host = *std::move(started);
    }
    VersionedPool pool;
    StepQueue queue;
    std::unique_ptr<CaptureHost> host;
  };
  std::unique_ptr<StoreCapturePool> judge_pool(Milliseconds patience = std::chrono::seconds(60)) {
    return std::make_unique<StoreCapturePool>(
        StoreCaptureConfig{.queue = config, .key = kKey, .patience = patience});
  }
  static std::string fault_of(const CaptureOutcome& outcome) {
    const auto* fault = std::get_if<sandbox::InfrastructureFault>(&outcome.result);
    return fault == nullptr ? "none" : fault->message;
  }
  static std::string plan_of(const CaptureOutcome& outcome) {
    const auto* plan = std::get_if<capture::CapturedPlan>(&outcome.result);
    return plan == nullptr ? "none" : plan->json;
  }

  Result<TempDir> directory = TempDir::make("steps");
  service::RedisServer server{directory->path()};
  const StepQueueConfig config{.address = server.address()};
};

// A guest elsewhere must see what a guest here sees.
TEST(StepMessage, CarriesAllOfARequest) {
  const StepRequest asked = capture::CaptureRequest{.role = capture::CaptureRole::candidate,
                                                    .source = "source",
                                                    .path = "path",
                                                    .init_args_json = "[1]",
                                                    .inputs_json = "[2]",
                                                    .tensors_json = "[3]",
                                                    .known_json = "[4]",
                                                    .first_call_only = true,
                                                    .in_eval_mode = true,
                                                    .ignores_mode = true,
                                                    .target = "sm_80",
                                                    .device_json = "{}"};
  const auto read = step_request_from_json(to_json(asked));
  ASSERT_TRUE(read) << read.error().message;
  const auto& capture = std::get<capture::CaptureRequest>(*read);
  EXPECT_EQ(capture.role, capture::CaptureRole::candidate);
  EXPECT_EQ(capture.source + capture.path, "sourcepath");
  EXPECT_EQ(capture.init_args_json + capture.inputs_json, "[1][2]");
  EXPECT_EQ(capture.tensors_json + capture.known_json, "[3][4]");
  EXPECT_TRUE(capture.first_call_only && capture.in_eval_mode && capture.ignores_mode);
  EXPECT_EQ(capture.target + capture.device_json, "sm_80{}");
  const StepRequest compiling = compile::CompileRequest{.code = "ttir",
                                                        .num_warps = 8,
                                                        .num_stages = 4,
                                                        .num_ctas = 2,
                                                        .maxnreg = 64,
                                                        .enable_fp_fusion = false,
                                                        .target = "sm_80",
                                                        .ptx = "ptx",
                                                        .wants_ptx = true,
                                                        .job = 9};
  const auto compile_read = step_request_from_json(to_json(compiling));
  ASSERT_TRUE(compile_read) << compile_read.error().message;
  const auto& compile = std::get<compile::CompileRequest>(*compile_read);
  EXPECT_EQ(compile.code + compile.target + compile.ptx, "ttirsm_80ptx");
  EXPECT_EQ(compile.num_warps + compile.num_stages + compile.num_ctas + compile.maxnreg, 78);
  EXPECT_TRUE(compile.wants_ptx);
  EXPECT_FALSE(compile.enable_fp_fusion);
  EXPECT_EQ(compile.job, 9U);
}

TEST(StepMessage, RefusesAStepOfAnotherKind) {
  const auto read = step_request_from_json(Json{{"step", "bake"}});
  ASSERT_FALSE(read);
  EXPECT_THAT(read.error().message, HasSubstr("bake"));
}

TEST_F(StepsTest, CapturesAndCompilesOnAnotherHost) {
  const Host host(config, kKey);
  const auto pool = judge_pool();
  EXPECT_EQ(pool->versions(Deadline::in_seconds(20))->torch, "2");
  EXPECT_EQ(plan_of(pool->capture_now({.source = "good"})), "plan of good");
  const CaptureOutcome bad = pool->capture_now({.source = "bad"});
  EXPECT_EQ(std::get<sandbox::CandidateFailure>(bad.result).error.error_class,
            ErrorClass::exception);
  const std::string bytes("\x7f\0ELF", 5);
  const CompileOutcome compiled = pool->compile_now({.code = bytes, .job = 1});
  EXPECT_EQ(std::get<compile::CompiledKernel>(compiled.result).cubin, bytes);
}

TEST_F(StepsTest, SharesCompiledKernelsBetweenJudgesAndJobs) {
  const Host host(config, kKey);
  for (const std::uint64_t job : {1U, 2U}) {
    const auto pool = judge_pool();
    EXPECT_TRUE(std::holds_alternative<compile::CompiledKernel>(
        pool->compile_now({.code = "k", .job = job}).result));
  }
  EXPECT_EQ(host.pool.compilations, 1);
}

TEST_F(StepsTest, TakesNoReplyOfAHostWithoutTheKey) {
  const Host stranger(config, "a key that somebody else made up, as long");
  const auto pool = judge_pool();
  EXPECT_FALSE(pool->versions(Deadline::after(Milliseconds(50)))) << "its announcement has no seal";
  // It cannot read the request either, and withdraws it; so the judge does not get a plan.
  EXPECT_THAT(fault_of(pool->capture_now({.source = "good"})), HasSubstr("lost a step"));
  EXPECT_TRUE(stranger.pool.captures().empty());
}

TEST_F(StepsTest, TakesNoReplyThatIsSealedForAnotherStep) {
  const auto pool = judge_pool();
  StepQueue thief(config);
  std::promise<CaptureOutcome> promise;
  pool->capture({.source = "good"},
                [&](CaptureOutcome outcome) { promise.set_value(std::move(outcome)); });
  std::optional<TakenStep> step;
  for (const Deadline deadline = Deadline::in_seconds(20); !step && !deadline.passed();)
    step = *thief.take(std::chrono::seconds(60), {});
  ASSERT_TRUE(step);
  const std::string reply = to_line(
      to_json(StepReply{.versions = {"h", "2", "3"}, .outcome = judge::captured("forged")}));
  ASSERT_TRUE(thief.finish(
      {.name = step->name, .reply = service::seal(kKey, {"reply", "another step"}, reply)}));
  EXPECT_THAT(fault_of(promise.get_future().get()), HasSubstr("has no valid seal"));
}

TEST_F(StepsTest, MixesNoVersionsOfTorch) {
  auto pool = judge_pool();
  {
    const Host host(config, kKey, "2");
    EXPECT_EQ(plan_of(pool->capture_now({.source = "good"})), "plan of good");
  }
  const Host other(config, kKey, "9");
  EXPECT_THAT(fault_of(pool->capture_now({.source = "good"})), HasSubstr("torch 9"));
}

TEST_F(StepsTest, PassesOnTheStepsOfAHostThatDied) {
  StepQueue dead(config);
  const auto pool = judge_pool();
  std::promise<CaptureOutcome> promise;
  pool->capture({.source = "good"},
                [&](CaptureOutcome outcome) { promise.set_value(std::move(outcome)); });
  std::optional<TakenStep> step;
  for (const Deadline deadline = Deadline::in_seconds(20); !step && !deadline.passed();)
    step = *dead.take(Milliseconds(1), {});
  ASSERT_TRUE(step);
  const Host host(config, kKey);
  EXPECT_EQ(plan_of(promise.get_future().get()), "plan of good");
}

TEST_F(StepsTest, FailsWithAdviceWhenNoHostCaptures) {
  const auto pool = judge_pool(Milliseconds(50));
  EXPECT_THAT(fault_of(pool->capture_now({.source = "good"})), HasSubstr("--role capture"));
  EXPECT_THAT(pool->versions(Deadline::after(Milliseconds(10))).error().message,
              HasSubstr("--role capture"));
}

TEST_F(StepsTest, ForgetsACancelledStep) {
  const auto pool = judge_pool();
  const std::uint64_t id = pool->capture({.source = "good"}, [](CaptureOutcome) { FAIL(); });
  pool->cancel(id);
  const Host host(config, kKey);
  EXPECT_EQ(plan_of(pool->capture_now({.source = "other"})), "plan of other");
}

TEST_F(StepsTest, ListsCapturingHostsAmongTheWorkersOfTheStore) {
  const Host host(config, kKey);
  const auto store = service::RedisJobStore::open({.address = server.address()});
  ASSERT_TRUE(store);
  for (const Deadline deadline = Deadline::in_seconds(20);
       (*store)->reports().workers()->empty() && !deadline.passed();)
    std::this_thread::yield();
  const auto workers = *(*store)->reports().workers();
  ASSERT_EQ(workers.size(), 1U);
  EXPECT_EQ(workers[0].role, "capture");
  EXPECT_EQ(workers[0].host, "gpu-less");
  EXPECT_EQ(workers[0].at_once, 4);
}

TEST(StepMessage, SurvivesItsJson) {
  const capture::CaptureRequest capturing{.role = capture::CaptureRole::task,
                                          .source = "s",
                                          .path = "task.py",
                                          .init_args_json = "[1]",
                                          .inputs_json = "[2]",
                                          .tensors_json = "[3]",
                                          .target = "sm_100",
                                          .device_json = "{}"};
  const auto read = step_request_from_json(to_json(StepRequest(capturing)));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(to_json(*read), to_json(StepRequest(capturing)));
  CaptureOutcome outcome = judge::capture_failure(Stage::captured, ErrorClass::timeout, 7);
  outcome.stage_ms = {{"fork", 1.5}};
  outcome.jail_layers = {"uid"};
  outcome.output = "printed";
  const StepReply reply{.versions = {"h", "2", "3"}, .outcome = outcome};
  const auto again = step_reply_from_json(to_json(reply));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(to_json(*again), to_json(reply));
}

TEST(StepMessage, RefusesWhatIsNone) {
  for (const char* text :
       {"[]", "{}", R"({"step": "capture"})", R"({"step": "compile", "ttir": 1})"})
    EXPECT_FALSE(step_request_from_json(*parse_json(text))) << text;
  for (const char* text :
       {"{}", R"({"versions": {"host": "h", "torch": "2", "triton": "3"}, "outcome": {}})",
        R"({"versions": {"host": "h", "torch": "2", "triton": "3"},
            "outcome": {"step": "compile", "from_cache": false, "kernel": {"cubin": "!"}}})"})
    EXPECT_FALSE(step_reply_from_json(*parse_json(text))) << text;
}

TEST(SealedText, OpensForItsNameAndKeyAlone) {
  const std::string sealed = service::seal("key", {"reply", "a"}, "text");
  EXPECT_EQ(service::open_sealed("key", {"reply", "a"}, sealed).value(), "text");
  EXPECT_FALSE(service::open_sealed("other", {"reply", "a"}, sealed));
  EXPECT_FALSE(service::open_sealed("key", {"reply", "b"}, sealed));
  EXPECT_FALSE(service::open_sealed("key", {"request", "a"}, sealed));
  EXPECT_FALSE(service::open_sealed("key", {"reply", "a"}, sealed + "x"));
  EXPECT_FALSE(service::open_sealed("key", {"reply", "a"}, ""));
}

}  // namespace
}  // namespace tritonsmith::gym::steps
