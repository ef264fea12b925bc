#include "text/checkpoint_chat.h"

#include <gtest/gtest.h>

#include <fstream>

#include "base/check.h"
#include "base/json.h"
#include "base/temp_dir.h"
#include "text/testing/small_tokenizer.h"

namespace tritonsmith::text {
namespace {

constexpr const char* kChatMl =
    "{%- for m in messages %}\n"
    "    {{- '<|im_start|>' + m.role + '\\n' + m.content + '<|im_end|>\\n' }}\n"
    "{%- endfor %}\n"
    "{%- if add_generation_prompt %}{{- '<|im_start|>assistant\\n' }}{% endif %}";
// A template that adds its own system message if the conversation has none.
const std::string kWithDefault =
    std::string("{% if messages[0].role != 'system' %}<|im_start|>system\nBe kind.<|im_end|>\n") +
    "{% endif %}" + kChatMl;
constexpr const char* kLlama3 =
    "{{ bos_token }}{% for m in messages %}<|start_header_id|>{{ m.role }}<|end_header_id|>\n\n"
    "{{ m.content | trim }}<|eot_id|>{% endfor %}"
    "{% if add_generation_prompt %}<|start_header_id|>assistant<|end_header_id|>\n\n{% endif %}";
constexpr const char* kLlama31 =
    "{{ bos_token }}<|start_header_id|>system<|end_header_id|>\n\n"
    "Cutting Knowledge Date: December 2023\nToday Date: 26 Jul 2024\n\n"
    "{% if messages[0].role == 'system' %}{{ messages[0].content | trim }}"
    "{% set messages = messages[1:] %}{% endif %}<|eot_id|>"
    "{% for m in messages %}<|start_header_id|>{{ m.role }}<|end_header_id|>\n\n"
    "{{ m.content | trim }}<|eot_id|>{% endfor %}"
    "{% if add_generation_prompt %}<|start_header_id|>assistant<|end_header_id|>\n\n{% endif %}";

Tokenizer llama_tokenizer() {
  TokenizerTraining training{.vocabulary_size = 300};
  for (const char* special :
       {"<|begin_of_text|>", "<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>"})
    training.added_tokens.push_back({.content = special, .special = true});
  auto tokenizer = Tokenizer::train({}, training);
  CHECK(tokenizer, "{}", tokenizer.error().message);
  return *std::move(tokenizer);
}

const std::vector<Message> kWithSystem = {{Role::system, "s"}, {Role::user, "u"}};
const std::vector<Message> kWithoutSystem = {{Role::user, "u"}};

class CheckpointChatTest : public testing::Test {
 protected:
  void write(const std::string& chat_template, const char* bos = "") const {
    std::ofstream(dir_->path() / "chat_template.jinja") << chat_template;
    const Json config = {{"bos_token", {{"content", bos}}}};
    std::ofstream(dir_->path() / "tokenizer_config.json") << config;
  }
  std::string difference(const Tokenizer& tokenizer, std::span<const Message> prompt) const {
    const auto opened = open_checkpoint_chat(dir_->path(), tokenizer, prompt);
    return opened ? opened->difference : opened.error().message;
  }
  Result<TempDir> dir_ = TempDir::make("checkpoint-chat");
};

TEST_F(CheckpointChatTest, TakesADirectoryWithoutATemplateAsItIs) {
  EXPECT_EQ(difference(small_tokenizer(), kWithSystem), "");
}

TEST_F(CheckpointChatTest, AgreesWithATemplateThatRendersChatMl) {
  write(kChatMl);
  EXPECT_EQ(difference(small_tokenizer(), kWithSystem), "");
  EXPECT_EQ(difference(small_tokenizer(), kWithoutSystem), "");
}

TEST_F(CheckpointChatTest, AgreesWithTheTemplateOfOurOwnModels) {
  ASSERT_TRUE(save_chat_files(dir_->path()));
  ASSERT_TRUE(std::filesystem::exists(dir_->path() / "chat_template.jinja"));
  for (const PieceRule rule : {PieceRule::qwen2, PieceRule::lines, PieceRule::phrases}) {
    EXPECT_EQ(difference(small_tokenizer(rule), kWithSystem), "");
    EXPECT_EQ(difference(small_tokenizer(rule), kWithoutSystem), "");
  }
}

TEST_F(CheckpointChatTest, ReadsTheTemplateOfOlderFiles) {
  const Json list = {{{"name", "tool_use"}, {"template", "x"}},
                     {{"name", "default"}, {"template", kChatMl}}};
  for (const Json& own : {Json(kChatMl), list}) {
    std::ofstream(dir_->path() / "tokenizer_config.json") << Json{{"chat_template", own}};
    EXPECT_EQ(difference(small_tokenizer(), kWithSystem), "");
  }
  std::ofstream(dir_->path() / "tokenizer_config.json") << Json{{"chat_template", "{{ 1 }}"}};
  EXPECT_NE(difference(small_tokenizer(), kWithSystem), "");
}

TEST_F(CheckpointChatTest, TellsOfASystemMessageThatTheTemplateAdds) {
  write(kWithDefault);
  EXPECT_EQ(difference(small_tokenizer(), kWithSystem), "");
  const std::string line = difference(small_tokenizer(), kWithoutSystem);
  EXPECT_NE(line.find("Be kind."), std::string::npos) << line;
  EXPECT_NE(line.find(dir_->path().string()), std::string::npos);
  EXPECT_EQ(line.find('\n'), std::string::npos);
}

TEST_F(CheckpointChatTest, TakesTheFormatOfLlama3ThatTheTemplateRenders) {
  const Tokenizer tokenizer = llama_tokenizer();
  for (const auto& [source, dates] : {std::pair(kLlama3, false), std::pair(kLlama31, true)})
    for (const auto* prompt : {&kWithSystem, &kWithoutSystem}) {
      write(source, "<|begin_of_text|>");
      EXPECT_EQ(difference(tokenizer, *prompt), "");
      const auto opened = open_checkpoint_chat(dir_->path(), tokenizer, *prompt);
      const std::string text = tokenizer.decode(opened->chat.prompt_tokens(*prompt));
      EXPECT_EQ(text.find("26 Jul 2024") != std::string::npos, dates) << text;
    }
}

TEST_F(CheckpointChatTest, TellsWhyATemplateCannotBeRendered) {
  write("{{ raise_exception('only one turn') }}");
  EXPECT_NE(difference(small_tokenizer(), kWithSystem).find("only one turn"), std::string::npos);
  write("{% for %}");
  EXPECT_NE(difference(small_tokenizer(), kWithSystem).find("cannot be rendered"),
            std::string::npos);
  write("{{ ''.__class__.__mro__[1].__subclasses__() }}");  // an attempt to leave the sandbox
  EXPECT_NE(difference(small_tokenizer(), kWithSystem).find("unsafe"), std::string::npos);
}

}  // namespace
}  // namespace tritonsmith::text
