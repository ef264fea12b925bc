// Checkpoints in several files, and their possible faults.
#include "model/checkpoint/checkpoint.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <fstream>

#include "base/json.h"
#include "base/temp_dir.h"
#include "model/transformer/testing/tiny_model.h"

namespace tritonsmith::model {
namespace {

constexpr const char* kFirst = "model-00001-of-00002.safetensors";
constexpr const char* kSecond = "model-00002-of-00002.safetensors";

class ShardedCheckpoint : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(save_model(model_, dir_->path()));
    std::filesystem::remove(dir_->path() / "model.safetensors");
    const auto& all = model_.parameters();
    half_ = all.size() / 2;
    write(kFirst, std::span(all).first(half_));
    write(kSecond, std::span(all).subspan(half_));
    index({kFirst, kSecond});
  }
  void write(const char* name, std::span<const NamedTensor> tensors) const {
    ASSERT_TRUE(write_safetensors(dir_->path() / name, tensors));
  }
  // Writes an index that names these files, each for one tensor.
  void index(const std::vector<std::string>& files) const {
    Json map = Json::object();
    for (std::size_t i = 0; i < files.size(); ++i) map[model_.parameters()[i].name] = files[i];
    std::ofstream(dir_->path() / "model.safetensors.index.json") << Json{{"weight_map", map}};
  }
  // Returns the error without the directory's name.
  std::string error() const {
    const auto model = load_model(dir_->path());
    if (model) return "";
    std::string message = model.error().message;
    const std::string folder = dir_->path().string() + "/";
    for (std::size_t at; (at = message.find(folder)) != std::string::npos;)
      message.erase(at, folder.size());
    return message;
  }
  Result<TempDir> dir_ = TempDir::make("sharded");
  const Transformer model_ = tiny_model();
  std::size_t half_ = 0;
};

TEST_F(ShardedCheckpoint, IsReadWhole) {
  const auto model = load_model(dir_->path());
  ASSERT_TRUE(model) << model.error().message;
  for (std::size_t i = 0; i < model_.parameters().size(); ++i)
    EXPECT_TRUE(at::equal(model->parameters()[i].tensor, model_.parameters()[i].tensor));
}

TEST_F(ShardedCheckpoint, MayLackNoFile) {
  std::filesystem::remove(dir_->path() / kSecond);
  EXPECT_EQ(error(), std::string("cannot open ") + kSecond + ": No such file or directory");
}

TEST_F(ShardedCheckpoint, MayLackNoTensor) {
  write(kSecond, std::span(model_.parameters()).subspan(half_ + 1));
  EXPECT_EQ(error(),
            fmt::format("model.safetensors.index.json: tensor '{}' is in none of its 2 files",
                        model_.parameters()[half_].name));
}

TEST_F(ShardedCheckpoint, MayHoldNoTensorTwice) {
  write(kSecond, std::span(model_.parameters()).subspan(half_ - 1));
  EXPECT_EQ(error(), fmt::format("{}: tensor '{}' is also in {}", kSecond,
                                 model_.parameters()[half_ - 1].name, kFirst));
}

TEST_F(ShardedCheckpoint, StaysInItsDirectory) {
  index({kFirst, "../elsewhere.safetensors"});
  EXPECT_EQ(error(), fmt::format("model.safetensors.index.json: '{}' lies in no file of this "
                                 "directory",
                                 model_.parameters()[1].name));
}

TEST_F(ShardedCheckpoint, NeedsAnIndexThatCanBeRead) {
  std::ofstream(dir_->path() / "model.safetensors.index.json") << R"({"weight_map": {}})";
  EXPECT_EQ(error(), "model.safetensors.index.json: weight_map is empty");
  std::ofstream(dir_->path() / "model.safetensors.index.json") << R"({"weight_map)";
  EXPECT_EQ(error().rfind("model.safetensors.index.json: ", 0), 0U) << error();
}

TEST(Checkpoint, ReadsLargeTensorsByManyThreads) {
  const auto dir = TempDir::make("large");
  const auto file = dir->path() / "large.safetensors";
  const at::Tensor large = at::arange(9 << 20, at::kInt).view({-1, 1 << 10});  // 36 MiB
  const at::Tensor odd = at::arange(3, at::kByte);
  ASSERT_TRUE(write_safetensors(file, std::vector<NamedTensor>{{"odd", odd}, {"large", large}}));
  const std::vector<NamedTensor> targets = {{"large", at::zeros_like(large)},
                                            {"odd", at::zeros_like(odd)}};
  ASSERT_TRUE(read_tensors_into(targets, file));
  EXPECT_TRUE(at::equal(targets[0].tensor, large));
  EXPECT_TRUE(at::equal(targets[1].tensor, odd));
}

}  // namespace
}  // namespace tritonsmith::model
