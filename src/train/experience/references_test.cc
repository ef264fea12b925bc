#include "train/experience/references.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/check.h"
#include "base/file.h"
#include "base/temp_dir.h"

namespace tritonsmith::train {
namespace {

using ::testing::HasSubstr;

class ReferencesTest : public ::testing::Test {
 protected:
  Result<References> read(std::string_view text) const {
    const auto file = temp_->path() / "references.jsonl";
    CHECK(write_file_atomic(file, text), "a temporary file");
    return read_references(file);
  }
  Result<TempDir> temp_ = TempDir::make("references");
};

TEST_F(ReferencesTest, AreReadAsTheyWereWritten) {
  const References references = {{"a", "import triton\n"}, {"b/c", "\"quoted\""}};
  EXPECT_EQ(read(references_to_jsonl(references)).value(), references);
}

TEST_F(ReferencesTest, NameTheLineOfAMistake) {
  const std::string good = R"({"task": "a", "kernel": "x"})"
                           "\n";
  EXPECT_THAT(read(good + R"({"task": "b"})").error().message, HasSubstr("references.jsonl:2: "));
  EXPECT_THAT(read(good + R"({"task": "b", "ker)").error().message, HasSubstr(".jsonl:2: "));
  EXPECT_THAT(read(good + good).error().message, HasSubstr("has one already"));
  EXPECT_THAT(read("").error().message, HasSubstr("has no references"));
}

}  // namespace
}  // namespace tritonsmith::train
