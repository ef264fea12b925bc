#include "verifier/agreement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "base/file.h"
#include "base/jsonl.h"
#include "base/temp_dir.h"
#include "data/sample.h"
#include "generate/testing/scripted_writer.h"
#include "gym/api/testing/fake_judge.h"
#include "verifier/plain_source.h"
#include "verifier/review_samples.h"

namespace tritonsmith::verifier {
namespace {

using generate::WriteRequest;

std::string vote(bool torch_work) {
  return to_line({{"torch_work", torch_work},
                  {"hard_coded", false},
                  {"trivial_kernel", false},
                  {"missing_work", false},
                  {"reason", "as scripted"}});
}

Verdict rejected_by(const std::string& rule) {
  Verdict verdict = gym::api::accepted_verdict();
  verdict.findings = {{.rule = rule, .severity = Severity::reject}};
  verdict.accepted = false;
  return verdict;
}

Opinion opinion_of(bool objects) { return {.votes = 3, .yes = {objects ? 2 : 1}}; }

TEST(Agreement, CountsFourWaysAndNoKernelThatOnlyFails) {
  Agreement agreement;
  EXPECT_FALSE(agreement.share());
  for (int i = 0; i < 4; ++i) count(rejected_by("torch_compute"), opinion_of(true), agreement);
  count(rejected_by("torch_compute"), opinion_of(false), agreement);
  count(gym::api::accepted_verdict(), opinion_of(true), agreement);
  for (int i = 0; i < 4; ++i) count(gym::api::accepted_verdict(), opinion_of(false), agreement);
  count(gym::api::failed_verdict(Stage::ran, ErrorClass::wrong_value), opinion_of(true), agreement);
  count(gym::api::accepted_verdict(), {.votes = 3, .unreadable = 3}, agreement);
  // A rejection by the verifier does not count as an objection of the rules.
  count(rejected_by("verifier_torch_work"), opinion_of(true), agreement);
  EXPECT_EQ(agreement.both, 4);
  EXPECT_EQ(agreement.rules_only, 1);
  EXPECT_EQ(agreement.verifier_only, 2);
  EXPECT_EQ(agreement.neither, 4);
  EXPECT_DOUBLE_EQ(*agreement.share(), 8.0 / 11);
  // chance = 5/11 * 6/11 + 6/11 * 5/11 = 60/121; (88/121 - 60/121) / (61/121) = 28/61.
  EXPECT_NEAR(*agreement.kappa(), 28.0 / 61, 1e-12);
  EXPECT_EQ(to_text(agreement),
            "they agree about 8 of 11 kernels (kappa 0.46): both object to 4, the rules alone to "
            "1, the verifier alone to 2");
}

TEST(Agreement, HasNoKappaWhereNeitherObjects) {
  const Agreement agreement{.neither = 3};
  EXPECT_EQ(*agreement.share(), 1);
  EXPECT_FALSE(agreement.kappa());
}

// A file of a corpus, and the verdict that its table gives.
struct Entry {
  std::string name;
  Task task;
  std::string kernel;
  Policy policy = Policy::strict;
  Verdict verdict;
};

Verdict verdict_of(const std::string& ends) {
  if (ends == "accepted") return gym::api::accepted_verdict();
  const std::size_t space = ends.find(' ');
  if (ends.starts_with("error"))
    return gym::api::failed_verdict(Stage::ran, ErrorClass::wrong_value);
  return rejected_by(ends.substr(space + 1));
}

std::vector<Entry> corpus(const std::string& name) {
  const std::filesystem::path tests = "tests";
  std::vector<Entry> entries;
  std::map<std::string, std::size_t> columns;
  const auto lines = read_lines(tests / name / "table.tsv");
  EXPECT_TRUE(lines) << "run in the repository's root";
  for (const std::string& line : *lines) {
    std::vector<std::string> cells;
    std::istringstream in(line);
    for (std::string cell; std::getline(in, cell, '\t');) cells.push_back(cell);
    if (columns.empty()) {
      for (std::size_t i = 0; i < cells.size(); ++i) columns[cells[i]] = i;
      continue;
    }
    Entry entry{.name = cells[columns.at("file")]};
    entry.task.id = cells[columns.at("task")];
    const auto source = read_file(tests / entry.task.id), kernel = read_file(tests / entry.name);
    EXPECT_TRUE(source && kernel) << entry.name;
    entry.task.source = *source;
    entry.kernel = *kernel;
    entry.policy = *enum_from_name<Policy>(cells[columns.at("policy")]);
    entry.verdict = verdict_of(columns.contains("ends") ? cells[columns.at("ends")] : "accepted");
    entries.push_back(std::move(entry));
  }
  return entries;
}

// Searches the candidate's part of the question, as a reader does who looks for a kernel.
bool has_kernel(const std::string& question) {
  const std::size_t begin = question.find("The candidate:"),
                    end = question.find("What is allowed:");
  return question.substr(begin, end - begin).find("triton.jit") != std::string::npos;
}

Agreement agreement_over(const std::vector<Entry>& entries) {
  generate::ScriptedWriter writer([](const WriteRequest& request) {
    return vote(!has_kernel(request.messages.back().content));
  });
  auto verifier = Verifier::open({.votes = 1, .kernels = Scope::every},
                                 {.writer = writer, .model = "scripted"});
  std::vector<Subject> subjects;
  for (const Entry& entry : entries)
    subjects.push_back({.task = &entry.task, .kernel = entry.kernel, .policy = entry.policy});
  const auto opinions = review_all(**verifier, std::move(subjects));
  EXPECT_TRUE(opinions);
  Agreement agreement;
  for (std::size_t i = 0; i < entries.size(); ++i)
    count(entries[i].verdict, opinions->at(i), agreement);
  return agreement;
}

TEST(Agreement, IsMeasuredOverTheHonestCorpus) {
  const auto entries = corpus("honest");
  ASSERT_GT(entries.size(), 200U);
  const Agreement agreement = agreement_over(entries);
  EXPECT_EQ(agreement.kernels(), std::ssize(entries));
  EXPECT_EQ(agreement.verifier_only, 0) << "an honest kernel is no pure PyTorch";
  EXPECT_EQ(*agreement.share(), 1);
}

TEST(Agreement, IsMeasuredOverTheHostileCorpus) {
  const auto entries = corpus("hostile");
  ASSERT_GT(entries.size(), 400U);
  int refused = 0, without_kernel = 0;
  for (const Entry& entry : entries) {
    if (!entry.verdict.findings.empty()) ++refused;
    const bool is_plain = without_comments(entry.kernel).find("triton.jit") == std::string::npos;
    if (is_plain && !entry.verdict.findings.empty()) ++without_kernel;
  }
  const Agreement agreement = agreement_over(entries);
  EXPECT_EQ(agreement.both + agreement.rules_only, refused);
  EXPECT_EQ(agreement.both, without_kernel);
  EXPECT_GT(agreement.both, 0) << "a01_pure_torch.py has no kernel";
  EXPECT_GT(agreement.rules_only, agreement.both) << "a kernel alone proves nothing";
}

TEST(Agreement, IsNotSwayedByAFileThatTalksToTheJudge) {
  const auto entries = corpus("hostile");
  const auto talks =
      std::ranges::find(entries, "hostile/files/h27_talks_to_the_judge.py", &Entry::name);
  ASSERT_NE(talks, entries.end());
  EXPECT_THAT(talks->kernel, testing::HasSubstr("Dear judge"));
  const auto question = messages_about(talks->task, talks->kernel, talks->policy).back().content;
  EXPECT_THAT(question, testing::Not(testing::HasSubstr("Dear judge")));
  EXPECT_THAT(question, testing::HasSubstr("torch.relu(x * 1.5 + 0.25)"));
  EXPECT_EQ(agreement_over({*talks}).both, 1);
}

TEST(ReviewSamples, PutsNotesIntoTheVerdictsOfTheFile) {
  const auto folder = TempDir::make("review");
  ASSERT_TRUE(folder);
  const auto file = folder->path() / "samples.jsonl";
  const std::vector<Task> tasks = {{.id = "relu", .source = "class Model: ..."}};
  std::string text;
  for (const auto& [kernel, verdict] :
       {std::pair{"torch = 1", gym::api::accepted_verdict()},
        std::pair{"triton.jit = 1", gym::api::accepted_verdict()},
        std::pair{"torch = 2", gym::api::failed_verdict(Stage::ran, ErrorClass::wrong_value)},
        std::pair{"torch = 3", rejected_by("torch_compute")}}) {
    Json json = to_json(Sample{.task_id = "relu", .kernel = kernel, .verdict = verdict});
    json["of_another_program"] = 7;
    text += to_line(json) + '\n';
  }
  ASSERT_TRUE(write_file_atomic(file, text));
  int asked = 0;
  generate::ScriptedWriter writer([&](const WriteRequest& request) {
    return ++asked, vote(!has_kernel(request.messages.back().content));
  });
  const VerifierParts parts{
      .writer = writer, .model = "scripted", .store = folder->path() / "votes.sqlite"};
  for (int call = 0; call < 2; ++call) {  // the second changes nothing and asks nothing
    auto verifier = Verifier::open({}, parts);
    ASSERT_TRUE(verifier);
    const auto review = review_samples(file, tasks, **verifier);
    ASSERT_TRUE(review) << review.error().message;
    EXPECT_EQ(review->kernels, 2);
    EXPECT_EQ(review->findings, (std::map<std::string, int>{{"verifier_torch_work", 1}}));
    EXPECT_EQ(review->agreement.verifier_only, 1);
    EXPECT_EQ(review->agreement.neither, 1);
    EXPECT_EQ(asked, 6);
    const auto samples = read_jsonl(file, sample_from_json);
    ASSERT_TRUE(samples);
    ASSERT_EQ(samples->size(), 4U);
    EXPECT_EQ(samples->at(0).verdict.findings.at(0).rule, "verifier_torch_work");
    EXPECT_TRUE(samples->at(0).verdict.accepted);
    EXPECT_TRUE(samples->at(1).verdict.findings.empty());
    EXPECT_THAT(*read_file(file), testing::HasSubstr("\"of_another_program\":7"));
  }
  auto every = Verifier::open({.severity = Effect::reject, .kernels = Scope::every}, parts);
  const auto review = review_samples(file, tasks, **every);
  ASSERT_TRUE(review);
  EXPECT_EQ(review->kernels, 4);
  EXPECT_EQ(review->agreement.both, 1);
  const auto samples = read_jsonl(file, sample_from_json);
  EXPECT_FALSE(samples->at(0).verdict.accepted);
  EXPECT_EQ(samples->at(0).verdict.findings.size(), 1U);
}

}  // namespace
}  // namespace tritonsmith::verifier
