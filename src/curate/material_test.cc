#include "curate/material.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "base/temp_dir.h"
#include "distil/distil_record.h"
#include "gym/api/testing/fake_judge.h"

namespace tritonsmith::curate {
namespace {

using ::testing::HasSubstr;

class MaterialTest : public ::testing::Test {
 protected:
  MaterialTest() : folder_(*TempDir::make("material-test")) {}
  void write(const std::string& name, const std::vector<Json>& lines) const {
    std::string text;
    for (const Json& each : lines) text += to_line(each) + "\n";
    ASSERT_TRUE(write_file_atomic(folder_.path() / name, text));
  }
  static Json turn(int member, int number, bool is_right) {
    distil::DistilRecord record{
        .sample = {.member = member,
                   .turn = number,
                   .task_id = "a",
                   .completion = {.text = "text", .usage = {.completion_tokens = 5}},
                   .kernel = "kernel",
                   .verdict = is_right
                                  ? gym::api::accepted_verdict()
                                  : gym::api::failed_verdict(Stage::ran, ErrorClass::wrong_value)},
        .feedback = "told"};
    if (number == 0) record.messages = {{text::Role::user, "asked"}};
    return to_json(record);
  }

  TempDir folder_;
};

TEST_F(MaterialTest, ReadsADistillation) {
  write("tasks.jsonl", {to_json(Task{.id = "a", .source = "x"})});
  write("samples.jsonl", {turn(0, 0, false), turn(1, 0, true), turn(0, 1, true)});
  Material material;
  const Status read = material.read(folder_.path());
  ASSERT_TRUE(read) << read.error().message;
  ASSERT_EQ(material.conversations.size(), 2U);
  const Conversation& first = material.conversations[0];
  EXPECT_EQ(first.messages[0].content, "asked");
  ASSERT_EQ(first.answers.size(), 2U);
  EXPECT_EQ(first.answers[0].failure, "wrong_value");
  EXPECT_EQ(first.answers[0].feedback, "told");
  EXPECT_TRUE(first.answers[1].is_accepted);
  EXPECT_EQ(first.answers[1].tokens, 5);
}

TEST_F(MaterialTest, ReadsPairsWithTheirOrigin) {
  Verdict verdict = gym::api::accepted_verdict();
  write("pairs.jsonl", {{{"task", "a"},
                         {"source", "x"},
                         {"kernel", "k"},
                         {"origin", to_json(Origin{.dataset = "KernelBook", .licences = {"mit"}})},
                         {"verdict", to_json(verdict)}}});
  Material material;
  const Status read = material.read(folder_.path());
  ASSERT_TRUE(read) << read.error().message;
  ASSERT_EQ(material.conversations.size(), 1U);
  EXPECT_THAT(material.conversations[0].answers[0].text, HasSubstr("```python\nk\n```"));
  EXPECT_EQ(material.tasks[0].origin->licences.front(), "mit");
}

TEST_F(MaterialTest, ComparesSpeedsOfOneKindOfGpu) {
  Material material;
  Conversation all{.task = 0, .messages = {}, .answers = {}, .origin = {}};
  for (const auto& [device, speedup] :
       std::vector<std::pair<std::string, double>>{{"A100", 9}, {"H200", 2}, {"H200", 3}})
    all.answers.push_back({.is_accepted = true, .speedup = speedup, .device = device});
  all.answers.push_back(
      {.is_accepted = true, .speedup = {}, .device = "sm_90 (compiled, not run)"});
  material.conversations = {all};
  EXPECT_EQ(material.keep_speeds_of(""), "1 on A100");
  EXPECT_FALSE(material.conversations[0].answers[0].speedup);
  EXPECT_EQ(material.conversations[0].answers[2].speedup, 3);
  material.conversations = {all};
  EXPECT_EQ(material.keep_speeds_of("A100"), "2 on H200");
  EXPECT_EQ(material.conversations[0].answers[0].speedup, 9);
}

TEST_F(MaterialTest, NamesWhatIsWrong) {
  Material material;
  EXPECT_THAT(material.read(folder_.path()).error().message, HasSubstr("holds neither"));
  write("tasks.jsonl", {to_json(Task{.id = "b", .source = "x"})});
  write("samples.jsonl", {turn(0, 0, true)});
  EXPECT_THAT(material.read(folder_.path()).error().message,
              ::testing::AllOf(HasSubstr("samples.jsonl:1"), HasSubstr("no task 'a'")));
}

}  // namespace
}  // namespace tritonsmith::curate
