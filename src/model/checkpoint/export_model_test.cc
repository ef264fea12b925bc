#include "model/checkpoint/export_model.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <fstream>

#include "base/json.h"
#include "base/temp_dir.h"
#include "model/checkpoint/checkpoint.h"
#include "model/transformer/testing/tiny_model.h"
#include "model/weights/safetensors.h"

namespace tritonsmith::model {
namespace {

class Export : public testing::Test {
 protected:
  Json read(const char* name) const {
    std::ifstream file(dir_->path() / name);
    return Json::parse(file);
  }
  std::size_t weight_files() const {
    std::size_t files = 0;
    for (const auto& entry : std::filesystem::directory_iterator(dir_->path()))
      files += entry.path().extension() == ".safetensors" ? 1 : 0;
    return files;
  }
  Result<TempDir> dir_ = TempDir::make("export");
  const Transformer model_ = tiny_model();
};

TEST_F(Export, RoundsAndSplitsAndIsReadAgain) {
  constexpr std::int64_t kMost = 4000;
  const auto written =
      export_model(model_, dir_->path(), {.type = WeightType::bfloat16, .file_bytes = kMost});
  ASSERT_TRUE(written) << written.error().message;
  const auto read_again = load_model(dir_->path());
  ASSERT_TRUE(read_again) << read_again.error().message;
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < model_.parameters().size(); ++i) {
    const at::Tensor rounded = model_.parameters()[i].tensor.to(at::kBFloat16);
    EXPECT_TRUE(at::equal(read_again->parameters()[i].tensor, rounded.to(at::kFloat)));
    bytes += rounded.nbytes();
  }
  const Json index = read("model.safetensors.index.json");
  EXPECT_EQ(index["metadata"]["total_size"], bytes);
  EXPECT_EQ(index["weight_map"].size(), model_.parameters().size());
  EXPECT_EQ(read("config.json")["torch_dtype"], "bfloat16");
  EXPECT_GE(weight_files(), bytes / kMost);
  for (const auto& [tensor, file] : index["weight_map"].items()) {
    const auto opened = SafetensorsFile::open(dir_->path() / file.get<std::string>());
    ASSERT_TRUE(opened) << opened.error().message;
    std::size_t held = 0;
    for (const auto& [name, entry] : opened->entries()) held += entry.end - entry.begin;
    EXPECT_TRUE(held <= kMost || opened->entries().size() == 1) << file << " has " << held;
  }
}

TEST_F(Export, OfOneFileNeedsNoIndex) {
  ASSERT_TRUE(export_model(model_, dir_->path(), {.type = WeightType::float16}));
  EXPECT_EQ(weight_files(), 1U);
  EXPECT_FALSE(std::filesystem::exists(dir_->path() / "model.safetensors.index.json"));
  EXPECT_TRUE(load_model(dir_->path()));
}

TEST_F(Export, DoesNotMixTwoModels) {
  ASSERT_TRUE(export_model(model_, dir_->path(), {}));
  const auto again = export_model(model_, dir_->path(), {.file_bytes = 4000});
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().message, dir_->path().string() +
                                       " has weights already (model.safetensors); name another "
                                       "directory");
}

}  // namespace
}  // namespace tritonsmith::model
