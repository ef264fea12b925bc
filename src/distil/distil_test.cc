#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "base/file.h"
#include "base/jsonl.h"
#include "base/temp_dir.h"
#include "distil/distil_record.h"
#include "distil/distil_run.h"
#include "generate/testing/scripted_writer.h"
#include "gym/api/testing/fake_judge.h"

namespace tritonsmith::distil {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string answer_with(const std::string& code) {
  return "<answer>\n```python\n" + code + "\n```\n</answer>";
}

// The teacher's first answer is wrong, and its second one right. The third task has no instruction.
class Distil : public ::testing::Test {
 protected:
  Distil() : folder_(*TempDir::make("distil-test")) {
    for (const char* id : {"a", "b", "c"})
      tasks_.push_back({.id = id, .source = std::string("source of ") + id, .instruction = "Add."});
    tasks_.back().instruction.clear();
    options_.forms = {PromptForm::implementation, PromptForm::conversion};
    options_.samples = 2;
    options_.turns = {.limit = 3, .end_when = episode::EndWhen::accepted};
    options_.directory = folder_.path() / "run";
    options_.in_flight = 3;
  }

  Result<DistilCounts> run() {
    generate::ScriptedWriter writer([this](const generate::WriteRequest& request) {
      ++asked_;
      return answer_with(request.messages.size() > 1 ? "right" : "wrong");
    });
    gym::api::FakeJudge judge([this](const gym::api::JudgeJob& job) {
      if (++judged_ == break_at_) {
        Verdict fault;
        fault.fault = Fault::infrastructure;
        return fault;
      }
      return job.kernel.find("right") != std::string::npos
                 ? gym::api::accepted_verdict()
                 : gym::api::failed_verdict(Stage::ran, ErrorClass::wrong_value);
    });
    return distil(tasks_, options_, writer, judge, [](const DistilCounts&) {});
  }
  std::vector<std::string> lines() const {
    return *read_lines(options_.directory / "samples.jsonl");
  }

  TempDir folder_;
  std::vector<Task> tasks_;
  DistilOptions options_;
  int asked_ = 0, judged_ = 0, break_at_ = 0;
};

TEST_F(Distil, LetsTheTeacherRepairWhatFailed) {
  const auto counts = run();
  ASSERT_TRUE(counts) << counts.error().message;
  EXPECT_EQ(counts->conversations, 10U);  // the third task has conversions alone
  EXPECT_EQ(counts->finished, 10U);
  EXPECT_EQ(counts->turns, 20U);
  EXPECT_EQ(counts->accepted, 10U);
  EXPECT_EQ(counts->repaired, 10U);
  const auto records = read_jsonl(options_.directory / "samples.jsonl", record_from_json);
  ASSERT_TRUE(records) << records.error().message;
  for (const DistilRecord& each : *records) {
    EXPECT_EQ(each.messages.empty(), each.sample.turn == 1);
    EXPECT_EQ(each.sample.verdict.accepted, each.sample.turn == 1);
    EXPECT_FALSE(each.feedback.empty());
  }
  EXPECT_EQ(read_lines(options_.directory / "tasks.jsonl")->size(), 3U);
}

TEST_F(Distil, AsksAndJudgesNothingTwiceAfterAKill) {
  ASSERT_TRUE(run());
  const std::vector<std::string> all = lines();
  for (const std::size_t kept : {std::size_t{0}, std::size_t{1}, std::size_t{7}, all.size()}) {
    std::ofstream file(options_.directory / "samples.jsonl");
    for (std::size_t i = 0; i < kept; ++i) file << all[i] << "\n";
    file << all[0].substr(0, 20);  // the line that the kill cut off
    file.close();
    asked_ = judged_ = 0;
    const auto counts = run();
    ASSERT_TRUE(counts) << counts.error().message;
    EXPECT_EQ(asked_, std::ssize(all) - static_cast<int>(kept));
    EXPECT_EQ(judged_, asked_);
    EXPECT_EQ(counts->turns, all.size());
    EXPECT_EQ(counts->accepted, 10U);
    EXPECT_EQ(counts->repaired, 10U);
    auto again = lines();
    EXPECT_THAT(again, ::testing::UnorderedElementsAreArray(all));
  }
}

TEST_F(Distil, JudgesAgainWhatAFaultOfTheGymLeftWithoutAVerdict) {
  break_at_ = 4;
  const auto counts = run();
  ASSERT_TRUE(counts) << counts.error().message;
  EXPECT_EQ(counts->faults, 1U);
  asked_ = 0;
  const auto again = run();
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->faults, 0U);
  EXPECT_EQ(again->accepted, 10U);
  EXPECT_LE(asked_, 2);
}

TEST_F(Distil, RefusesAFolderOfAnotherRun) {
  ASSERT_TRUE(run());
  tasks_.pop_back();
  EXPECT_THAT(run().error().message, HasSubstr("other tasks"));
  options_.samples = 3;
  EXPECT_THAT(run().error().message, HasSubstr("samples"));
}

TEST(TeacherPrompt, HasFourForms) {
  const Task task{.id = "t", .source = "class Model: pass", .instruction = "Add two."};
  const auto text = [&](PromptForm form) { return teacher_prompt(task, form, "")->at(0).content; };
  EXPECT_THAT(text(PromptForm::implementation), HasSubstr("Add two."));
  EXPECT_THAT(text(PromptForm::conversion), HasSubstr("class Model: pass"));
  EXPECT_THAT(text(PromptForm::kernelllm),
              ::testing::AllOf(HasSubstr("add_relu_kernel"), HasSubstr("class Model: pass")));
  EXPECT_EQ(text(PromptForm::compact), "Add two.");
  EXPECT_EQ(teacher_prompt({.id = "t", .source = "import torch\nx"}, PromptForm::compact, "")
                ->at(0)
                .content,
            "x");
  EXPECT_FALSE(teacher_prompt({.id = "t", .source = "x"}, PromptForm::implementation, ""));
  EXPECT_EQ(teacher_prompt(task, PromptForm::kernelllm, "Be brief.")->size(), 2U);
}

}  // namespace
}  // namespace tritonsmith::distil
