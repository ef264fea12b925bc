#include "gym/judge/replay_gpus.h"

#include <gtest/gtest.h>

#include "gym/compile/targets.h"
#include "gym/judge/local_judge.h"

namespace tritonsmith::gym::judge {
namespace {

cuda::GpuFacts hopper(std::int64_t memory = 150'000'000'000) {
  return {.name = "NVIDIA H200",
          .target = "sm_90",
          .properties = {{"multi_processor_count", 132}, {"total_memory", memory}}};
}

cuda::GpuFacts ampere() { return {.name = "NVIDIA A100", .target = "sm_80"}; }

std::vector<int> chosen(const LocalJudgeConfig& config, const std::vector<cuda::GpuFacts>& here) {
  const auto gpus = choose_gpus(config, here);
  EXPECT_TRUE(gpus) << gpus.error().message;
  std::vector<int> ordinals;
  for (const ReplayGpu& gpu : gpus.value_or(std::vector<ReplayGpu>()))
    ordinals.push_back(gpu.ordinal);
  return ordinals;
}

TEST(ReplayGpus, TakesAllThatAreHereOrAsManyOrThoseThatAreNamed) {
  const std::vector<cuda::GpuFacts> here = {hopper(), hopper(), hopper(149'999'000'000)};
  EXPECT_EQ(chosen({}, here), (std::vector{0, 1, 2}));
  EXPECT_EQ(chosen({.gpus = 2}, here), (std::vector{0, 1}));
  EXPECT_EQ(chosen({.only_gpus = {2, 1}}, here), (std::vector{2, 1}));
  EXPECT_EQ(chosen({.gpus = 0, .only_gpus = {7}}, here), std::vector<int>());
  EXPECT_EQ(chosen({}, {}), std::vector<int>());
}

TEST(ReplayGpus, RefusesUnlikeOnesAndSaysWhichAreOfOneKind) {
  const std::vector<cuda::GpuFacts> here = {hopper(), ampere(), hopper()};
  const auto mixed = choose_gpus({}, here);
  ASSERT_FALSE(mixed);
  EXPECT_EQ(mixed.error().message,
            "GPU 0 (NVIDIA H200) and GPU 1 (NVIDIA A100) are not alike, and one judge's must be: "
            "name those of one kind, such as judge.only_gpus = [0, 2] (or CUDA_VISIBLE_DEVICES)");
  EXPECT_EQ(chosen({.only_gpus = {0, 2}}, here), (std::vector{0, 2}));
  EXPECT_EQ(chosen({.only_gpus = {1}}, here), std::vector{1});
  EXPECT_EQ(chosen({.gpus = 1}, here), std::vector{0});
}

TEST(ReplayGpus, RefusesASliceOfTheSameChip) {
  cuda::GpuFacts slice = hopper();
  slice.properties[0].second = 16;
  EXPECT_FALSE(choose_gpus({}, std::vector{hopper(), slice}));
}

TEST(ReplayGpus, LeavesOutThoseInQuarantineAndNeverFallsBackOnTheCpu) {
  std::vector<cuda::GpuFacts> here = {hopper(), hopper()};
  here[0].uuid = "GPU-1";
  here[1].uuid = "GPU-2";
  const auto left = [&](const LocalJudgeConfig& config, const std::vector<std::string>& held) {
    return without_gpus(config, here, held);
  };
  EXPECT_EQ(chosen(*left({}, {"GPU-1", "GPU-of-another-host"}), here), std::vector{1});
  EXPECT_EQ(chosen(*left({}, {}), here), (std::vector{0, 1}));
  const auto none = left({.only_gpus = {1}}, {"GPU-2"});
  ASSERT_FALSE(none);
  EXPECT_NE(none.error().message.find("GPU-2 is in quarantine"), std::string::npos);
  EXPECT_FALSE(left({}, {"GPU-1", "GPU-2"}));
}

TEST(ReplayGpus, NamesOneThatIsNotThere) {
  const auto none = choose_gpus({.only_gpus = {1}}, std::vector{hopper()});
  ASSERT_FALSE(none);
  EXPECT_NE(none.error().message.find("there is no GPU 1 here (1 in all)"), std::string::npos);
}

TEST(ReplayGpus, LeavesOutThoseOfAnotherChipThanTheTarget) {
  const std::vector<cuda::GpuFacts> here = {hopper(), ampere(), hopper()};
  EXPECT_EQ(chosen({.target = "sm_90"}, here), (std::vector{0, 2}));
  EXPECT_EQ(chosen({.gpus = 1, .target = "sm_80"}, here), std::vector{1});
  EXPECT_EQ(chosen({.only_gpus = {1}, .target = "sm_90"}, here), std::vector<int>());
  EXPECT_EQ(chosen({.target = "sm_120"}, here), std::vector<int>());
}

TEST(ReplayGpus, TheTargetIsTheOneThatWasNamedElseThatOfTheGpu) {
  EXPECT_EQ(target_of({}, {}), "sm_90");
  EXPECT_EQ(target_of({.target = "sm_86"}, {}), "sm_86");
  EXPECT_EQ(target_of({}, *choose_gpus({}, std::vector{ampere()})), "sm_80");
}

TEST(ReplayGpus, AnUnknownTargetIsRefusedWithTheList) {
  const auto known = compile::check_target("sm_75");
  ASSERT_FALSE(known);
  EXPECT_EQ(known.error().message,
            "the target 'sm_75' is not known; name one of sm_80, sm_86, sm_89, sm_90, sm_100, "
            "sm_120");
}

}  // namespace
}  // namespace tritonsmith::gym::judge
