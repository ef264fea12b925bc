#include "verifier/verifier.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "base/temp_dir.h"
#include "generate/api/api_writer.h"
#include "generate/api/testing/fake_api_server.h"
#include "generate/testing/scripted_writer.h"
#include "gym/api/testing/fake_judge.h"
#include "verifier/verifying_judge.h"

namespace tritonsmith::verifier {
namespace {

using generate::ScriptedWriter;
using generate::WriteRequest;
using gym::api::JudgeJob;
using testing::HasSubstr;

const std::string kFine =
    R"({"torch_work": false, "hard_coded": false, "trivial_kernel": false, "missing_work": false, "reason": ""})";
const std::string kTorch =
    R"({"torch_work": true, "hard_coded": false, "trivial_kernel": false, "missing_work": false, "reason": "line 9 calls\ntorch.relu"})";

Task a_task() { return {.id = "relu", .source = "class Model: ..."}; }

Subject subject_of(const Task& task, const std::string& kernel) {
  return {.task = &task, .kernel = kernel};
}

std::unique_ptr<Verifier> opened(const VerifierConfig& config, generate::Writer& writer,
                                 const std::filesystem::path& store = {},
                                 const std::string& model = "small") {
  auto verifier = Verifier::open(
      config, {.writer = writer, .model = model, .store = store, .cost = [](const Usage& usage) {
                 return static_cast<double>(usage.completion_tokens);
               }});
  EXPECT_TRUE(verifier) << verifier.error().message;
  return *std::move(verifier);
}

// Gives these answers in a row.
ScriptedWriter answering(std::vector<std::string> answers) {
  return ScriptedWriter([answers = std::move(answers), at = std::size_t{0}](
                            const WriteRequest&) mutable { return answers.at(at++); });
}

TEST(Verifier, MakesAFindingOfMoreThanHalfOfTheVotes) {
  const Task task = a_task();
  ScriptedWriter writer = answering({kTorch, kFine, kTorch, kTorch, kFine, kFine});
  const auto verifier = opened({.severity = Effect::reject}, writer);
  const auto opinions =
      review_all(*verifier, {subject_of(task, "a = 1"), subject_of(task, "b = 1")});
  ASSERT_TRUE(opinions);
  ASSERT_EQ(opinions->at(0).findings.size(), 1U);
  const Finding& finding = opinions->at(0).findings[0];
  EXPECT_EQ(finding.rule, "verifier_torch_work");
  EXPECT_EQ(finding.severity, Severity::reject);
  EXPECT_EQ(finding.message,
            "2 of 3 votes of small: PyTorch computes part of the module's work. line 9 calls "
            "torch.relu");
  EXPECT_TRUE(opinions->at(0).objects());
  EXPECT_TRUE(opinions->at(1).findings.empty());
  EXPECT_FALSE(opinions->at(1).objects());
}

TEST(Verifier, CountsAnUnreadableVoteAsNoVoteForAnything) {
  const Task task = a_task();
  ScriptedWriter one = answering({kTorch, "I am not sure.", R"({"torch_work": "yes"})"});
  const auto cautious = review_all(*opened({}, one), {subject_of(task, "a = 1")});
  ASSERT_TRUE(cautious);
  EXPECT_EQ(cautious->at(0).unreadable, 2);
  EXPECT_TRUE(cautious->at(0).findings.empty());

  ScriptedWriter none = answering({"", "no", "{}"});
  const auto silent =
      review_all(*opened({.severity = Effect::reject}, none), {subject_of(task, "a = 1")});
  ASSERT_TRUE(silent);
  ASSERT_EQ(silent->at(0).findings.size(), 1U);
  EXPECT_EQ(silent->at(0).findings[0].rule, "verifier_silent");
  EXPECT_EQ(silent->at(0).findings[0].severity, Severity::note);
}

TEST(Verifier, AsksNothingTwiceAboutTheSameKernel) {
  const Task task = a_task();
  const auto folder = TempDir::make("votes");
  ASSERT_TRUE(folder);
  const auto store = folder->path() / "votes.sqlite";
  int asked = 0;
  ScriptedWriter writer([&](const WriteRequest&) { return ++asked, kTorch; });
  {
    const auto verifier = opened({}, writer, store);
    const auto opinions =
        review_all(*verifier, {subject_of(task, "a = 1"), subject_of(task, "a = 1  # twin")});
    ASSERT_TRUE(opinions);
    EXPECT_EQ(asked, 3);
    EXPECT_TRUE(opinions->at(1).objects());
    EXPECT_EQ(verifier->work().kernels, 2);
    EXPECT_EQ(verifier->work().votes, 6);
    EXPECT_GT(verifier->work().usage.completion_tokens, 0);
    EXPECT_EQ(verifier->work().cost, static_cast<double>(verifier->work().usage.completion_tokens));
  }
  const auto again = opened({}, writer, store);
  ASSERT_TRUE(review_all(*again, {subject_of(task, "a = 1")}));
  EXPECT_EQ(asked, 3);
  EXPECT_EQ(again->work().votes, 3);
  EXPECT_EQ(again->work().usage.completion_tokens, 0);
  EXPECT_THAT(again->work().to_text(), HasSubstr("3 votes on 1 kernels, 0 requests"));
  // Another model, another policy and another kernel are other questions.
  ASSERT_TRUE(review_all(*opened({}, writer, store, "large"), {subject_of(task, "a = 1")}));
  EXPECT_EQ(asked, 6);
  Subject open = subject_of(task, "a = 1");
  open.policy = Policy::open;
  ASSERT_TRUE(review_all(*again, {open, subject_of(task, "a = 2")}));
  EXPECT_EQ(asked, 12);
}

TEST(Verifier, DrawsEachVoteWithASeedOfItsOwn) {
  const Task task = a_task();
  std::set<std::uint64_t> seeds;
  ScriptedWriter writer([&](const WriteRequest& request) {
    seeds.insert(request.seed);
    EXPECT_EQ(request.sampling.temperature, 0.7);
    return kFine;
  });
  ASSERT_TRUE(review_all(*opened({.votes = 5}, writer), {subject_of(task, "a = 1")}));
  EXPECT_EQ(seeds.size(), 5U);
}

// A writer for which everything is too long.
class NarrowWriter : public ScriptedWriter {
 public:
  using ScriptedWriter::ScriptedWriter;
  bool has_room(std::span<const text::Message>, const generate::SamplingParams&) const override {
    return false;
  }
};

TEST(Verifier, HasNoOpinionAboutWhatItsModelCannotRead) {
  const Task task = a_task();
  NarrowWriter writer([](const WriteRequest&) -> std::string {
    ADD_FAILURE() << "it was asked";
    return kTorch;
  });
  const auto opinions = review_all(*opened({}, writer), {subject_of(task, "a = 1")});
  ASSERT_TRUE(opinions);
  EXPECT_EQ(opinions->at(0).findings.at(0).rule, "verifier_silent");
}

TEST(Verifier, AsksAServerOnceAndSaysWhenItIsGone) {
  const Task task = a_task();
  bool is_gone = false;
  generate::FakeApiServer server([&](const generate::Asked&, httplib::Response& response) {
    if (is_gone) return generate::refuse(response, 401, "invalid_api_key", "wrong key");
    generate::stream_text(response, kTorch);
  });
  const auto folder = TempDir::make("votes");
  ASSERT_TRUE(folder);
  generate::ApiConfig config{.base_url = server.url(), .first_wait_seconds = 0.01};
  auto writer = generate::ApiWriter::open(config, "small", {});
  ASSERT_TRUE(writer) << writer.error().message;
  const auto verifier = opened({}, **writer, folder->path() / "votes.sqlite");
  const auto opinions = review_all(*verifier, {subject_of(task, "a = 1")});
  ASSERT_TRUE(opinions) << opinions.error().message;
  EXPECT_EQ(opinions->at(0).findings.at(0).rule, "verifier_torch_work");
  EXPECT_EQ(server.asked().size(), 3U);
  EXPECT_EQ(server.asked()[0].body["messages"][0]["role"], "system");
  ASSERT_TRUE(review_all(*verifier, {subject_of(task, "a = 1")}));
  EXPECT_EQ(server.asked().size(), 3U);
  is_gone = true;
  const auto refused = review_all(*verifier, {subject_of(task, "a = 2")});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("wrong key"));
}

TEST(Verifier, PutsItsFindingsInPlaceOfEarlierOnes) {
  Verdict verdict = gym::api::accepted_verdict();
  verdict.findings = {{.rule = "operator_table", .severity = Severity::note}};
  Opinion opinion{.votes = 3,
                  .findings = {{.rule = "verifier_torch_work", .severity = Severity::reject}}};
  add_opinion(opinion, verdict);
  EXPECT_FALSE(verdict.accepted);
  EXPECT_EQ(verdict.findings.size(), 2U);
  EXPECT_TRUE(without_opinion(verdict).accepted);
  opinion.findings.clear();
  add_opinion(opinion, verdict);
  EXPECT_TRUE(verdict.accepted);
  EXPECT_EQ(verdict.findings.size(), 1U);
}

class Verifying : public testing::Test {
 protected:
  Verdict judged(const std::string& kernel, const Verdict& verdict, const VerifierConfig& config) {
    gym::api::FakeJudge inner([&](const JudgeJob&) { return verdict; });
    ScriptedWriter writer([this](const WriteRequest&) { return ++asked_, kTorch; });
    const auto verifier = opened(config, writer);
    VerifyingJudge judge(inner, *verifier);
    EXPECT_TRUE(judge.submit({.id = 7, .task = a_task(), .kernel = kernel}));
    const auto given = judge.next(Deadline::never());
    EXPECT_TRUE(given && *given);
    EXPECT_EQ((*given)->id, 7U);
    const auto nothing = judge.next(Deadline::never());
    EXPECT_TRUE(nothing && !*nothing);
    return (*given)->verdict;
  }
  int asked_ = 0;
};

TEST_F(Verifying, RefusesWhatTheModelObjectsTo) {
  const Verdict verdict =
      judged("a = 1", gym::api::accepted_verdict(), {.severity = Effect::reject});
  EXPECT_FALSE(verdict.accepted);
  EXPECT_TRUE(verdict.correct);
  EXPECT_EQ(verdict.findings.at(0).rule, "verifier_torch_work");
}

TEST_F(Verifying, LeavesFailedKernelsAlone) {
  const Verdict failed = gym::api::failed_verdict(Stage::ran, ErrorClass::wrong_value);
  EXPECT_TRUE(judged("a = 1", failed, {.severity = Effect::reject}).findings.empty());
  EXPECT_EQ(asked_, 0);
  EXPECT_EQ(judged("a = 1", failed, {.kernels = Scope::every}).findings.size(), 1U);
  Verdict fault = failed;
  fault.fault = Fault::infrastructure;
  EXPECT_TRUE(judged("a = 1", fault, {.kernels = Scope::every}).findings.empty());
}

TEST(VerifyingJudge, ForgetsWhatIsCancelledAndGivesTheOthers) {
  gym::api::FakeJudge inner([](const JudgeJob&) { return gym::api::accepted_verdict(); });
  ScriptedWriter writer([](const WriteRequest&) { return kFine; });
  const auto verifier = opened({}, writer);
  VerifyingJudge judge(inner, *verifier);
  for (const std::uint64_t id : {1, 2, 3})
    ASSERT_TRUE(judge.submit({.id = id, .task = a_task(), .kernel = "a = 1"}));
  judge.cancel(2);
  std::set<std::uint64_t> given;
  for (;;) {
    const auto next = judge.next(Deadline::never());
    ASSERT_TRUE(next);
    if (!*next) break;
    given.insert((*next)->id);
    judge.cancel((*next)->id);
  }
  EXPECT_EQ(given, (std::set<std::uint64_t>{1, 3}));
  EXPECT_TRUE(verifier->is_idle());
}

TEST(VerifyingJudge, PassesOnThatTheGymIsBroken) {
  gym::api::FakeJudge inner([](const JudgeJob&) { return gym::api::accepted_verdict(); });
  ScriptedWriter writer([](const WriteRequest&) { return kFine; });
  const auto verifier = opened({}, writer);
  VerifyingJudge judge(inner, *verifier);
  ASSERT_TRUE(judge.submit({.id = 1, .task = a_task(), .kernel = "a = 1"}));
  inner.break_down({.message = "no gym"});
  const auto next = judge.next(Deadline::never());
  ASSERT_FALSE(next);
  EXPECT_EQ(next.error().message, "no gym");
}

}  // namespace
}  // namespace tritonsmith::verifier
