#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/capability.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <ctime>
#include <future>
#include <thread>

#include "base/bounded_queue.h"
#include "base/clock.h"
#include "base/file.h"
#include "gym/capture/testing/trial_pool.h"

namespace tritonsmith::gym::capture {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

std::unique_ptr<CapturePool> pool_of(const CaptureConfig& config) {
  auto pool = start_trial_pool(config);
  CHECK(pool.has_value(), "{}", pool.error().message);
  return std::move(*pool);
}

std::string told(const compile::CompileOutcome& outcome) {
  if (const auto* kernel = std::get_if<compile::CompiledKernel>(&outcome.result))
    return "kernel " + kernel->cubin;
  if (const auto* failure = std::get_if<sandbox::CandidateFailure>(&outcome.result))
    return fmt::format("failure {}: {}", class_name(failure->error), failure->error.message);
  return "fault " + std::get<sandbox::InfrastructureFault>(outcome.result).message;
}

std::vector<std::string> names(const sandbox::StageTimes& times) {
  std::vector<std::string> list;
  for (const auto& [name, ms] : times) {
    EXPECT_GE(ms, 0) << name;
    list.push_back(name);
  }
  return list;
}

// Returns the zygotes among this process and its children, by their command line.
std::vector<pid_t> zygotes_of_this_process() {
  std::vector<pid_t> found;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    const auto status = read_file(entry.path() / "status");
    const auto command = read_file(entry.path() / "cmdline");
    if (!status || !command || command->find("tritonsmith_guest") == std::string::npos) continue;
    if (status->find(fmt::format("\nPPid:\t{}\n", ::getpid())) != std::string::npos)
      found.push_back(std::stoi(name));
  }
  return found;
}

// Waits until there are `count` zygotes, or for 30 seconds, and returns those there are.
std::vector<pid_t> await_zygotes(std::size_t count) {
  const auto patience = Deadline::after(std::chrono::seconds(30));
  std::vector<pid_t> found = zygotes_of_this_process();
  while (found.size() != count && !patience.passed()) found = zygotes_of_this_process();
  return found;
}

TEST(CapturePool, TellsWhatTheGuestSaysAndWhichLayersHeldAndHowLongItTook) {
  const auto pool = pool_of({.slots = 1});
  const auto outcome = pool->capture_now({.role = CaptureRole::task,
                                          .source = "print('hello'); answer = request",
                                          .path = "task.py",
                                          .init_args_json = R"([{"i":1}])",
                                          .inputs_json = "[]",
                                          .device_json = R"({"name":"a GPU"})"});
  EXPECT_THAT(told(outcome), AllOf(StartsWith("plan "), HasSubstr(R"("role": "task")"),
                                   HasSubstr(R"([{"i": 1}])"), HasSubstr(R"("target": "sm_90")"),
                                   HasSubstr(R"("device": {"name": "a GPU"})")));
  EXPECT_THAT(outcome.jail_layers,
              AllOf(Contains("no_new_privs"), Contains("seccomp"), Contains("rlimits")));
  EXPECT_THAT(names(outcome.stage_ms), ElementsAre("queue", "fork", "jail", "capture"));
  EXPECT_EQ(outcome.output, "") << "a reply ends the guest before its output is flushed";
}

TEST(CapturePool, WhoAsksForTheCudaDriverGetsOneWithoutDevices) {
  const auto pool = pool_of({.slots = 1});
  EXPECT_EQ(told(pool->capture_now(
                python("import ctypes; answer = ctypes.CDLL('libcuda.so.1').cuInit(0)"))),
            R"(plan {"answer": 100})");
}

TEST(CapturePool, GuestsOfDifferentSlotsRunAtTheSameTime) {
  // outlives the pool, whose destructor reports unfinished work
  BoundedQueue<std::string> finished(4);
  const auto pool = pool_of({.slots = 2, .capture_seconds = 10});
  ASSERT_TRUE(pool->versions(Deadline::never()));
  pool->capture(python("import time; time.sleep(5); answer = 'slow'"),
                [&](CaptureOutcome outcome) { finished.push(told(outcome)); });
  pool->capture(python("answer = 'quick'"),
                [&](CaptureOutcome outcome) { finished.push(told(outcome)); });
  EXPECT_EQ(finished.pop(), R"(plan {"answer": "quick"})");
}

TEST(CapturePool, ValuesThatAreNoJsonAreOurFault) {
  const auto pool = pool_of({.slots = 1});
  EXPECT_THAT(told(pool->capture_now({.source = "answer = 1", .inputs_json = "[}"})),
              StartsWith("fault "));
}

TEST(CapturePool, CancelledWorkGivesNoResultAndItsSlotServesAgain) {
  const auto pool = pool_of({.slots = 1, .capture_seconds = 30});
  bool called = false;
  const auto id = pool->capture(python("while True: pass"), [&](CaptureOutcome) { called = true; });
  const auto waiting = pool->capture(python("answer = 0"), [&](CaptureOutcome) { called = true; });
  pool->cancel(waiting);
  pool->cancel(id);
  EXPECT_EQ(told(pool->capture_now(python("answer = 1"))), R"(plan {"answer": 1})");
  EXPECT_FALSE(called);
}

CaptureRequest shared_python(std::string source) {
  return {.source = std::move(source), .shares_guest = true};
}

// It counts the requests that its process has served. The second word names the process.
constexpr const char* kCount =
    "import os, sys; sys.count = getattr(sys, 'count', 0) + 1; answer = [sys.count, os.getpid()]";

TEST(CapturePool, OnlyRequestsThatShareAGuestFollowEachOtherInOne) {
  const auto pool = pool_of({.slots = 1});
  const std::string first = told(pool->capture_now(shared_python(kCount)));
  EXPECT_THAT(first, StartsWith(R"(plan {"answer": [1, )"));
  const auto second = pool->capture_now(shared_python(kCount));
  EXPECT_EQ(told(second), R"(plan {"answer": [2, )" + first.substr(first.find(',') + 2));
  EXPECT_THAT(second.jail_layers, Contains("seccomp"));
  EXPECT_THAT(told(pool->capture_now(python(kCount))), StartsWith(R"(plan {"answer": [1, )"));
  EXPECT_THAT(told(pool->capture_now(python(kCount))), StartsWith(R"(plan {"answer": [1, )"));
  EXPECT_THAT(told(pool->capture_now(shared_python(kCount))),
              StartsWith(R"(plan {"answer": [1, )"));
}

TEST(CapturePool, SharedGuestThatFailsOrDiesServesNothingMore) {
  const auto pool = pool_of({.slots = 1, .capture_seconds = 10});
  for (const char* source :
       {"raise ValueError", "import os; os._exit(3)",
        "import os, threading, time\n"
        "threading.Thread(target=lambda: (time.sleep(0.2), os._exit(3))).start()"}) {
    (void)pool->capture_now(shared_python(kCount));
    (void)pool->capture_now(shared_python(source));
    std::this_thread::sleep_for(std::chrono::milliseconds(600));
    EXPECT_THAT(told(pool->capture_now(shared_python(kCount))),
                StartsWith(R"(plan {"answer": [1, )"))
        << source;
  }
}

TEST(CapturePool, EachRequestOfASharedGuestHasItsOwnTime) {
  const auto pool = pool_of({.slots = 1, .capture_seconds = 2});
  for (int request = 0; request < 3; ++request)
    EXPECT_EQ(told(pool->capture_now(shared_python("import time; time.sleep(1); answer = 1"))),
              R"(plan {"answer": 1})");
}

TEST(CapturePool, ZygoteThatDiesIsStartedAgainAndItsWorkDoneAgain) {
  const auto pool = pool_of({.slots = 1, .spare_zygote = false});
  ASSERT_TRUE(pool->versions(Deadline::never()));
  const auto zygotes = zygotes_of_this_process();
  ASSERT_EQ(zygotes.size(), 1u);
  std::promise<std::string> promise;
  pool->capture(python("import time; time.sleep(0.3); answer = 1"),
                [&](CaptureOutcome outcome) { promise.set_value(told(outcome)); });
  EXPECT_EQ(::kill(zygotes[0], SIGKILL), 0);
  EXPECT_EQ(promise.get_future().get(), R"(plan {"answer": 1})");
}

// The next spare starts only two seconds later, so the first spare must serve alone.
TEST(CapturePool, SpareZygoteTakesOverAtOnce) {
  const auto pool = pool_of({.slots = 1, .spare_zygote = true});
  ASSERT_TRUE(pool->versions(Deadline::never()));
  const auto first = await_zygotes(2);
  ASSERT_EQ(first.size(), 2u);
  const auto [serving, spare] = std::minmax(first[0], first[1]);
  BoundedQueue<std::string> finished(1);
  pool->capture(python("import time; time.sleep(0.3); answer = 1"),
                [&](CaptureOutcome outcome) { finished.push(told(outcome)); });
  EXPECT_EQ(::kill(serving, SIGKILL), 0);
  EXPECT_EQ(finished.pop(), R"(plan {"answer": 1})");
  EXPECT_EQ(zygotes_of_this_process(), std::vector<pid_t>{spare});
}

TEST(CapturePool, ZygotesThatDieOneAfterAnotherAreReplaced) {
  const auto pool = pool_of({.slots = 1, .spare_zygote = true, .spare_zygote_after = 0});
  for (int death = 0; death < 3; ++death) {
    const auto both = await_zygotes(2);
    ASSERT_EQ(both.size(), 2u);
    EXPECT_EQ(::kill(std::min(both[0], both[1]), SIGKILL), 0);
    EXPECT_EQ(told(pool->capture_now(python("answer = 1"))), R"(plan {"answer": 1})");
  }
}

TEST(CapturePool, SpareZygoteThatIsKilledIsNotMissed) {
  const auto pool = pool_of({.slots = 1, .spare_zygote = true, .spare_zygote_after = 0});
  const auto first = await_zygotes(2);
  ASSERT_EQ(first.size(), 2u);
  EXPECT_EQ(::kill(std::max(first[0], first[1]), SIGKILL), 0);
  EXPECT_EQ(await_zygotes(1), std::vector<pid_t>{std::min(first[0], first[1])});
  EXPECT_EQ(told(pool->capture_now(python("answer = 1"))), R"(plan {"answer": 1})");
}

// Tells whether this thread gets nine tenths of a core in a second of pure computing.
bool is_there_a_core() {
  const auto processor_seconds = [] {
    timespec time{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
  };
  const Stopwatch watch;
  const double begin = processor_seconds();
  while (watch.seconds() < 1) {
  }
  return processor_seconds() - begin > 0.9 * watch.seconds();
}

TEST(CapturePool, TimeoutSaysWhetherTheGuestHadACoreForItself) {
  const auto pool = pool_of({.slots = 1, .capture_seconds = 1});
  const auto failure = [&](const char* source) {
    return std::get<sandbox::CandidateFailure>(pool->capture_now(python(source)).result);
  };
  const sandbox::CandidateFailure idle = failure("import time; time.sleep(60)");
  EXPECT_EQ(idle.error.error_class, ErrorClass::timeout);
  EXPECT_FALSE(idle.undisturbed) << "what it waited for may have been somebody else's doing";
  // Other load may leave the guest less than a core. So an attempt counts only if there was a core before it and after it.
  bool had_a_core = false;
  int fair_attempts = 0;
  for (int attempt = 0; attempt < 20 && !had_a_core && fair_attempts < 3; ++attempt) {
    const bool was_there = is_there_a_core();
    had_a_core = failure("while True: pass").undisturbed;
    if (was_there && !had_a_core && is_there_a_core()) ++fair_attempts;
  }
  if (!had_a_core && fair_attempts < 3) GTEST_SKIP() << "this machine gives nobody a whole core";
  EXPECT_TRUE(had_a_core);
}

TEST(CapturePool, ZygoteThatCannotStartIsAnInfrastructureFaultThatSaysWhy) {
  auto pool =
      CaptureLoop::start({.slots = 1}, sandbox::GuestModules{.packages = {TRITONSMITH_TRIAL_GUEST},
                                                             .warm = "no_such_module",
                                                             .capture = "trial_guest",
                                                             .compiler = "trial_guest"});
  ASSERT_TRUE(pool);
  EXPECT_THAT(told((*pool)->capture_now(python("answer = 1"))),
              AllOf(StartsWith("fault "), HasSubstr("no_such_module")));
  EXPECT_FALSE((*pool)->versions(Deadline::never()));
  const auto nowhere = pool_of({.slots = 1, .python = "/no/python"});
  EXPECT_THAT(told(nowhere->capture_now(python("answer = 1"))), HasSubstr("/no/python"));
}

// A new thread inherits this thread's restrictions. The pool's thread starts the zygote.
class WithoutNamespaces {
 public:
  WithoutNamespaces() {
    get();
    auto less = data_;
    less[0].effective &= ~(1U << CAP_SYS_ADMIN);
    set(less);
  }
  WithoutNamespaces(const WithoutNamespaces&) = delete;
  WithoutNamespaces& operator=(const WithoutNamespaces&) = delete;
  ~WithoutNamespaces() { set(data_); }

 private:
  using Data = std::array<__user_cap_data_struct, 2>;
  __user_cap_header_struct header_{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  Data data_{};
  void get() { CHECK(::syscall(SYS_capget, &header_, data_.data()) == 0, "capget"); }
  void set(const Data& data) { CHECK(::syscall(SYS_capset, &header_, data.data()) == 0, "capset"); }
};

TEST(CapturePool, LayerThatMustHoldAndDoesNotIsAnInfrastructureFault) {
  const WithoutNamespaces dropped;
  for (const char* layer : {"namespaces", "sandbox_root"}) {
    const auto pool = pool_of({.slots = 1, .required_layers = {layer}});
    EXPECT_THAT(
        told(pool->capture_now(python("answer = 1"))),
        AllOf(StartsWith("fault "), HasSubstr(fmt::format("required_layers demands ({}:", layer))));
    EXPECT_THAT(told(pool->compile_now({.code = "add"})),
                AllOf(StartsWith("fault "), HasSubstr("required_layers")));
  }
}

TEST(CapturePool, NameThatIsNoLayerIsRefusedWithThoseThatAre) {
  const auto pool = start_trial_pool({.slots = 1, .required_layers = {"bogus", "seccomp"}});
  ASSERT_FALSE(pool);
  EXPECT_THAT(pool.error().message,
              AllOf(HasSubstr("'bogus'"), HasSubstr("namespaces sandbox_root")));
  CaptureConfig config;
  const auto set = apply_settings(config, {{"required_layers", Json::array({"bogus"})}}, "--set");
  ASSERT_FALSE(set);
  EXPECT_THAT(set.error().message, HasSubstr("--set: required_layers: 'bogus' is no layer"));
}

TEST(CapturePool, FoldersOfDataAreAbsoluteRealAndNoneOfTheSandboxes) {
  const Result<TempDir> folder = TempDir::make("data");
  const std::string good = std::filesystem::canonical(folder->path());
  const std::string link = good + "/link";
  std::filesystem::create_directory_symlink("/usr", link);
  const auto set = [](const std::string& data) {
    CaptureConfig config;
    return apply_settings(config, {{"data", Json::array({data})}}, "--set");
  };
  EXPECT_TRUE(set(good));
  EXPECT_TRUE(set("/usr/share"));
  for (const std::string& wrong :
       {std::string("relative"), good + "/", good + "/../", good + "/no", link, std::string("/"),
        std::string("/tmp"), std::string("/proc"), std::string("/dev/shm"),
        std::string("/sys/class")})
    EXPECT_FALSE(set(wrong)) << wrong;
}

// GPU nodes among them, where this machine has some: every user may open those.
TEST(CapturePool, GuestOpensNoDeviceNodeButThoseOfItsSandboxRoot) {
  std::string nodes;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(
           "/dev", std::filesystem::directory_options::skip_permission_denied)) {
    std::error_code ignored;
    const auto type = entry.symlink_status(ignored).type();
    if (type == std::filesystem::file_type::character || type == std::filesystem::file_type::block)
      nodes += fmt::format("'{}',", entry.path().string());
  }
  const std::string source = fmt::format(R"(
import os
answer = []
for node in ['/dev/null', {}]:
    try:
        os.close(os.open(node, os.O_RDWR | os.O_NONBLOCK | os.O_NOCTTY))
        answer.append(node)
    except OSError:
        pass
answer = sorted(set(answer) - {{'/dev/null', '/dev/zero', '/dev/full', '/dev/random', '/dev/urandom'}})
)",
                                         nodes);
  const auto pool = pool_of({.slots = 1});
  EXPECT_THAT(told(pool->capture_now(python(source))), HasSubstr(": []"));
}

TEST(CapturePool, LeavesNothingBehind) {
  const auto temporary = TempDir::make("tritonsmith-test");
  ASSERT_TRUE(temporary);
  ASSERT_EQ(::chmod(temporary->path().c_str(), 0711), 0);
  ::setenv("TMPDIR", temporary->path().c_str(), 1);
  std::string last;
  {
    const auto pool =
        pool_of({.slots = 1, .spare_zygote = true, .spare_zygote_after = 0, .capture_seconds = 30});
    ::unsetenv("TMPDIR");
    ASSERT_EQ(await_zygotes(2).size(), 2u);
    pool->capture(python("while True: pass"),
                  [&](CaptureOutcome outcome) { last = told(outcome); });
  }
  EXPECT_EQ(last, "fault the capture pool was closed");
  EXPECT_TRUE(std::filesystem::is_empty(temporary->path()));
  EXPECT_TRUE(zygotes_of_this_process().empty());
}

TEST(CompilerPool, EqualKernelsCompileOnceHoweverTheirLocationsDiffer) {
  const auto pool = pool_of({.slots = 1});
  const auto first = pool->compile_now({.code = "add loc(\"a.py\":1:2)"});
  EXPECT_THAT(told(first), EndsWith(" add"));  // the compiler sees no location
  EXPECT_THAT(names(first.stage_ms), ElementsAre("queue", "compile"));
  EXPECT_FALSE(first.from_cache);
  const auto second = pool->compile_now({.code = "add loc(\"b.py\":30:2)"});
  EXPECT_TRUE(second.from_cache);
  EXPECT_EQ(told(second), told(first));
  EXPECT_FALSE(pool->compile_now({.code = "add", .num_warps = 8}).from_cache);
}

TEST(CompilerPool, WorkAskedForTwiceAtTheSameTimeIsDoneOnce) {
  const auto pool = pool_of({.slots = 1});
  BoundedQueue<bool> cached(8);
  for (int i = 0; i < 4; ++i)
    pool->compile({.code = fmt::format("mul loc({})", i)},
                  [&](compile::CompileOutcome outcome) { cached.push(outcome.from_cache); });
  std::vector<bool> all;
  for (int i = 0; i < 4; ++i) all.push_back(cached.pop().value());
  EXPECT_EQ(all, (std::vector<bool>{false, true, true, true}));
}

TEST(CompilerPool, CompileErrorsAreTypedAndKeepTheirOwnLines) {
  const auto pool = pool_of({.slots = 1});
  const auto line = [](const compile::CompileOutcome& outcome) {
    return std::get<sandbox::CandidateFailure>(outcome.result).error.line;
  };
  const auto outcome = pool->compile_now({.code = "refuse loc(\"a.py\":3:1)"});
  EXPECT_EQ(told(outcome), "failure compile_error: no such operation");
  EXPECT_EQ(std::get<sandbox::CandidateFailure>(outcome.result).stage, Stage::captured);
  EXPECT_EQ(line(outcome), 3);
  const auto elsewhere = pool->compile_now({.code = "refuse loc(\"a.py\":7:1)"});
  EXPECT_TRUE(elsewhere.from_cache);
  EXPECT_EQ(line(elsewhere), 7);
  EXPECT_FALSE(pool->compile_now({.code = "refuse it"}).from_cache);
  EXPECT_THAT(told(pool->compile_now({.code = "raise"})), HasSubstr("the compiler is confused"));
}

TEST(CompilerPool, CrashCountsOnlyWhenAFreshWorkerCrashesToo) {
  const auto pool = pool_of({.slots = 1, .compile_seconds = 1});
  EXPECT_THAT(told(pool->compile_now({.code = "crash"})),
              StartsWith("failure compile_crash: the compiler was killed"));
  EXPECT_THAT(told(pool->compile_now({.code = "fine"})), StartsWith("kernel"));
  EXPECT_EQ(told(pool->compile_now({.code = "hang"})),
            "failure compile_timeout: the compiler did not finish within 1 s");
  EXPECT_THAT(told(pool->compile_now({.code = "fine too"})), StartsWith("kernel"));
}

TEST(CompilerPool, ServesJobsRoundRobin) {
  const auto pool = pool_of({.slots = 1, .compilers = 1});
  BoundedQueue<std::string> finished(8);
  const auto submit = [&](std::uint64_t job, const std::string& kernel) {
    pool->compile({.code = kernel, .job = job},
                  [&, kernel](const compile::CompileOutcome&) { finished.push(kernel); });
  };
  // the zygote is not warm yet, so that all of them wait
  for (const char* kernel : {"large 1", "large 2", "large 3"}) submit(1, kernel);
  submit(2, "small");
  std::vector<std::string> order;
  for (int i = 0; i < 4; ++i) order.push_back(finished.pop().value());
  EXPECT_THAT(order, ElementsAre("large 1", "small", "large 2", "large 3"));
}

TEST(CompilerPool, AJobHasABudgetOfCompileTime) {
  const auto pool = pool_of({.slots = 1, .compilers = 1, .compile_budget_seconds = 1e-6});
  BoundedQueue<compile::CompileOutcome> finished(8);
  for (const char* kernel : {"one", "two", "three"})
    pool->compile({.code = kernel, .job = 1},
                  [&](compile::CompileOutcome outcome) { finished.push(std::move(outcome)); });
  std::vector<compile::CompileOutcome> outcomes;
  for (int i = 0; i < 3; ++i) outcomes.push_back(finished.pop().value());
  // the requests that are refused hear of it before the one that spent the budget
  EXPECT_THAT(told(outcomes[0]),
              AllOf(StartsWith("failure compile_timeout: the candidate's kernels together took"),
                    HasSubstr("compile_budget_seconds")));
  EXPECT_TRUE(std::get<sandbox::CandidateFailure>(outcomes[1].result).undisturbed);
  EXPECT_THAT(told(outcomes[2]), StartsWith("kernel"));
  EXPECT_THAT(told(pool->compile_now({.code = "another job's"})), StartsWith("kernel"));
}

TEST(CompilerPool, WhoeverKillsACompilersProgramTwiceMayBeAnother) {
  const auto pool = pool_of({.slots = 1});
  EXPECT_THAT(told(pool->compile_now({.code = "lose_program"})),
              StartsWith("failure killed: the compiler was killed twice"));
  EXPECT_THAT(told(pool->compile_now({.code = "exit 70"})), StartsWith("failure compile_crash"));
}

TEST(CompilerPool, WorkersAreRecycled) {
  const auto pool = pool_of({.slots = 1, .compilers = 1, .compiles_per_worker = 2});
  std::vector<std::string> workers;
  for (int i = 0; i < 4; ++i) {
    const std::string text = told(pool->compile_now({.code = fmt::format("k {}", i)}));
    workers.push_back(text.substr(7, text.find(' ', 7) - 7));
  }
  EXPECT_EQ(workers[0], workers[1]);
  EXPECT_NE(workers[1], workers[2]);
}

TEST(CompilerPool, KernelsOnDiskOutliveThePool) {
  const auto folder = TempDir::make("tritonsmith-cache");
  ASSERT_TRUE(folder);
  const CaptureConfig config{.slots = 1, .compile_cache_directory = folder->path() / "cubins"};
  const std::string first = told(pool_of(config)->compile_now({.code = "kept"}));
  const auto again = pool_of(config)->compile_now({.code = "kept"});
  EXPECT_TRUE(again.from_cache);
  EXPECT_EQ(told(again), first);
}

}  // namespace
}  // namespace tritonsmith::gym::capture
