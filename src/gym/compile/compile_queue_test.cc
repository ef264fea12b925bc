#include "gym/compile/compile_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

namespace tritonsmith::gym::compile {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// A compiler without processes: kernels are named by their keys, and a test says what each costs.
struct FakeCompiler {
  void submit(std::uint64_t job, const std::string& key) {
    queue.add(key, {.id = ++last_id, .request = {.code = key, .job = job}});
  }
  void submit(std::uint64_t job, std::initializer_list<const char*> keys) {
    for (const char* key : keys) submit(job, key);
  }
  // Compiles the next kernel and returns its key, or "" if none waits.
  std::string compile(double seconds = 1) {
    const auto kernel = queue.take();
    if (!kernel) return "";
    queue.charge(*kernel, seconds);
    for (const CompileJob& job : queue.take_unaffordable()) refused.push_back(job.request.code);
    return kernel->key;
  }
  std::vector<std::string> compile_all(double seconds = 1) {
    std::vector<std::string> order;
    for (std::string key = compile(seconds); !key.empty(); key = compile(seconds))
      order.push_back(key);
    return order;
  }

  CompileQueue queue{180};
  std::uint64_t last_id = 0;
  std::vector<std::string> refused;
};

TEST(CompileQueue, ASmallJobPassesALargeOne) {
  FakeCompiler compiler;
  compiler.submit(1, {"a1", "a2", "a3", "a4"});
  compiler.submit(2, {"b1"});
  compiler.submit(3, {"c1", "c2"});
  EXPECT_THAT(compiler.compile_all(), ElementsAre("a1", "b1", "c1", "a2", "c2", "a3", "a4"));
}

TEST(CompileQueue, NewJobsDoNotHoldBackALargeOne) {
  FakeCompiler compiler;
  compiler.submit(1, {"large 1", "large 2", "large 3"});
  std::vector<std::string> order;
  for (std::uint64_t job = 2; job < 8; ++job) {
    compiler.submit(job, fmt::format("small {}", job));
    order.push_back(compiler.compile());
  }
  EXPECT_THAT(order, ElementsAre("large 1", "small 2", "large 2", "small 3", "small 4", "large 3"));
}

TEST(CompileQueue, RequestsWithoutAJobAreServedAsJobsOfTheirOwn) {
  FakeCompiler compiler;
  compiler.submit(5, {"a1", "a2"});
  compiler.submit(0, {"b", "c"});
  EXPECT_THAT(compiler.compile_all(), ElementsAre("a1", "b", "c", "a2"));
}

TEST(CompileQueue, AJobThatSpendsItsBudgetLosesItsOtherKernels) {
  FakeCompiler compiler;
  compiler.submit(1, {"a1", "a2", "a3", "a4"});
  compiler.submit(2, {"b1", "b2"});
  EXPECT_THAT(compiler.compile_all(100), ElementsAre("a1", "b1", "a2", "b2"));
  EXPECT_THAT(compiler.refused, ElementsAre("a3", "a4"));
}

TEST(CompileQueue, WhoWasPickedPaysForASharedKernel) {
  FakeCompiler compiler;
  compiler.submit(1, {"shared", "a2"});
  compiler.submit(2, {"shared", "b2"});
  EXPECT_EQ(compiler.compile(200), "shared");
  EXPECT_THAT(compiler.refused, ElementsAre("a2"));
  EXPECT_EQ(compiler.compile(), "b2");
}

TEST(CompileQueue, AKernelThatTwoJobsWaitForOutlivesOneOfThem) {
  FakeCompiler compiler;
  compiler.submit(1, {"a1", "shared"});
  compiler.submit(2, {"shared"});
  EXPECT_TRUE(compiler.queue.cancel(2));
  EXPECT_FALSE(compiler.queue.cancel(2));
  EXPECT_THAT(compiler.compile_all(), ElementsAre("a1", "shared"));
}

TEST(CompileQueue, ACancelledJobLeavesNothing) {
  FakeCompiler compiler;
  compiler.submit(1, {"a1", "a2"});
  EXPECT_TRUE(compiler.queue.cancel(1));
  EXPECT_TRUE(compiler.queue.cancel(2));
  EXPECT_TRUE(compiler.queue.empty());
  EXPECT_FALSE(compiler.queue.take());
}

TEST(CompileQueue, AKernelThatWasPutBackComesFirstAndIsPaidForTwice) {
  FakeCompiler compiler;
  compiler.submit(1, {"a1", "a2"});
  compiler.submit(2, {"b1"});
  auto kernel = compiler.queue.take();
  ASSERT_TRUE(kernel);
  ++kernel->attempts;
  compiler.queue.charge(*kernel, 100);
  compiler.queue.put_back(*std::move(kernel));
  EXPECT_THAT(compiler.compile_all(100), ElementsAre("a1", "b1"));
  EXPECT_THAT(compiler.refused, ElementsAre("a2"));
}

TEST(CompileQueue, AllThatWaitsCanBeTaken) {
  FakeCompiler compiler;
  compiler.submit(1, {"a1", "a2"});
  compiler.submit(2, {"a1"});
  EXPECT_EQ(compiler.queue.take_all().size(), 3u);
  EXPECT_THAT(compiler.compile_all(), IsEmpty());
}

}  // namespace
}  // namespace tritonsmith::gym::compile
