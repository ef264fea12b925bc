// judge_corpus: judges the corpora of hostile and honest kernels in one process, and reports files
// that did not end as their tables say.
//
//   judge_corpus hostile|honest|rules|blind|secrets|agree --tests DIR --referee PROGRAM
//                [--only TEXT] [--draws NAME] [--secrets COUNT] [--gpu] [--list]
//
//   hostile  every file ends as its table says, every honest counterpart is accepted, and each of
//            the 176 entries of the catalogue has a file, or a reason why it has none
//   honest   every file is accepted
//   rules    with the rule that a file names switched off, it ends as the table says for this case
//   blind    with all of inspection switched off (as if the text were disguised), it ends as the
//            table says for this case
//   secrets  every hostile file that inspection does not refuse ends as its table says under each of
//            COUNT secrets (20), and every honest file is accepted; the smallest margins by which
//            values were wrong are printed; with --gpu they are replayed on a GPU
//   agree    every file of both corpora and every honest counterpart ends alike when replayed on a
//            GPU and when evaluated on the CPU, or on the GPU as the table says for GPUs; the exit
//            code is 77 without a GPU
// With --draws the trials draw the same in every run of that name; without it they draw anew.
// --list prints file and end, whatever the table says. The exit code is 1 if a file ended
// differently, 2 if the judge failed.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <map>
#include <optional>
#include <set>
#include <thread>

#include "corpus_judge.h"
#include "gym/cuda/driver.h"

namespace tritonsmith::corpora {
namespace {

struct Options {
  std::string mode, only;
  CorpusJudge::Options judge;
  bool list = false;
  int secrets = 20;
  bool gpu = false;
};

using Job = CorpusJudge::Job;

std::string detail(const Verdict& verdict) {
  std::string text;
  if (verdict.error)
    text = fmt::format(" [line {}: {}]", verdict.error->line, verdict.error->message);
  for (const Finding& finding : verdict.findings)
    if (finding.severity == Severity::reject && !verdict.error)
      text += fmt::format(" [line {}: {}]", finding.line, finding.message);
  std::ranges::replace(text, '\n', ' ');
  return text.substr(0, 300);
}

// A list of failures; each is printed at once.
class Score {
 public:
  explicit Score(const Options& options) : list_(options.list) {}

  void check(const std::string& file, const std::string& wanted, const Verdict& verdict,
             bool as_wanted) {
    ++judged_;
    if (list_) fmt::print("{}\t{}\t{}\n", file, outcome_of(verdict), detail(verdict));
    if (as_wanted) return;
    ++wrong_;
    if (!list_)
      fmt::print("{}: {}, wanted: {}{}\n", file, outcome_of(verdict), wanted, detail(verdict));
  }
  void complain(const std::string& what) {
    ++wrong_;
    fmt::print("{}\n", what);
  }
  int finish(double seconds) const {
    fmt::print("{} judged in {:.1f} s, {} not as they should be\n", judged_, seconds, wrong_);
    return wrong_ == 0 ? 0 : 1;
  }

 private:
  bool list_;
  int judged_ = 0, wrong_ = 0;
};

std::string text_of(const Expected& expected) {
  return expected.name.empty() ? expected.how : expected.how + " " + expected.name;
}

template <typename Keep>
std::vector<CorpusFile> those(const std::vector<CorpusFile>& files, const Keep& keep) {
  std::vector<CorpusFile> kept;
  std::ranges::copy_if(files, std::back_inserter(kept), keep);
  return kept;
}

std::vector<Job> jobs_of(const std::vector<CorpusFile>& files) {
  std::vector<Job> jobs;
  for (const CorpusFile& file : files) jobs.push_back({file.file, file.task, file.policy});
  return jobs;
}

Status check_catalogue(const Options& options, const std::vector<CorpusFile>& files, Score& score) {
  std::set<std::string> covered;
  for (const CorpusFile& file : files) covered.insert(file.entries.begin(), file.entries.end());
  TRY_ASSIGN(const auto reasons, read_reasons(options.judge.tests / "hostile/reasons.tsv"));
  for (const Reason& reason : reasons) {
    if (reason.text.size() < 20) score.complain(reason.entry + ": its reason says nothing");
    if (!covered.insert(reason.entry).second)
      score.complain(reason.entry + ": has a file, and a reason why there is none");
  }
  for (const std::string& id : catalogue())
    if (covered.erase(id) == 0) score.complain(id + ": neither a file nor a reason");
  for (const std::string& unknown : covered)
    if (unknown != "style") score.complain(unknown + ": no entry of the catalogue");
  return ok();
}

Status judge_hostile(const Options& options, CorpusJudge& judge,
                     const std::vector<CorpusFile>& files, Score& score) {
  if (options.only.empty()) TRY(check_catalogue(options, files, score));
  std::vector<Job> jobs = jobs_of(files);
  for (const Job& twin : jobs_of(twins_of(files))) jobs.push_back(twin);
  TRY_ASSIGN(const auto verdicts, judge.judge(jobs, ""));
  for (std::size_t k = 0; k < files.size(); ++k)
    score.check(files[k].file, text_of(files[k].ends), verdicts[k],
                holds(files[k].ends, verdicts[k]));
  for (std::size_t k = files.size(); k < jobs.size(); ++k)
    score.check(jobs[k].file, "accepted, as an honest twin", verdicts[k], verdicts[k].accepted);
  return ok();
}

Status judge_honest(CorpusJudge& judge, const std::vector<CorpusFile>& files, Score& score) {
  TRY_ASSIGN(const auto verdicts, judge.judge(jobs_of(files), ""));
  for (std::size_t k = 0; k < files.size(); ++k)
    score.check(files[k].file, "accepted", verdicts[k], verdicts[k].accepted);
  return ok();
}

Status judge_without_rules(CorpusJudge& judge, const std::vector<CorpusFile>& files, Score& score) {
  std::set<std::string> rules;
  int accepted = 0;
  for (const CorpusFile& file : files)
    if (file.rule != "-") rules.insert(file.rule);
  for (const std::string& rule : rules) {
    const auto these = those(files, [&](const CorpusFile& file) { return file.rule == rule; });
    TRY_ASSIGN(const auto verdicts, judge.judge(jobs_of(these), rule));
    for (std::size_t k = 0; k < these.size(); ++k) {
      const std::string& wanted = these[k].without;
      score.check(these[k].file, wanted + " without " + rule, verdicts[k],
                  outcome_of(verdicts[k]) == wanted);
      accepted += wanted == "accepted" ? 1 : 0;
    }
  }
  fmt::print("{} are accepted without their rule\n", accepted);
  return ok();
}

Status judge_blindly(CorpusJudge& judge, const std::vector<CorpusFile>& files, Score& score) {
  const auto refused =
      those(files, [](const CorpusFile& file) { return file.ends.how == "refused"; });
  TRY_ASSIGN(const auto verdicts, judge.judge(jobs_of(refused), std::string(kAllOfInspection)));
  for (std::size_t k = 0; k < refused.size(); ++k)
    score.check(refused[k].file, text_of(refused[k].blind) + " without inspection", verdicts[k],
                holds(refused[k].blind, verdicts[k]));
  return ok();
}

// Judges every file on both backends. If they give different reasons (a GPU sees no race, the
// evaluator has no clock), the table says so.
Status judge_twice(CorpusJudge& judge, const std::vector<CorpusFile>& files, bool honest,
                   Score& score) {
  std::vector<Job> jobs = jobs_of(files);
  for (const Job& job : jobs_of(files)) {
    jobs.push_back(job);
    jobs.back().backend = Backend::replay;
  }
  TRY_ASSIGN(const auto verdicts, judge.judge(jobs, ""));
  int differ = 0;
  for (std::size_t k = 0; k < files.size(); ++k) {
    const Verdict &here = verdicts[k], &there = verdicts[files.size() + k];
    const Expected ends = honest ? Expected{"accepted", ""} : files[k].ends;
    const std::string wanted = outcome_on_gpu(files[k], here);
    score.check(files[k].file, text_of(ends), here, holds(ends, here));
    score.check(files[k].file, wanted + " on a GPU", there,
                ends_rightly_on_gpu(files[k], here, there));
    if (outcome_of(here) != outcome_of(there)) ++differ;
  }
  fmt::print("{} files: the two backends give another reason for {}\n", files.size(), differ);
  return ok();
}

// Returns how many times as far off as allowed the worst element was, or nothing if something else
// than a value ended the job.
std::optional<double> margin_of(const Verdict& verdict) {
  constexpr std::string_view before = "the worst is ";
  if (!verdict.error) return std::nullopt;
  const std::string& message = verdict.error->message;
  const std::size_t at = message.find(before);
  if (at == std::string::npos) return std::nullopt;
  return std::strtod(message.c_str() + at + before.size(), nullptr);
}

// The judge replays on the GPUs, too, and evaluates on half of the cores.
CorpusJudge::Options with_gpu(CorpusJudge::Options options) {
  options.gpu = true;
  options.slots = options.referees =
      std::max(2, static_cast<int>(std::thread::hardware_concurrency()) / 2);
  return options;
}

// Says whether a hostile file ends as its table says for this backend.
bool ends_rightly(const CorpusFile& file, const Verdict& verdict, bool on_gpu) {
  return on_gpu && !file.on_gpu.empty() ? ends_rightly_on_gpu(file, verdict, verdict)
                                        : holds(file.ends, verdict);
}

// Judges all files under one secret after another. A flaw that only some draws show is found by
// luck, so it must show under each.
Result<int> run_under_secrets(const Options& options) {
  constexpr std::size_t told = 20;
  const Stopwatch watch;
  const auto is_meant = [&](const CorpusFile& file) {
    return file.file.find(options.only) != std::string::npos && file.ends.how != "refused";
  };
  TRY_ASSIGN(const auto hostile, read_hostile_table(options.judge.tests / "hostile/table.tsv"));
  TRY_ASSIGN(const auto honest, read_honest_table(options.judge.tests / "honest/table.tsv"));
  const std::vector<CorpusFile> wrong = those(hostile, is_meant), right = those(honest, is_meant);
  std::map<std::string, double> smallest;
  Score score(options);
  for (int secret = 0; secret < options.secrets; ++secret) {
    CorpusJudge::Options with_secret = options.gpu ? with_gpu(options.judge) : options.judge;
    with_secret.draws = fmt::format("{}/{}", options.judge.draws, secret);
    TRY_ASSIGN(const auto judge, CorpusJudge::start(with_secret));
    std::vector<Job> jobs = jobs_of(wrong);
    for (const Job& job : jobs_of(right)) jobs.push_back(job);
    if (options.gpu)
      for (Job& job : jobs) job.backend = Backend::replay;
    TRY_ASSIGN(const auto verdicts, judge->judge(jobs, ""));
    for (std::size_t k = 0; k < jobs.size(); ++k) {
      const bool is_honest = k >= wrong.size();
      const std::string wanted = is_honest ? "accepted" : text_of(wrong[k].ends);
      score.check(
          jobs[k].file, fmt::format("{} under secret {}", wanted, secret), verdicts[k],
          is_honest ? verdicts[k].accepted : ends_rightly(wrong[k], verdicts[k], options.gpu));
      const auto margin = is_honest ? std::nullopt : margin_of(verdicts[k]);
      if (!margin) continue;
      double& least = smallest.try_emplace(jobs[k].file, *margin).first->second;
      least = std::min(least, *margin);
    }
    fmt::print("secret {} of {}: {} files, after {:.0f} s\n", secret + 1, options.secrets,
               jobs.size(), watch.milliseconds() / 1000);
    std::fflush(stdout);  // whoever stops the program sees how far it came
  }
  std::vector<std::pair<double, std::string>> margins;
  for (const auto& [file, margin] : smallest) margins.emplace_back(margin, file);
  std::ranges::sort(margins);
  for (std::size_t k = 0; k < std::min(told, margins.size()); ++k)
    fmt::print("{:10.3g} times as far off as allowed, at least: {}\n", margins[k].first,
               margins[k].second);
  return score.finish(watch.milliseconds() / 1000);
}

Result<int> run_on_both(const Options& options) {
  constexpr int skipped = 77;
  if (gym::cuda::list_gpus().empty()) {
    fmt::print("no GPU on this machine\n");
    return skipped;
  }
  const Stopwatch watch;
  TRY_ASSIGN(const auto judge, CorpusJudge::start(with_gpu(options.judge)));
  Score score(options);
  for (const bool honest : {false, true}) {
    const auto table = options.judge.tests / (honest ? "honest/table.tsv" : "hostile/table.tsv");
    TRY_ASSIGN(const auto all, honest ? read_honest_table(table) : read_hostile_table(table));
    const auto files = those(all, [&](const CorpusFile& file) {
      return file.file.find(options.only) != std::string::npos;
    });
    TRY(judge_twice(*judge, files, honest, score));
    if (!honest) TRY(judge_twice(*judge, twins_of(files), true, score));
  }
  return score.finish(watch.milliseconds() / 1000);
}

Result<int> run(const Options& options) {
  if (options.mode == "agree") return run_on_both(options);
  if (options.mode == "secrets") return run_under_secrets(options);
  const Stopwatch watch;
  const bool honest = options.mode == "honest";
  const auto table = options.judge.tests / (honest ? "honest/table.tsv" : "hostile/table.tsv");
  TRY_ASSIGN(const auto all, honest ? read_honest_table(table) : read_hostile_table(table));
  const auto files = those(all, [&](const CorpusFile& file) {
    return file.file.find(options.only) != std::string::npos;
  });
  CorpusJudge::Options of_mode = options.judge;
  of_mode.checks_ptx = honest;
  TRY_ASSIGN(const auto judge, CorpusJudge::start(of_mode));
  Score score(options);
  if (honest) {
    TRY(judge_honest(*judge, files, score));
  } else if (options.mode == "hostile") {
    TRY(judge_hostile(options, *judge, files, score));
  } else if (options.mode == "rules") {
    TRY(judge_without_rules(*judge, files, score));
  } else if (options.mode == "blind") {
    TRY(judge_blindly(*judge, files, score));
  } else {
    return fail("the mode is hostile, honest, rules, blind, secrets or agree, not `{}`",
                options.mode);
  }
  return score.finish(watch.milliseconds() / 1000);
}

Result<Options> read_options(const std::vector<std::string>& words) {
  Options options;
  if (words.empty()) return fail("say hostile, honest, rules, blind, secrets or agree");
  options.mode = words[0];
  for (std::size_t k = 1; k < words.size(); ++k) {
    if (words[k] == "--list" || words[k] == "--gpu") {
      (words[k] == "--gpu" ? options.gpu : options.list) = true;
      continue;
    }
    if (k + 1 == words.size()) return fail("{} wants a value", words[k]);
    const std::string& value = words[++k];
    if (words[k - 1] == "--tests")
      options.judge.tests = value;
    else if (words[k - 1] == "--referee")
      options.judge.referee = value;
    else if (words[k - 1] == "--only")
      options.only = value;
    else if (words[k - 1] == "--secrets")
      options.secrets = std::atoi(value.c_str());
    else if (words[k - 1] == "--draws")
      options.judge.draws = value;
    else
      return fail("there is no option {}", words[k - 1]);
  }
  return options;
}

}  // namespace
}  // namespace tritonsmith::corpora

int main(int argc, char** argv) {
  using namespace tritonsmith;
  const auto options = corpora::read_options({argv + 1, argv + argc});
  const auto code = options ? corpora::run(*options) : Result<int>(tl::unexpected(options.error()));
  if (code) return *code;
  std::cerr << "judge_corpus: " << code.error().message << "\n";
  return 2;
}
