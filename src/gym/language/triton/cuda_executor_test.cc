#include "gym/language/triton/cuda_executor.h"

#include <gtest/gtest.h>

#include <bit>

#include "gym/cuda/testing/fake_driver.h"

namespace tritonsmith::gym::language::triton {
namespace {

KernelBuffer buffer(std::uintptr_t address, std::size_t offset) {
  return {.storage = reinterpret_cast<std::byte*>(address), .offset_bytes = offset};
}

struct CudaExecutorTest : ::testing::Test {
  cuda::Driver driver = cuda::fake_driver();
  CudaExecutor executor{driver};
  std::vector<KernelBinary> binaries = {{.cubin = "c", .name = "k", .num_warps = 8}};
  plan::PlanKernel kernel{.name = "k", .arguments = {"*fp32", "i32", "fp32"}};
  plan::LaunchChoice choice{.kernel = 0, .grid = {7, 2, 1}};
  std::vector<KernelArgument> arguments = {buffer(0x1000, 64), std::int64_t{-5}, 2.5};

  LaunchOutcome launch() {
    cuda::fake_notes().parameters = arguments.size() + 2;
    executor.use(binaries);
    return executor.launch(kernel, choice, arguments, Deadline::never());
  }
};

// The driver reads as many parameters as the kernel declares, not as many as it is given.
TEST_F(CudaExecutorTest, RefusesKernelsThatTakeMoreThanTheirPlanSays) {
  executor.use(binaries);
  cuda::fake_notes().parameters = arguments.size() + 3;
  const auto more = executor.launch(kernel, choice, arguments, Deadline::never());
  ASSERT_TRUE(more.error);
  EXPECT_EQ(more.error->error_class, ErrorClass::bad_plan);
  cuda::fake_notes().parameters = arguments.size() + 2;
  cuda::fake_notes().parameter_bytes = 128;
  EXPECT_TRUE(executor.launch(kernel, choice, arguments, Deadline::never()).error);
  EXPECT_TRUE(cuda::fake_notes().launches.empty());
}

TEST_F(CudaExecutorTest, PassesArgumentsInTheKernelsTypesAndTwoNullPointersBehind) {
  EXPECT_FALSE(launch().error);
  const cuda::FakeLaunch& seen = cuda::fake_notes().launches.at(0);
  EXPECT_EQ(seen.parameters[0], 0x1040U);
  EXPECT_EQ(static_cast<std::uint32_t>(seen.parameters[1]), 0xfffffffbU);
  EXPECT_EQ(seen.parameters[2], std::bit_cast<std::uint32_t>(2.5F));
  EXPECT_EQ(seen.parameters[3], 0U);
  EXPECT_EQ(seen.parameters[4], 0U);
  EXPECT_EQ(seen.config.gridDimX, 7U);
  EXPECT_EQ(seen.config.gridDimY, 2U);
  EXPECT_EQ(seen.config.blockDimX, 256U);
  EXPECT_EQ(seen.config.numAttrs, 0U);
}

TEST_F(CudaExecutorTest, RoundsNarrowFloatsToNearest) {
  kernel.arguments = {"fp16", "bf16", "fp64"};
  arguments = {1.0 / 3, 1.0 / 3, 1.0 / 3};
  EXPECT_FALSE(launch().error);
  const cuda::FakeLaunch& seen = cuda::fake_notes().launches.at(0);
  EXPECT_EQ(seen.parameters[0], 0x3555U);
  EXPECT_EQ(seen.parameters[1], 0x3eabU);
  EXPECT_EQ(seen.parameters[2], std::bit_cast<std::uint64_t>(1.0 / 3));
}

TEST_F(CudaExecutorTest, LaunchesClustersOfBlocks) {
  kernel.num_ctas = 2;
  EXPECT_FALSE(launch().error);
  const cuda::FakeLaunch& seen = cuda::fake_notes().launches.at(0);
  EXPECT_EQ(seen.config.gridDimX, 14U);
  EXPECT_EQ(seen.config.numAttrs, 2U);
}

TEST_F(CudaExecutorTest, AsksForSharedMemoryBeyondWhatABlockHasByItself) {
  binaries[0].shared_bytes = 48 << 10;
  launch();
  EXPECT_TRUE(cuda::fake_notes().shared_bytes.empty());
  binaries[0].shared_bytes = 100 << 10;
  launch();
  EXPECT_EQ(cuda::fake_notes().shared_bytes, std::vector<int>{100 << 10});
  EXPECT_EQ(cuda::fake_notes().launches.at(1).config.sharedMemBytes, 100U << 10);
}

TEST_F(CudaExecutorTest, GivesEachBlockItsScratchMemoryAndKeepsItForTheJob) {
  binaries[0].scratch_bytes = 128;
  kernel.num_ctas = 2;
  EXPECT_FALSE(launch().error);
  EXPECT_EQ(cuda::fake_notes().allocated, std::vector<std::size_t>{128 * 7 * 2 * 2});
  EXPECT_EQ(cuda::fake_notes().launches.at(0).parameters[3], 0x10000U);
  EXPECT_EQ(cuda::fake_notes().launches.at(0).parameters[4], 0U);
  choice.grid = {3, 1, 1};
  EXPECT_FALSE(executor.launch(kernel, choice, arguments, Deadline::never()).error);
  EXPECT_EQ(cuda::fake_notes().allocated.size(), 1U);
  choice.grid = {70, 1, 1};
  EXPECT_FALSE(executor.launch(kernel, choice, arguments, Deadline::never()).error);
  EXPECT_EQ(cuda::fake_notes().launches.at(2).parameters[3], 0x20000U);
  executor.use(binaries);
  EXPECT_EQ(cuda::fake_notes().freed, 2);
  choice.grid = {1 << 28, 1, 1};
  EXPECT_EQ(executor.launch(kernel, choice, arguments, Deadline::never()).error->error_class,
            ErrorClass::too_large_to_evaluate);
}

TEST_F(CudaExecutorTest, LoadsEqualCubinsOnceAndUnloadsThemForTheNextJob) {
  binaries.push_back(binaries[0]);
  launch();
  choice.kernel = 1;
  executor.launch(kernel, choice, arguments, Deadline::never());
  EXPECT_EQ(cuda::fake_notes().modules, 1);
  executor.use(binaries);
  EXPECT_EQ(cuda::fake_notes().modules, 0);
}

TEST_F(CudaExecutorTest, BlamesTheCandidateForArgumentsThatDoNotFit) {
  arguments[1] = 0.5;
  EXPECT_EQ(launch().error->error_class, ErrorClass::bad_launch);
  arguments[1] = buffer(0x1000, 0);
  EXPECT_EQ(launch().error->error_class, ErrorClass::bad_launch);
  EXPECT_TRUE(cuda::fake_notes().launches.empty());
}

TEST_F(CudaExecutorTest, BlamesTheCandidateForALaunchThatTheDriverRefuses) {
  cuda::fake_notes().launch_result = CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
  const auto outcome = launch();
  EXPECT_EQ(outcome.error->error_class, ErrorClass::bad_launch);
  EXPECT_EQ(outcome.fault, Fault::candidate);
}

TEST_F(CudaExecutorTest, BlamesNobodysKernelForACubinWithoutIt) {
  binaries[0].name = "missing";
  const auto outcome = launch();
  EXPECT_EQ(outcome.fault, Fault::infrastructure);
}

TEST(WaitFor, EndsWhenTheEventHasHappenedOrTheDeadlinePasses) {
  const cuda::Driver driver = cuda::fake_driver();
  auto event = cuda::Event::make(driver);
  ASSERT_TRUE(event);
  cuda::fake_notes().polls_until_done = 3;
  EXPECT_EQ(cuda::wait_for(*event, Deadline::never()), CUDA_SUCCESS);
  cuda::fake_notes().polls_until_done = 1 << 30;
  EXPECT_EQ(cuda::wait_for(*event, Deadline::after(std::chrono::milliseconds(1))),
            CUDA_ERROR_NOT_READY);
}

}  // namespace
}  // namespace tritonsmith::gym::language::triton
