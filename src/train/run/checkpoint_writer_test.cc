#include "train/run/checkpoint_writer.h"

#include <gtest/gtest.h>

#include <fstream>
#include <future>

#include "base/temp_dir.h"

namespace tritonsmith::train {
namespace {

class CheckpointWriterTest : public testing::Test {
 protected:
  CheckpointWriter writer() const {
    auto store = CheckpointStore::open(dir_->path() / "checkpoints", {.keep_last = 2});
    EXPECT_TRUE(store);
    return CheckpointWriter(*std::move(store));
  }
  static CheckpointStore::Write file() {
    return [](const std::filesystem::path& path) -> Status {
      std::ofstream(path / "weights") << "x";
      return ok();
    };
  }
  Result<TempDir> dir_ = TempDir::make("checkpoint-writer");
};

TEST_F(CheckpointWriterTest, WritesWhileItsCallerGoesOn) {
  CheckpointWriter first = writer();
  ASSERT_TRUE(first.begin(1, file()));
  ASSERT_TRUE(first.finish());
  std::promise<void> go_on;
  const auto gate = std::make_shared<std::future<void>>(go_on.get_future());
  ASSERT_TRUE(first.begin(2, [gate](const std::filesystem::path& path) {
    gate->wait();
    return file()(path);
  }));
  // While it is written, a killed process would still resume from the checkpoint before it.
  EXPECT_EQ(*first.store().latest(), 1);
  CheckpointWriter moved = std::move(first);
  go_on.set_value();
  ASSERT_TRUE(moved.finish());
  EXPECT_EQ(*moved.store().latest(), 2);
}

TEST_F(CheckpointWriterTest, TellsOfAFailureAtTheNextChance) {
  const auto failing = [](const std::filesystem::path&) -> Status { return fail("no space"); };
  const auto throwing = [](const std::filesystem::path&) -> Status {
    throw std::runtime_error("out of memory");
  };
  CheckpointWriter failed = writer();
  ASSERT_TRUE(failed.begin(1, failing));
  EXPECT_EQ(failed.begin(2, file()).error().message, "checkpoint of step 1: no space");
  ASSERT_TRUE(failed.begin(2, throwing));
  EXPECT_NE(failed.finish().error().message.find("out of memory"), std::string::npos);
  EXPECT_TRUE(failed.finish());
  EXPECT_FALSE(failed.store().latest()->has_value());
}

TEST_F(CheckpointWriterTest, FinishesItsWriteBeforeItDies) {
  const CheckpointStore store = writer().store();
  {
    CheckpointWriter dying = writer();
    ASSERT_TRUE(dying.begin(3, file()));
  }
  EXPECT_EQ(*store.latest(), 3);
}

}  // namespace
}  // namespace tritonsmith::train
