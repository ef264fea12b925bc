#include "train/run/run_directory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <fstream>

#include "base/file.h"
#include "base/temp_dir.h"
#include "train/run/checkpoint_store.h"

namespace tritonsmith::train {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class RunDirectoryTest : public ::testing::Test {
 protected:
  fs::path path() const { return temp_->path() / "run"; }
  Result<RunDirectory> open(double rate = 0.5) const {
    return RunDirectory::open(path(), "sft",
                              {{"run.dir", path().string()}, {"optimizer.learning_rate", rate}});
  }
  Result<TempDir> temp_ = TempDir::make("run-directory");
};

StepRecord step(std::int64_t n) { return {.step = n, .phase = "sft", .metrics = {{"loss", 1}}}; }

TEST_F(RunDirectoryTest, CutsRecordsBackToTheCheckpoint) {
  RecordSizes at_one;
  {
    auto run = open();
    ASSERT_TRUE(run && run->open_records({}));
    ASSERT_TRUE(run->append(step(1)));
    at_one = *run->sync_records();
    ASSERT_TRUE(run->append(step(2)));
    ASSERT_TRUE(run->append(Sample{}));
  }
  auto run = open();
  ASSERT_TRUE(run) << run.error().message;
  ASSERT_TRUE(run->open_records(at_one));
  EXPECT_EQ(*run->sync_records(), at_one);
  EXPECT_THAT(*read_lines(path() / "steps.jsonl"), ElementsAre(to_line(to_json(step(1)))));
  EXPECT_THAT(*read_lines(path() / "samples.jsonl"), IsEmpty());
}

TEST_F(RunDirectoryTest, RefusesAnotherConfigAndSaysHowToGoOn) {
  {
    auto run = open(0.5);
    ASSERT_TRUE(run && run->open_records({}) && run->append(step(1)));
  }
  const auto other = open(0.25);
  ASSERT_FALSE(other);
  EXPECT_THAT(other.error().message, HasSubstr("optimizer.learning_rate is 0.5 there, 0.25 here"));
  EXPECT_THAT(other.error().message, HasSubstr("tritonsmith sft " + path().string()));
}

TEST_F(RunDirectoryTest, LetsTheStepsBeRaisedAndRecordsIt) {
  const auto open_with = [&](int steps) {
    return RunDirectory::open(path(), "sft",
                              {{"run.dir", path().string()}, {"run.steps", steps}, {"a", 1}});
  };
  {
    auto run = open_with(10);
    ASSERT_TRUE(run && run->open_records({}) && run->append(step(1)));
  }
  const auto raised = open_with(25);
  ASSERT_TRUE(raised) << raised.error().message;
  EXPECT_THAT(*read_file(path() / "config.toml"), HasSubstr("run.steps = 25\na = 1"));
  EXPECT_THAT(open_with(10).error().message, HasSubstr("another process"));
}

TEST_F(RunDirectoryTest, KeepsASettingWithAnOldNameWhereStepsAreRaised) {
  {
    auto run = RunDirectory::open(path(), "sft",
                                  {{"run.dir", path().string()}, {"run.steps", 1}, {"old", 5}});
    ASSERT_TRUE(run && run->open_records({}) && run->append(step(1)));
  }
  ASSERT_TRUE(RunDirectory::open(path(), "sft",
                                 {{"run.dir", path().string()}, {"run.steps", 2}, {"new", 5}}));
  EXPECT_THAT(*read_file(path() / "config.toml"), HasSubstr("run.steps = 2\nold = 5"));
}

TEST_F(RunDirectoryTest, DoesNotTakeStepsBack) {
  const auto open_with = [&](int steps) {
    return RunDirectory::open(path(), "sft", {{"run.dir", path().string()}, {"run.steps", steps}});
  };
  {
    auto run = open_with(10);
    ASSERT_TRUE(run && run->open_records({}) && run->append(step(1)));
  }
  EXPECT_THAT(open_with(9).error().message, HasSubstr("run.steps is 10 there, 9 here"));
}

TEST_F(RunDirectoryTest, KnowsTheNumbersOfItsLastSteps) {
  auto run = open();
  ASSERT_TRUE(run && run->open_records({}));
  for (std::int64_t n = 1; n <= 5; ++n)
    ASSERT_TRUE(run->append(StepRecord{
        .step = n, .phase = "sft", .metrics = {{"loss", 0.5 * static_cast<double>(n)}}}));
  const auto last = run->last_steps(2);
  ASSERT_TRUE(last) << last.error().message;
  EXPECT_THAT(*last, ElementsAre(Metrics{{"loss", 2}}, Metrics{{"loss", 2.5}}));
  EXPECT_EQ(run->last_steps(20)->size(), 5U);
}

TEST_F(RunDirectoryTest, RefusesAForeignDirectoryAndASecondTrainer) {
  fs::create_directories(path());
  std::ofstream(path() / "thesis.tex") << "x";
  EXPECT_THAT(open().error().message, HasSubstr("is no run directory"));
  EXPECT_FALSE(fs::exists(path() / ".lock")) << "nothing is written there";
  fs::remove(path() / "thesis.tex");
  const auto first = open();
  ASSERT_TRUE(first);
  EXPECT_THAT(open().error().message, HasSubstr("another process is training"));
}

TEST_F(RunDirectoryTest, NeverClearsWhatIsNotItsOwn) {
  fs::create_directories(path() / "checkpoints");
  std::ofstream(path() / "config.toml") << "theirs = 1";
  EXPECT_THAT(open().error().message, HasSubstr("its config.toml is not one of ours"));
  EXPECT_TRUE(fs::exists(path() / "checkpoints"));
}

TEST_F(RunDirectoryTest, TakesAnotherConfigWhereNoStepWasDone) {
  ASSERT_TRUE(open(0.5));
  ASSERT_TRUE(open(0.25));
  EXPECT_THAT(*read_file(path() / "config.toml"), HasSubstr("0.25"));
}

TEST_F(RunDirectoryTest, KeepsItsDataAndWantsTheSameAgain) {
  auto run = open();
  ASSERT_TRUE(run && run->keep_data("tasks.jsonl", "0"));
  ASSERT_TRUE(run->keep_data("tasks.jsonl", "a")) << "nothing was learnt from the others yet";
  ASSERT_TRUE(run->open_records({}) && run->append(step(1)));
  EXPECT_TRUE(run->keep_data("tasks.jsonl", "a"));
  EXPECT_THAT(run->keep_data("tasks.jsonl", "b").error().message, HasSubstr("tasks.jsonl"));
}

TEST_F(RunDirectoryTest, RefusesAFileInItsPlace) {
  std::ofstream(path()) << "x";
  EXPECT_THAT(open().error().message, HasSubstr(path().string()));
}

TEST_F(RunDirectoryTest, LeavesTheJudgesFilesAlone) {
  fs::create_directories(path());
  std::ofstream(path() / "judge.secret") << "s";
  std::ofstream(path() / "verdicts.sqlite-wal") << "v";
  fs::create_directories(path() / "kernels");
  std::ofstream(path() / "kernels" / "0123.cubin") << "k";
  for (const double rate : {0.5, 0.25}) {
    const auto run = open(rate);
    ASSERT_TRUE(run) << run.error().message;
  }
  EXPECT_EQ(*read_file(path() / "judge.secret"), "s");
  EXPECT_EQ(*read_file(path() / "verdicts.sqlite-wal"), "v");
  EXPECT_EQ(*read_file(path() / "kernels" / "0123.cubin"), "k");
}

TEST_F(RunDirectoryTest, TakesWhatAKilledProcessLeftHalfWritten) {
  fs::create_directories(path());
  std::ofstream(path() / "tasks.jsonl.new-17") << "{";
  std::ofstream(path() / "judge.secret.17") << "s";
  ASSERT_TRUE(open());
  EXPECT_FALSE(fs::exists(path() / "tasks.jsonl.new-17"));
}

TEST_F(RunDirectoryTest, TellsWithoutWritingWhetherItWouldGoOn) {
  const auto would_go_on = [&](double rate) {
    return RunDirectory::would_go_on(
        path(), "sft", {{"run.dir", path().string()}, {"optimizer.learning_rate", rate}});
  };
  EXPECT_FALSE(would_go_on(0.5).value());
  EXPECT_FALSE(fs::exists(path()));
  {
    auto run = open(0.5);
    ASSERT_TRUE(run && run->open_records({}));
    EXPECT_THAT(would_go_on(0.5).error().message, HasSubstr("another process is training"));
  }
  EXPECT_TRUE(would_go_on(0.5).value());
  EXPECT_FALSE(would_go_on(0.25).value()) << "nothing was learnt yet: it would begin anew";
  {
    auto run = open(0.5);
    ASSERT_TRUE(run && run->open_records({}) && run->append(step(1)));
  }
  EXPECT_TRUE(would_go_on(0.5).value());
  EXPECT_THAT(would_go_on(0.25).error().message, HasSubstr("holds a run with another config"));
  fs::remove_all(path());
  std::ofstream(path()) << "x";
  EXPECT_THAT(would_go_on(0.5).error().message, HasSubstr("is in the way"));
}

TEST_F(RunDirectoryTest, SaysWhenRecordsWereRemoved) {
  auto run = open();
  ASSERT_TRUE(run);
  EXPECT_THAT(run->open_records({.steps = 10}).error().message, HasSubstr("steps.jsonl"));
}

// RLIMIT_FSIZE acts like a full disk: write(2) fails within a record.
TEST_F(RunDirectoryTest, LosesNothingWhenTheDiskIsFull) {
  auto run = open();
  ASSERT_TRUE(run && run->open_records({}));
  ASSERT_TRUE(run->append(step(1)));
  const auto size = fs::file_size(path() / "steps.jsonl");
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit tight{.rlim_cur = size + 10, .rlim_max = before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &tight), 0);
  const Status status = run->append(step(2));
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().message, HasSubstr("steps.jsonl: File too large"));
  EXPECT_EQ(fs::file_size(path() / "steps.jsonl"), size);
  EXPECT_TRUE(run->append(step(2)));
}

class CheckpointStoreTest : public ::testing::Test {
 protected:
  CheckpointStore open(CheckpointConfig config = {}) const {
    auto store = CheckpointStore::open(temp_->path(), config);
    CHECK(store, "{}", store.error().message);
    return *store;
  }
  static Status write(const fs::path& directory) {
    return write_file_atomic(directory / "model.safetensors", "weights");
  }
  Result<TempDir> temp_ = TempDir::make("checkpoints");
};

TEST_F(CheckpointStoreTest, KeepsTheLastFewTheChosenMultiplesAndStepZero) {
  const auto store = open({.keep_last = 2, .keep_every = 50});
  EXPECT_THAT(store.to_remove({0, 10, 20, 50, 60, 70, 80}, 80), ElementsAre(60, 20, 10));
}

TEST_F(CheckpointStoreTest, GivesUpTheFutureThatWasGoneBackFrom) {
  EXPECT_THAT(open({.keep_last = 2}).to_remove({10, 20, 30, 40}, 20), ElementsAre(40, 30));
}

TEST_F(CheckpointStoreTest, PointsToTheNewestAndPrunes) {
  const auto store = open({.keep_last = 1});
  EXPECT_EQ(*store.latest(), std::nullopt);
  for (const std::int64_t step : {1, 2, 2, 3}) ASSERT_TRUE(store.save(step, write));
  EXPECT_EQ(*store.latest(), 3);
  EXPECT_TRUE(fs::exists(store.path_of(3) / "model.safetensors"));
  EXPECT_FALSE(fs::exists(store.path_of(2)));
}

TEST_F(CheckpointStoreTest, KeepsTheOldOneWhenWritingFails) {
  const auto store = open();
  ASSERT_TRUE(store.save(1, write));
  const Status failed = store.save(2, [](const fs::path& directory) -> Status {
    TRY(write(directory));
    return fail("No space left on device");
  });
  EXPECT_THAT(failed.error().message, HasSubstr("checkpoint of step 2: No space left"));
  EXPECT_EQ(*store.latest(), 1);
  EXPECT_EQ(std::distance(fs::directory_iterator(temp_->path()), {}), 2);
}

TEST_F(CheckpointStoreTest, CleansUpAfterAKilledProcess) {
  fs::create_directories(temp_->path() / ".writing-step-7");
  fs::create_directories(temp_->path() / ".removed-step-5");
  open();
  EXPECT_TRUE(fs::is_empty(temp_->path()));
}

TEST_F(CheckpointStoreTest, SaysWhenThePointerIsWrong) {
  ASSERT_TRUE(write_file_atomic(temp_->path() / "latest", "step-12\n"));
  EXPECT_THAT(open().latest().error().message, HasSubstr("latest names 'step-12'"));
}

}  // namespace
}  // namespace tritonsmith::train
