#include "eval/samples_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "base/temp_dir.h"

namespace tritonsmith::eval {
namespace {

using ::testing::HasSubstr;

class SamplesFolder : public testing::Test {
 protected:
  void SetUp() override {
    auto made = TempDir::make("samples-folder-test");
    ASSERT_TRUE(made);
    directory_.emplace(std::move(*made));
  }
  void write(const std::string& name, const std::string& text = "kernel") const {
    std::ofstream(directory_->path() / name) << text;
  }
  std::string message(std::span<const int> levels = {}) const {
    const auto samples = read_samples_folder(directory_->path(), levels);
    return samples ? "no error" : samples.error().message;
  }

  std::optional<TempDir> directory_;
};

Task task(const std::string& id) { return {.id = id, .source = "pass"}; }

TEST(SampleName, IsReadFromTheFilesOfKernelBenchAlone) {
  EXPECT_EQ(parse_sample_name("level_1_problem_19_sample_0_kernel.py"), (SampleName{1, 19, 0}));
  for (const char* other :
       {"generation_config.yaml", "eval_results.json", "level_1_problem_19_sample_0_prompt.txt",
        "level_1_problem_19_sample_0_kernel.py~", "level_1_problem_19_kernel.py",
        "level_x_problem_19_sample_0_kernel.py", "level_-1_problem_19_sample_0_kernel.py",
        "level_1_problem_019_sample_0_kernel.py", "xlevel_1_problem_19_sample_0_kernel.py",
        "level_1_problem_99999999999_sample_0_kernel.py", "level_1_problem__sample_0_kernel.py",
        ""})
    EXPECT_FALSE(parse_sample_name(other)) << other;
}

TEST(SampleName, ComesBackFromItsFile) {
  for (const SampleName name : {SampleName{1, 19, 0}, SampleName{4, 100, 31}})
    EXPECT_EQ(parse_sample_name(file_name(name)), name);
}

TEST_F(SamplesFolder, ReadsTheSamplesInNumericalOrderAndPassesOverOtherFiles) {
  for (const char* name :
       {"level_2_problem_1_sample_0_kernel.py", "level_1_problem_10_sample_0_kernel.py",
        "level_1_problem_9_sample_1_kernel.py", "level_1_problem_9_sample_0_kernel.py"})
    write(name, name);
  write("generation_config.yaml");
  write("notes.py");
  const auto samples = read_samples_folder(directory_->path());
  ASSERT_TRUE(samples) << samples.error().message;
  std::vector<SampleName> names;
  for (const FolderSample& sample : *samples) {
    names.push_back(sample.name);
    EXPECT_EQ(sample.kernel, file_name(sample.name));
  }
  EXPECT_THAT(names, testing::ElementsAre(SampleName{1, 9, 0}, SampleName{1, 9, 1},
                                          SampleName{1, 10, 0}, SampleName{2, 1, 0}));
  const int second[] = {2};
  const auto of_level = read_samples_folder(directory_->path(), second);
  ASSERT_TRUE(of_level) << of_level.error().message;
  ASSERT_EQ(of_level->size(), 1U);
  EXPECT_EQ(of_level->front().name, (SampleName{2, 1, 0}));
}

TEST_F(SamplesFolder, SaysHowSamplesAreNamedIfThereAreNone) {
  write("kernel.py");
  EXPECT_THAT(message(),
              HasSubstr("holds no samples; KernelBench names them like level_1_problem"));
  write("level_1_problem_9_sample_0_kernel.py");
  const int third[] = {3};
  EXPECT_THAT(message(third), HasSubstr("holds no samples of these levels"));
  const auto missing = read_samples_folder(directory_->path() / "elsewhere");
  ASSERT_FALSE(missing);
  EXPECT_THAT(missing.error().message, HasSubstr("elsewhere: no such folder"));
}

TEST_F(SamplesFolder, NamesAFileThatCannotBeRead) {
  write("level_1_problem_1_sample_0_kernel.py");
  std::filesystem::create_symlink(directory_->path() / "gone",
                                  directory_->path() / "level_1_problem_2_sample_0_kernel.py");
  EXPECT_THAT(message(), HasSubstr("level_1_problem_2_sample_0_kernel.py"));
}

TEST(FindTasks, KnowsEachLevelsProblemsByTheirNumber) {
  const std::vector<Task> tasks = {task("level1/1_A"), task("KernelBench/level2/1_B"),
                                   task("level1/19_ReLU"), task("level1/190_C"), task("other")};
  std::vector<FolderSample> samples = {
      {.name = {1, 1, 0}}, {.name = {2, 1, 0}}, {.name = {1, 19, 0}}, {.name = {1, 19, 1}}};
  const Status found = find_tasks(tasks, samples);
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(samples[0].task, &tasks[0]);
  EXPECT_EQ(samples[1].task, &tasks[1]);
  EXPECT_EQ(samples[2].task, &tasks[2]);
  EXPECT_EQ(samples[3].task, &tasks[2]) << "two samples of one problem";
}

TEST(FindTasks, FailsForAProblemThatTheSuiteLacksOrHasTwice) {
  std::vector<FolderSample> samples = {{.name = {1, 7, 2}}};
  const auto message = [&](const std::vector<Task>& tasks) {
    const Status found = find_tasks(tasks, samples);
    return found ? "no error" : found.error().message;
  };
  EXPECT_EQ(message({task("level1/1_A")}),
            "level_1_problem_7_sample_2_kernel.py: the suite has no problem 7 of level 1");
  EXPECT_THAT(message({task("level1/7_A"), task("level1/7_B")}),
              HasSubstr("two tasks that are problem 7 of level 1: level1/7_A and level1/7_B"));
  EXPECT_THAT(message({task("softmax-00001-small")}), HasSubstr("no tasks named as KernelBench's"));
}

}  // namespace
}  // namespace tritonsmith::eval
