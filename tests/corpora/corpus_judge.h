// CorpusJudge: one LocalJudge that judges a whole corpus, many files at a time. It can switch a
// rule off by removing the rule's findings and errors from the reports of inspection and referee.
// The product has no such switch. One thread uses it.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "corpus.h"
#include "gym/judge/local_judge.h"

namespace tritonsmith::corpora {

// The rules that are removed from the judgements in progress. The judge's threads read it.
class Blindness {
 public:
  void set(std::string rule) {
    const std::scoped_lock lock(mutex_);
    rule_ = std::move(rule);
  }
  std::string get() const {
    const std::scoped_lock lock(mutex_);
    return rule_;
  }

 private:
  mutable std::mutex mutex_;
  std::string rule_;
};
inline constexpr std::string_view kAllOfInspection = "inspection";

class CorpusJudge {
 public:
  struct Options {
    std::filesystem::path tests;  // the folder to which the tables' paths are relative
    std::string referee;          // tritonsmith-referee
    int slots = 2, referees = 2;
    bool gpu = false;   // jobs may be replayed on the first GPU
    std::string draws;  // what trials draw follows from this name; empty: it is new in each run
    bool checks_ptx = false;  // stops if the check of edited PTX refuses what Triton itself wrote
  };
  static Result<std::unique_ptr<CorpusJudge>> start(const Options& options);

  struct Job {
    std::string file, task;
    Policy policy = Policy::strict;
    Backend backend = Backend::evaluate;
  };
  // Returns the verdicts in the order of the jobs. `without` is empty, the name of a rule, or
  // kAllOfInspection.
  Result<std::vector<Verdict>> judge(const std::vector<Job>& jobs, const std::string& without);

 private:
  CorpusJudge() = default;
  std::filesystem::path tests_;
  bool checks_ptx_ = false;
  std::unique_ptr<Blindness> blindness_ = std::make_unique<Blindness>();
  std::unique_ptr<gym::api::Judge> judge_;
};

}  // namespace tritonsmith::corpora
