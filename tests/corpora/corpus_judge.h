// CorpusJudge: one LocalJudge through which a whole corpus goes, many files at a time. A rule can
// be switched off, by leaving its findings and errors out of what inspection and the referee
// report; the product has no such switch. One thread.
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

// What is left out of the judgements under way; read by the judge's threads.
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
    std::filesystem::path tests;  // the folder that the tables' paths begin in
    std::string referee;          // tritonsmith-referee
    int slots = 2, referees = 2;
    bool gpu = false;  // jobs may be replayed on the first GPU
  };
  static Result<std::unique_ptr<CorpusJudge>> start(const Options& options);

  struct Job {
    std::string file, task;
    Policy policy = Policy::strict;
    Backend backend = Backend::evaluate;
  };
  // The verdicts in the order of the jobs. `without` is empty, the name of a rule, or
  // kAllOfInspection.
  Result<std::vector<Verdict>> judge(const std::vector<Job>& jobs, const std::string& without);

 private:
  CorpusJudge() = default;
  std::filesystem::path tests_;
  std::unique_ptr<Blindness> blindness_ = std::make_unique<Blindness>();
  std::unique_ptr<gym::api::Judge> judge_;
};

}  // namespace tritonsmith::corpora
