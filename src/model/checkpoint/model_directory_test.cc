#include "model/checkpoint/model_directory.h"

#include <gtest/gtest.h>

#include <fstream>

#include "base/temp_dir.h"

namespace tritonsmith::model {
namespace {

class ModelDirectory : public testing::Test {
 protected:
  void add(const char* name) const { std::ofstream(dir_->path() / name) << "{}"; }
  // Returns the error without the directory's name.
  std::string error() const {
    const Status checked = check_model_directory(dir_->path());
    return checked ? "" : checked.error().message.substr(dir_->path().string().size() + 1);
  }
  Result<TempDir> dir_ = TempDir::make("model");
};

TEST_F(ModelDirectory, IsKnownFromARunAndFromAnAdapter) {
  EXPECT_EQ(error(), "has no config.json; name a directory in Hugging Face's layout");
  std::filesystem::create_directory(dir_->path() / "checkpoints");
  EXPECT_EQ(error(),
            "is a run; name one of its models: " + dir_->path().string() + "/checkpoints/step-N");
  add("adapter_config.json");
  EXPECT_EQ(error(),
            "is a LoRA adapter; name the model that it was trained on, and this as the adapter");
}

TEST_F(ModelDirectory, NeedsWeightsThatWeRead) {
  add("config.json");
  EXPECT_EQ(error(),
            "has no model.safetensors beside its config.json; name a directory with weights");
  add("pytorch_model.bin");
  EXPECT_EQ(error(),
            "has no model.safetensors; save the model with safe_serialization=True, as this "
            "program reads no pytorch_model.bin");
  add("model.safetensors.index.json");
  EXPECT_EQ(error(), "");
}

TEST_F(ModelDirectory, IsADirectory) {
  add("file");
  EXPECT_EQ(check_model_directory(dir_->path() / "file").error().message,
            (dir_->path() / "file").string() +
                " is no directory; name a model's directory, or OWNER/NAME of the hub");
}

}  // namespace
}  // namespace tritonsmith::model
