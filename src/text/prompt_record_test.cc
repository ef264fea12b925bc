#include "text/prompt_record.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "base/temp_dir.h"

namespace tritonsmith::text {
namespace {

class PromptRecordTest : public ::testing::Test {
 protected:
  Status write(std::string_view text) {
    return write_file_atomic(directory_->path() / kPromptRecordFile, text);
  }
  Result<TempDir> directory_ = TempDir::make("prompt-record");
};

TEST_F(PromptRecordTest, ComesBackAsItWasWritten) {
  const PromptRecord record{
      .prompt = {.kind = PromptKind::conversion, .style = PromptStyle::compact, .system = "Write."},
      .max_new_tokens = 320};
  ASSERT_TRUE(write(to_text(record)));
  const auto read = read_prompt_record(directory_->path());
  ASSERT_TRUE(read && *read) << (read ? "nothing" : read.error().message);
  EXPECT_EQ(to_text(**read), to_text(record));
  EXPECT_EQ((*read)->prompt.style, PromptStyle::compact);
  EXPECT_EQ((*read)->max_new_tokens, 320);
}

TEST_F(PromptRecordTest, IsAbsentFromAForeignDirectory) {
  const auto read = read_prompt_record(directory_->path());
  ASSERT_TRUE(read);
  EXPECT_FALSE(*read);
}

TEST_F(PromptRecordTest, NamesTheFileThatIsDamaged) {
  for (const char* text :
       {"{", "[]", R"({"style": "short"})", R"({"max_new_tokens": -1})", R"({"stile": "full"})"}) {
    ASSERT_TRUE(write(text));
    const auto read = read_prompt_record(directory_->path());
    ASSERT_FALSE(read) << text;
    EXPECT_NE(read.error().message.find("prompt.json"), std::string::npos) << read.error().message;
  }
}

}  // namespace
}  // namespace tritonsmith::text
