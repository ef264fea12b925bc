#include "gym/api/every_task_judge.h"

#include <gtest/gtest.h>

#include "gym/api/task_check.h"
#include "gym/api/testing/fake_judge.h"

namespace tritonsmith::gym::api {
namespace {

// A kernel is right for the tasks that its text names. The speed-up is the length of the task's id.
Verdict answer(const JudgeJob& job) {
  if (job.kernel.find(job.task.id) == std::string::npos)
    return failed_verdict(Stage::ran, ErrorClass::wrong_value);
  Verdict verdict = accepted_verdict();
  verdict.speedup = static_cast<double>(job.task.id.size());
  return verdict;
}

std::vector<Task> two_tasks() { return {{.id = "large"}, {.id = "tiny"}}; }

TEST(EveryTaskJudge, AcceptsAKernelThatIsRightForAllTasks) {
  FakeJudge fake(answer);
  EveryTaskJudge judge(fake, two_tasks());
  ASSERT_TRUE(judge.submit({.id = 5, .kernel = "large tiny"}));
  const auto judged = judge.next(Deadline::never());
  ASSERT_TRUE(judged && *judged);
  EXPECT_EQ((*judged)->id, 5U);
  EXPECT_TRUE((*judged)->verdict.accepted);
  EXPECT_EQ((*judged)->verdict.speedup, 4) << "the smallest speed-up counts";
  const std::vector<Verdict> all = judge.accepted("large tiny");
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].speedup, 5);
  EXPECT_EQ(all[1].speedup, 4);
  EXPECT_FALSE(judge.next(Deadline::never())->has_value());
}

TEST(EveryTaskJudge, NamesTheTaskForWhichAKernelIsWrong) {
  FakeJudge fake(answer);
  EveryTaskJudge judge(fake, two_tasks());
  ASSERT_TRUE(judge.submit({.id = 1, .kernel = "large"}));
  ASSERT_TRUE(judge.submit({.id = 2, .kernel = "tiny"}));
  const auto first = judge.next(Deadline::never());
  EXPECT_EQ((*first)->id, 1U);
  EXPECT_EQ((*first)->verdict.error->message, "tiny: as the test says");
  const auto second = judge.next(Deadline::never());
  EXPECT_EQ((*second)->id, 2U);
  EXPECT_EQ((*second)->verdict.error->message, "large: as the test says");
  EXPECT_FALSE(judge.next(Deadline::never())->has_value()) << "one verdict for a job";
  EXPECT_EQ(fake.cancelled().size(), 1U) << "the second kernel's other task";
  EXPECT_TRUE(judge.accepted("large").empty());
}

TEST(EveryTaskJudge, ForgetsACancelledJob) {
  FakeJudge fake(answer);
  EveryTaskJudge judge(fake, two_tasks());
  ASSERT_TRUE(judge.submit({.id = 1, .kernel = "large tiny"}));
  judge.cancel(1);
  EXPECT_FALSE(judge.next(Deadline::never())->has_value());
}

TEST(EveryTaskJudge, PassesOneTaskOn) {
  FakeJudge fake(answer);
  EveryTaskJudge judge(fake, {{.id = "large"}});
  ASSERT_TRUE(judge.submit({.id = 1, .kernel = "none"}));
  const auto judged = judge.next(Deadline::never());
  EXPECT_EQ((*judged)->verdict.error->message, "as the test says");
}

TEST(WhyUnjudgeable, NamesTheFirstTaskThatFailsAndIgnoresTheRest) {
  for (const bool fails : {true, false}) {
    FakeJudge fake([&](const JudgeJob& job) {
      Verdict verdict = failed_verdict(Stage::parsed, ErrorClass::wrong_value);
      if (fails && job.task.id == "tiny") verdict.error->error_class = ErrorClass::task_failed;
      return verdict;
    });
    const auto why = why_unjudgeable(fake, two_tasks(), Backend::automatic, [] { return false; });
    ASSERT_TRUE(why);
    EXPECT_EQ(why->has_value(), fails);
    EXPECT_EQ(why->value_or(""),
              fails ? "the module itself cannot be judged: as the test says" : "");
    EXPECT_EQ(fake.jobs().size(), 2U);
  }
  FakeJudge silent([](const JudgeJob&) { return Verdict(); });
  EXPECT_FALSE(*why_unjudgeable(silent, two_tasks(), Backend::automatic, [] { return true; }));
}

}  // namespace
}  // namespace tritonsmith::gym::api
