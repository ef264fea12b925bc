#include "search/ptx_edits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "generate/testing/scripted_writer.h"
#include "gym/api/testing/fake_judge.h"
#include "search/ptx_messages.h"
#include "search/searches.h"

namespace tritonsmith::search {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr std::string_view kOwn =
    ".version 8.7\n.visible .entry slow(\n)\n{\n\tld.global.b32 %r1, [%rd1];\n\tret;\n}\n";

// The same text with another load.
std::string with_load(const std::string& load) {
  std::string text(kOwn);
  return text.replace(text.find("ld.global.b32"), std::string_view("ld.global.b32").size(), load);
}

Verdict timed(double speedup) {
  Verdict verdict = gym::api::accepted_verdict();
  verdict.speedup = speedup;
  verdict.kernels = {{.name = "fast", .launches = 1, .device_us = 2},
                     {.name = "slow", .launches = 1, .device_us = 9, .registers = 33}};
  return verdict;
}

struct EventLog : SearchLog {
  std::vector<Json> events;
  std::size_t fails_after = std::string::npos;
  Status append(const Json& event) override {
    if (events.size() >= fails_after) return fail("killed");
    events.push_back(event);
    return ok();
  }
};

// A search whose model writes one right kernel and then the edits of the test, and whose judge is a
// GPU that knows the speed of each load.
class PtxEditsTest : public ::testing::Test {
 protected:
  Verdict judge(const gym::api::JudgeJob& job) {
    jobs_.push_back(job);
    if (job.ptx.empty()) {
      Verdict verdict = timed(1.5);
      if (!has_gpu_) verdict.speedup.reset();
      for (KernelReport& kernel : verdict.kernels)
        if (job.shows_ptx) kernel.ptx = kOwn, kernel.ptx_name = kernel.name;
      return verdict;
    }
    const std::string& text = job.ptx.begin()->second;
    if (text.find("ld.broken") != std::string::npos) {
      Verdict verdict = gym::api::failed_verdict(Stage::captured, ErrorClass::compile_error);
      verdict.error->message = "the edited PTX does not assemble: line 5: Unknown modifier";
      verdict.error->line = 2;
      verdict.error->excerpt = "def slow(x_ptr):";
      return verdict;
    }
    Verdict verdict = timed(text.find(".v4") != std::string::npos ? 2.4 : 1.2);
    verdict.findings = {{.rule = "edited_ptx",
                         .severity = Severity::note,
                         .message = "the PTX of slow was edited: 40 registers, 0 spills; 7 "
                                    "instructions, among them 1 LDG.E.128"}};
    return verdict;
  }

  std::string run(EventLog& log) {
    std::size_t turn = 0;
    for (const Json& event : log.events) turn += event["event"] == "written" ? 1 : 0;
    generate::ScriptedWriter writer([&](const generate::WriteRequest& request) {
      requests_.push_back(request.messages);
      const std::string kernel = "```python\nclass ModelNew: pass\n```";
      return turn == 0 ? (++turn, kernel) : edits_.at(turn++ - 1);
    });
    gym::api::FakeJudge judge([this](const gym::api::JudgeJob& job) { return this->judge(job); });
    gym::api::FaultStreak faults(4);
    search_.emplace(SearchRequest{.task = {.id = "t", .source = "x"},
                                  .prompting = {.prompt = {{text::Role::user, "write"}}},
                                  .config = config_},
                    log);
    const std::vector<Json> past = log.events;
    EXPECT_TRUE(search_->resume(past));
    Searches searches({.writer = writer, .judge = judge, .faults = faults});
    searches.add(*search_);
    for (;;) {
      const auto next = searches.next();
      if (!next) return next.error().message;
      if (!*next) return search_->why_over();
    }
  }
  std::string run() {
    EventLog log;
    return run(log);
  }
  const History& history() const { return search_->history(); }
  std::string last_words(std::size_t request) const { return requests_.at(request).back().content; }

  static std::string answer(const std::string& text) { return "```ptx\n" + text + "```\n"; }

  SearchConfig config_{.strategy = Strategy::parallel, .attempts = 1, .workers = 3, .ptx = 3};
  bool has_gpu_ = true;
  // A slower load, one that ptxas refuses, and a wider one.
  std::vector<std::string> edits_ = {answer(with_load("ld.global.cv.b32")),
                                     answer(with_load("ld.broken.b32")),
                                     answer(with_load("ld.global.v4.b32"))};
  std::vector<gym::api::JudgeJob> jobs_;
  std::vector<std::vector<text::Message>> requests_;
  std::optional<Search> search_;
};

TEST_F(PtxEditsTest, BeginFromTheFastestTextSoFarAndKeepTheirLineage) {
  EXPECT_EQ(run(),
            "1 attempt was made; 3 edits of PTX were judged, and the fastest is 1.60 times as fast "
            "as Triton's own");
  std::vector<std::pair<AskKind, int>> lineage;
  for (const Ask& ask : history().asks()) lineage.emplace_back(ask.kind, ask.parent);
  EXPECT_THAT(lineage, ElementsAre(std::pair(AskKind::kernel, kNone), std::pair(AskKind::show, 0),
                                   std::pair(AskKind::ptx, 1), std::pair(AskKind::ptx, 1),
                                   std::pair(AskKind::ptx, 1)));
  EXPECT_EQ(history().best(), 0) << "the best kernel is one that Triton compiles";
  EXPECT_EQ(fastest_ptx(history()), 4);
  EXPECT_EQ(history().attempt(4)->ptx.at("slow"), with_load("ld.global.v4.b32"));
  EXPECT_EQ(history().attempt(4)->kernel, history().attempt(0)->kernel);
}

TEST_F(PtxEditsTest, TheNextEditChangesTheFastestOne) {
  std::ranges::reverse(edits_);
  run();
  EXPECT_EQ(history().asks().at(3).parent, 2);
  EXPECT_EQ(history().asks().at(3).other, kNone) << "the last edit is the one that is shown";
  EXPECT_EQ(history().asks().at(4).parent, 2);
  EXPECT_EQ(history().asks().at(4).other, 3);
  EXPECT_THAT(last_words(2), HasSubstr("ld.global.v4.b32"));
}

TEST_F(PtxEditsTest, AreJudgedWithTheKernelThatTakesMostOfTheTime) {
  run();
  ASSERT_EQ(jobs_.size(), 5U);
  EXPECT_TRUE(jobs_[1].shows_ptx);
  EXPECT_FALSE(jobs_[2].shows_ptx);
  EXPECT_EQ(jobs_[2].ptx,
            (std::map<std::string, std::string>{{"slow", with_load("ld.global.cv.b32")}}));
  EXPECT_EQ(jobs_[2].kernel, jobs_[0].kernel);
}

TEST_F(PtxEditsTest, AreAskedForWithTheTextItsFiguresAndWhatTheLastEditDid) {
  run();
  EXPECT_EQ(requests_[1].size(), 3U) << "the prompt, the kernel, and the request";
  EXPECT_THAT(last_words(1),
              AllOf(HasSubstr("edit the PTX of `slow`"), HasSubstr(std::string(kOwn)),
                    HasSubstr("33 registers"), Not(HasSubstr("The last edit"))));
  EXPECT_THAT(last_words(2), AllOf(HasSubstr("The last edit was no better"),
                                   HasSubstr("```\n\tld.global.cv.b32 %r1, [%rd1];\n```"),
                                   HasSubstr("7 instructions, among them 1 LDG.E.128"),
                                   HasSubstr(std::string(kOwn))));
  EXPECT_THAT(last_words(3),
              AllOf(HasSubstr("line 5: Unknown modifier"),
                    HasSubstr("  line 5: ld.broken.b32 %r1, [%rd1];"), Not(HasSubstr("def slow"))));
}

TEST_F(PtxEditsTest, NeedAGpuAndSaySo) {
  has_gpu_ = false;
  EXPECT_EQ(run(),
            "1 attempt was made; no PTX was edited: without a GPU edited PTX can be assembled, but "
            "not judged");
  EXPECT_EQ(jobs_.size(), 1U);
}

TEST_F(PtxEditsTest, AreNotMadeUnlessAskedFor) {
  config_.ptx = 0;
  EXPECT_EQ(run(), "1 attempt was made");
  EXPECT_EQ(jobs_.size(), 1U);
}

TEST_F(PtxEditsTest, AnAnswerWithoutPtxIsReportedAndNotJudged) {
  edits_[0] = "I cannot do that.";
  run();
  EXPECT_EQ(jobs_.size(), 4U);
  EXPECT_EQ(history().attempt(2)->verdict.error->error_class, ErrorClass::no_kernel);
  EXPECT_THAT(last_words(2), HasSubstr("The last answer held no PTX."));
}

TEST_F(PtxEditsTest, AnEqualEditIsJudgedOnce) {
  edits_[1] = edits_[0];
  run();
  EXPECT_EQ(jobs_.size(), 4U);
  EXPECT_EQ(history().attempt(3)->same_as, 2);
}

TEST_F(PtxEditsTest, EndAtTheLimitsOfTheSearch) {
  config_.judgements = 3;
  EXPECT_THAT(run(), HasSubstr("; 1 edit of PTX was judged, and none is faster"));
}

TEST_F(PtxEditsTest, GoOnAfterAKillAtAnyEvent) {
  EventLog whole;
  const std::string why = run(whole);
  for (std::size_t kill = 0; kill < whole.events.size(); ++kill) {
    EventLog log;
    log.fails_after = kill;
    EXPECT_EQ(run(log), "killed");
    log.fails_after = std::string::npos;
    EXPECT_EQ(run(log), why) << "killed after event " << kill;
    EXPECT_EQ(log.events.size(), whole.events.size());
  }
}

TEST(PtxOfAnswers, IsTheLastBlockWithAKernel) {
  const std::string own(kOwn);
  EXPECT_EQ(ptx_in("Before:\n```ptx\nold .entry\n```\nNow:\n```ptx\n" + own + "```\nDone."), own);
  EXPECT_EQ(ptx_in("```\n" + own + "```"), own) << "the block's language does not matter";
  EXPECT_EQ(ptx_in("<think>```ptx\n" + own + "```</think> no"), "");
  EXPECT_EQ(ptx_in("Here it is: " + own), own);
  EXPECT_EQ(ptx_in("```ptx\n" + own), "") << "the end is missing";
  EXPECT_THAT(ptx_in("no code"), IsEmpty());
}

TEST(ChangedLines, AreThoseOfTheNewText) {
  EXPECT_EQ(changed_lines("a\nb\nc\n", "a\nx\ny\nc\n"), "x\ny\n");
  EXPECT_EQ(changed_lines("a\nb\nc\n", "a\nc\n"), "(lines were taken out)\n");
  EXPECT_EQ(changed_lines("a\na\n", "a\na\na\n"), "a\n");
  EXPECT_EQ(changed_lines("a\n", "a\n"), "");
  std::string many;
  for (int i = 0; i < 100; ++i) many += "x\n";
  EXPECT_THAT(changed_lines("", many), HasSubstr("(and 20 lines more)"));
}

TEST(NamedLines, AreShownWithTheirText) {
  EXPECT_EQ(named_lines("line 2: bad; line 9: none; line x", "one\n\ttwo\n"), "  line 2: two\n");
}

}  // namespace
}  // namespace tritonsmith::search
