// Tests of the real guests: torch, Triton and the project's own capture and compiler, in the jail.
// All tests share one zygote, because it takes seconds to become warm.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gym/capture/testing/trial_pool.h"

namespace tritonsmith::gym::capture {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr const char* kTask = R"(
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        return torch.relu(x)
def get_inputs():
    return [torch.randn(1000)]
def get_init_inputs():
    return []
)";

constexpr const char* kCandidate = R"(
import torch, triton
import triton.language as tl
@triton.jit
def relu_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n)
    tl.store(y_ptr + at, tl.maximum(x, 0.0), mask=at < n)
class ModelNew(torch.nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        relu_kernel[(triton.cdiv(x.numel(), 256),)](x, y, x.numel(), BLOCK=256)
        return y
)";

class RealGuests : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    auto pool = CapturePool::start({.slots = 1});
    ASSERT_TRUE(pool) << pool.error().message;
    pool_ = std::move(*pool);
    const auto versions = pool_->versions(Deadline::never());
    ASSERT_TRUE(versions) << versions.error().message;
  }
  static void TearDownTestSuite() { pool_.reset(); }

  static Json task_plan() {
    const auto outcome =
        pool_->capture_now({.role = CaptureRole::task, .source = kTask, .path = "task.py"});
    EXPECT_THAT(told(outcome), StartsWith("plan "));
    return Json::parse(std::get<CapturedPlan>(outcome.result).json);
  }
  static CaptureOutcome capture(const std::string& candidate) {
    const Json task = task_plan();
    return pool_->capture_now({.source = candidate,
                               .init_args_json = to_line(task["init_args"]),
                               .inputs_json = to_line(task["inputs"]),
                               .tensors_json = to_line(task["tensors"])});
  }
  static inline std::unique_ptr<CapturePool> pool_;
};

TEST_F(RealGuests, ACandidateBecomesAPlanAndItsKernelACubin) {
  const auto outcome = capture(kCandidate);
  ASSERT_THAT(told(outcome), StartsWith("plan "));
  const Json plan = Json::parse(std::get<CapturedPlan>(outcome.result).json);
  ASSERT_EQ(plan["kernels"].size(), 1u);
  const auto compiled = pool_->compile_now({.code = plan["kernels"][0]["ttir"]});
  const auto* kernel = std::get_if<compile::CompiledKernel>(&compiled.result);
  ASSERT_NE(kernel, nullptr);
  EXPECT_THAT(kernel->cubin, StartsWith("\x7f"
                                        "ELF"));
  EXPECT_EQ(kernel->name, "relu_kernel");
  EXPECT_GT(kernel->registers, 0);
}

TEST_F(RealGuests, ACandidateThatRaisesIsTyped) {
  EXPECT_THAT(told(capture("import torch\nclass ModelNew(torch.nn.Module):\n  def forward(self, "
                           "x): return x.no_such()")),
              HasSubstr("no_such"));
  EXPECT_THAT(told(capture("def broken(:")), StartsWith("failure syntax_error"));
  EXPECT_THAT(told(capture("import os; os._exit(0)")), StartsWith("failure exited"));
}

TEST_F(RealGuests, IrThatIsNoneIsACompileError) {
  const auto compiled = pool_->compile_now({.code = "this is no IR"});
  ASSERT_TRUE(std::holds_alternative<sandbox::CandidateFailure>(compiled.result));
  EXPECT_EQ(std::get<sandbox::CandidateFailure>(compiled.result).stage, Stage::captured);
}

}  // namespace
}  // namespace tritonsmith::gym::capture
