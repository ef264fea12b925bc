#include "corpus.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace tritonsmith::corpora {
namespace {

Verdict ended_by(std::string error_class) {
  Verdict verdict{.error = VerdictError{}};
  set_class(*verdict.error, std::move(error_class));
  return verdict;
}

std::vector<CorpusFile> hostile() {
  auto files = read_hostile_table(std::string(TRITONSMITH_TESTS) + "/hostile/table.tsv");
  EXPECT_TRUE(files) << files.error().message;
  return files.value_or(std::vector<CorpusFile>());
}

TEST(Corpus, WantsTheSameReasonsOfAGpuUnlessTheTableGivesOthers) {
  const CorpusFile plain{.file = "a"}, other{.file = "b", .on_gpu = "error wrong_value"};
  EXPECT_EQ(outcome_on_gpu(plain, ended_by("race")), "error race");
  EXPECT_EQ(outcome_on_gpu(other, ended_by("race")), "error wrong_value");
  const CorpusFile either{.file = "c", .on_gpu = "error race|error wrong_value"};
  for (const char* end : {"race", "wrong_value"})
    EXPECT_TRUE(ends_rightly_on_gpu(either, ended_by("race"), ended_by(end)));
  EXPECT_FALSE(ends_rightly_on_gpu(either, ended_by("race"), ended_by("exception")));
  EXPECT_FALSE(ends_rightly_on_gpu(plain, ended_by("race"), ended_by("wrong_value")));
}

TEST(Corpus, TakesAFaultOfTheGymForNoRefusalOfAnyFile) {
  for (const char* nobodys : {"infrastructure", "too_large_to_evaluate", "timeout"})
    for (const CorpusFile& file : hostile()) {
      const bool is_the_files_own = file.ends.name == nobodys || file.on_gpu.ends_with(nobodys);
      Verdict as_it_should;
      if (file.ends.how == "error")
        as_it_should = ended_by(file.ends.name);
      else if (file.ends.how == "finding")
        as_it_should.findings = {{.rule = file.ends.name, .severity = Severity::reject}};
      else
        as_it_should.accepted = true;
      const bool is_wanted = ends_rightly_on_gpu(file, as_it_should, ended_by(nobodys));
      EXPECT_LE(is_wanted, is_the_files_own) << file.file << " " << nobodys;
    }
}

TEST(Corpus, NamesTheFilesThatAGpuRefusesForAnotherReason) {
  const auto files = hostile();
  EXPECT_EQ(
      std::ranges::count_if(files, [](const CorpusFile& file) { return !file.on_gpu.empty(); }),
      39);
  for (const CorpusFile& file : files) EXPECT_NE(file.on_gpu, "accepted") << file.file;
}

TEST(Corpus, CountsATwinOnceATaskAndPolicy) {
  const CorpusFile one{.file = "a", .task = "t", .twin = "x"},
      again{.file = "b", .task = "t", .twin = "x"},
      open{.file = "c", .task = "t", .policy = Policy::open, .twin = "x"};
  const auto twins = twins_of({one, again, open});
  ASSERT_EQ(twins.size(), 2u);
  EXPECT_EQ(twins[0].file, "x");
  EXPECT_NE(twins[0].policy, twins[1].policy);
}

}  // namespace
}  // namespace tritonsmith::corpora
