#include "curriculum/suite.h"

#include <gtest/gtest.h>

#include <fstream>

#include "base/file.h"
#include "base/temp_dir.h"
#include "curriculum/tasks.h"

namespace tritonsmith::curriculum {
namespace {

constexpr const char* kRelu =
    "import torch\n\nclass Model(torch.nn.Module):\n    def forward(self, x):\n        return "
    "x.relu()\n\n"
    "def get_inputs():\n    return [torch.randn(4)]\n\ndef get_init_inputs():\n    return []\n";

std::vector<Task> few_tasks() { return make_curriculum({.seed = 5, .train = 6, .heldout = 2}); }

TEST(Suite, ImportsKernelBenchsLayoutWithIdsFromPaths) {
  const auto folder = TempDir::make("suite");
  ASSERT_TRUE(make_directories(folder->path() / "KernelBench/level1"));
  ASSERT_TRUE(write_file_atomic(folder->path() / "KernelBench/level1/19_ReLU.py", kRelu));
  const auto tasks = load_suite((folder->path() / "KernelBench").string());
  ASSERT_TRUE(tasks) << tasks.error().message;
  ASSERT_EQ(tasks->size(), 1U);
  EXPECT_EQ(tasks->front().id, "level1/19_ReLU");
  EXPECT_EQ(tasks->front().suite, "KernelBench");
  EXPECT_EQ(tasks->front().source, kRelu);
}

TEST(Suite, NamesTheFileThatIsNoTaskAndGoesOnWhenAsked) {
  const auto folder = TempDir::make("suite");
  ASSERT_TRUE(write_file_atomic(folder->path() / "a.py", kRelu));
  ASSERT_TRUE(write_file_atomic(folder->path() / "b.py", "class Model:\n    pass\n"));
  const auto stopped = import_folder(folder->path(), OnBadTask::stop);
  ASSERT_FALSE(stopped);
  EXPECT_NE(stopped.error().message.find("b.py: it defines no get_inputs()"), std::string::npos)
      << stopped.error().message;
  const auto skipped = import_folder(folder->path(), OnBadTask::skip);
  ASSERT_TRUE(skipped);
  EXPECT_EQ(skipped->size(), 1U);
}

TEST(Suite, ReadsBackTheTasksItWrote) {
  const auto folder = TempDir::make("suite");
  const auto file = folder->path() / "tasks.jsonl";
  const std::vector<Task> tasks = few_tasks();
  ASSERT_TRUE(write_task_lines(file, tasks));
  const auto again = load_suite(file.string());
  ASSERT_TRUE(again) << again.error().message;
  ASSERT_EQ(again->size(), tasks.size());
  for (std::size_t i = 0; i < tasks.size(); ++i) EXPECT_EQ(to_json((*again)[i]), to_json(tasks[i]));
}

TEST(Suite, TellsWhereAJsonlIsCutOff) {
  const auto folder = TempDir::make("suite");
  const auto file = folder->path() / "tasks.jsonl";
  ASSERT_TRUE(write_task_lines(file, few_tasks()));
  const std::string whole = *read_file(file);
  ASSERT_TRUE(write_file_atomic(file, whole.substr(0, whole.size() - 40)));
  const auto tasks = load_suite(file.string());
  ASSERT_FALSE(tasks);
  EXPECT_NE(tasks.error().message.find("tasks.jsonl:8: "), std::string::npos)
      << tasks.error().message;
  EXPECT_NE(tasks.error().message.find("cut off"), std::string::npos);
}

TEST(Suite, ExportsWhatItCanImportAgain) {
  const auto folder = TempDir::make("suite");
  const std::vector<Task> tasks = few_tasks();
  ASSERT_TRUE(export_folder(folder->path() / "out", tasks));
  const auto again = import_folder(folder->path() / "out", OnBadTask::stop);
  ASSERT_TRUE(again) << again.error().message;
  ASSERT_EQ(again->size(), tasks.size());
  for (const Task& task : tasks) {
    const auto same = std::ranges::find(*again, task.id, &Task::id);
    ASSERT_NE(same, again->end()) << task.id;
    EXPECT_EQ(same->source, task.source);
    EXPECT_FALSE(task.instruction.empty());
    EXPECT_EQ(same->instruction, task.instruction);
  }
}

TEST(Suite, ExportsNothingOutsideItsFolder) {
  const auto folder = TempDir::make("suite");
  Task task = few_tasks().front();
  task.id = "../escaped";
  EXPECT_FALSE(export_folder(folder->path() / "out", {task}));
  EXPECT_FALSE(std::filesystem::exists(folder->path() / "escaped.py"));
}

TEST(Suite, RefusesAnUnknownOptionOfTheCurriculumByName) {
  const auto tasks = load_suite("curriculum:sead=3");
  ASSERT_FALSE(tasks);
  EXPECT_NE(tasks.error().message.find("did you mean 'seed'?"), std::string::npos)
      << tasks.error().message;
}

TEST(Suite, MakesHeldOutTasksUnlessTrainingOnesAreAskedFor) {
  const auto tasks = load_suite("curriculum:heldout=3,families=softmax+norm");
  ASSERT_TRUE(tasks) << tasks.error().message;
  EXPECT_EQ(tasks->size(), 3U);
  for (const Task& task : *tasks) {
    EXPECT_EQ(task.split, TaskSplit::heldout);
    EXPECT_TRUE(task.family == "softmax" || task.family == "norm") << task.family;
  }
}

TEST(Suite, KnowsTheModulesThatTheProgramMakes) {
  EXPECT_TRUE(is_zoo("zoo"));
  EXPECT_TRUE(is_zoo("zoo:count=3"));
  for (const char* other : {"", "zoology", "./zoo", "zoo/", "zoo.jsonl", "curriculum:seed=3"})
    EXPECT_FALSE(is_zoo(other)) << other;
}

TEST(Suite, SaysThatAFolderOrFileIsMissing) {
  EXPECT_NE(load_suite("/nowhere/tasks.jsonl").error().message.find("/nowhere/tasks.jsonl"),
            std::string::npos);
  EXPECT_NE(import_folder("/nowhere", OnBadTask::skip).error().message.find("no such folder"),
            std::string::npos);
}

}  // namespace
}  // namespace tritonsmith::curriculum
