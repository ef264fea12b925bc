#include "eval/judge_samples.h"

#include <algorithm>

#include "base/check.h"
#include "base/file.h"
#include "base/jsonl.h"
#include "base/log.h"
#include "base/utc_time.h"
#include "data/sample.h"
#include "eval/kept_options.h"
#include "eval/kernelbench_results.h"
#include "eval/metrics.h"
#include "gym/api/fault_streak.h"

namespace tritonsmith::eval {
namespace {

namespace fs = std::filesystem;

constexpr const char* kResults = "eval_results.json";

// The suite counts: other versions of KernelBench have other tasks of the same name.
Json what_decides(const JudgeSamplesOptions& options) {
  std::error_code missing;  // a suite need not be a folder
  const auto suite = fs::weakly_canonical(options.suite, missing);
  return {{"suite", missing ? options.suite : suite.string()},
          {"policy", name_of(options.policy)},
          {"backend", name_of(options.backend)},
          {"trials", options.trials}};
}

// A record has U+FFFD in place of bytes that are no UTF-8.
bool is_same(const std::string& recorded, const std::string& kernel) {
  return recorded == kernel || to_line(recorded) == to_line(kernel);
}

// One call. The index of a sample is the id of its job.
class FolderSession {
 public:
  FolderSession(std::span<const FolderSample> samples, const JudgeSamplesOptions& options,
                gym::api::Judge& judge)
      : samples_(samples),
        options_(options),
        judge_(judge),
        verdicts_(samples.size()),
        faults_(samples.size()),
        progress_("eval " + options.name, samples.size()) {}

  Result<JudgedSamples> run() {
    Stopwatch watch;
    TRY(make_directories(options_.directory));
    TRY(check_directory());
    TRY(keep_options(options_.directory, what_decides(options_)));
    TRY(read_finished());
    TRY_ASSIGN(auto records, LineWriter::open(records_file()));
    JudgedSamples judged{.gym = judge_missing(records)};
    TRY(records.sync());
    TRY(write_kernelbench_results());
    if (finished_ > 0) {
      judged.evaluation = evaluation(watch.seconds());
      TRY(write_file_atomic(options_.directory / "evaluation.json",
                            to_json(*judged.evaluation).dump(2) + "\n"));
    }
    judged.without_result = without_result();
    return judged;
  }

 private:
  fs::path records_file() const { return options_.directory / "samples.jsonl"; }

  // Results that KernelBench's own evaluation wrote must not be lost.
  Status check_directory() const {
    const fs::path results = options_.directory / kResults;
    if (!fs::exists(results) || fs::exists(options_.directory / "options.json")) return ok();
    return fail("{}: was written by another program; choose another directory", results.string());
  }

  // Keeps the records of samples that are as they were. A kill may have cut off the last line.
  Status read_finished() {
    if (!fs::exists(records_file())) return ok();
    std::map<std::pair<std::string, int>, std::size_t> known;
    for (std::size_t i = 0; i < samples_.size(); ++i)
      known[{samples_[i].task->id, samples_[i].name.sample}] = i;
    std::string kept;
    const auto take = [&](const JsonLine& line) -> Status {
      TRY_ASSIGN(Sample record, sample_from_json(line.json));
      const auto at = known.find({record.task_id, record.member});
      if (at == known.end() || !is_same(record.kernel, samples_[at->second].kernel)) return ok();
      kept += to_line(line.json) + '\n';
      finish(at->second, std::move(record.verdict));
      return ok();
    };
    TRY(for_each_json_line(records_file(), {.last_line = LastLine::may_be_cut_off}, take));
    progress_.count_from(finished_);
    return write_file_atomic(records_file(), kept);
  }

  Status judge_missing(LineWriter& records) {
    const auto missing = static_cast<int>(samples_.size() - finished_);
    gym::api::FaultStreak streak(std::clamp(missing, 1, gym::api::kFaultsInARow));
    for (std::size_t i = 0; i < samples_.size(); ++i) {
      if (verdicts_[i]) continue;
      TRY(judge_.submit({.id = i,
                         .task = *samples_[i].task,
                         .kernel = samples_[i].kernel,
                         .policy = options_.policy,
                         .backend = options_.backend,
                         .trials = options_.trials,
                         .baselines = options_.baselines}));
      TRY(take_all(Deadline::after(Milliseconds(0)), records, streak));
    }
    TRY(take_all(Deadline::never(), records, streak));
    return ok();
  }

  // Takes all verdicts that arrive by the deadline.
  Status take_all(Deadline deadline, LineWriter& records, gym::api::FaultStreak& streak) {
    for (;;) {
      TRY_ASSIGN(auto judged, judge_.next(deadline));
      if (!judged) return ok();
      CHECK(judged->id < samples_.size(), "no sample has the number {}", judged->id);
      if (judged->verdict.fault == Fault::infrastructure) {
        faults_[judged->id] =
            judged->verdict.error ? judged->verdict.error->message : "no reason given";
      } else {
        TRY(records.append(to_line(to_json(record_of(judged->id, judged->verdict)))));
        finish(judged->id, judged->verdict);
        progress_.advance_to(finished_, fmt::format("accepted {}", accepted_));
      }
      TRY(streak.take(judged->verdict));
    }
  }

  Sample record_of(std::size_t index, const Verdict& verdict) const {
    const FolderSample& sample = samples_[index];
    return {.group = sample.name.problem,
            .member = sample.name.sample,
            .task_id = sample.task->id,
            .kernel = sample.kernel,
            .verdict = verdict};
  }

  void finish(std::size_t index, Verdict verdict) {
    finished_ += verdicts_[index] ? 0 : 1;
    accepted_ += verdict.accepted ? 1 : 0;
    verdicts_[index] = std::move(verdict);
  }

  Status write_kernelbench_results() const {
    std::map<int, std::vector<ProblemVerdict>> levels;
    for (std::size_t i = 0; i < samples_.size(); ++i) {
      const SampleName& name = samples_[i].name;
      auto& level = levels[name.level];
      if (verdicts_[i] && has_result(*verdicts_[i]))
        level.push_back({name.problem, name.sample, &*verdicts_[i]});
    }
    std::error_code ignored;
    fs::remove(options_.directory / kResults, ignored);  // of an earlier call with one level
    for (const auto& [level, results] : levels) {
      const std::string file =
          levels.size() == 1 ? kResults : fmt::format("eval_results_level_{}.json", level);
      if (results.empty())
        fs::remove(options_.directory / file, ignored);
      else
        TRY(write_file_atomic(options_.directory / file, kernelbench_results(results)));
    }
    return ok();
  }

  Evaluation evaluation(double seconds) const {
    Evaluation evaluation{.name = options_.name,
                          .suite = options_.suite,
                          .model = options_.folder,
                          .policy = std::string(name_of(options_.policy)),
                          .seconds = seconds,
                          .parsed = 0};
    std::map<const Task*, std::size_t> indices;
    std::vector<TaskVerdicts> tasks;
    for (std::size_t i = 0; i < samples_.size(); ++i) {
      if (!verdicts_[i]) continue;
      const Task& task = *samples_[i].task;
      const auto [entry, is_new] = indices.emplace(&task, tasks.size());
      if (is_new) tasks.push_back(first_of(task));
      TaskVerdicts& verdicts = tasks[entry->second];
      verdicts.sampled.push_back({.verdicts = {*verdicts_[i]}, .tokens = {0}});
      for (const std::string& mark : marks_in(verdicts_[i]->findings))
        if (std::ranges::find(verdicts.marks, mark) == verdicts.marks.end())
          verdicts.marks.push_back(mark);
      evaluation.parsed += verdicts_[i]->stage >= Stage::parsed ? 1 : 0;
      evaluation.backend = name_of(verdicts_[i]->backend);
    }
    evaluation.program = options_.program;
    evaluation.date = utc_time();
    summarise(tasks, evaluation);
    return evaluation;
  }

  TaskVerdicts first_of(const Task& task) const {
    TaskVerdicts verdicts{.id = task.id, .level = level_of(task.id, task.family, task.suite)};
    if (const auto known = options_.marks.find(task.id); known != options_.marks.end())
      verdicts.marks = known->second;
    return verdicts;
  }

  std::vector<WithoutResult> without_result() const {
    std::vector<WithoutResult> all;
    for (std::size_t i = 0; i < samples_.size(); ++i) {
      WithoutResult one{.file = file_name(samples_[i].name)};
      if (!verdicts_[i]) {
        one.reason = faults_[i].empty() ? "it was not judged" : faults_[i];
        one.fault = Fault::infrastructure;
      } else if (has_result(*verdicts_[i])) {
        continue;
      } else {
        one.reason = verdicts_[i]->error->message;
      }
      all.push_back(std::move(one));
    }
    return all;
  }

  std::span<const FolderSample> samples_;
  const JudgeSamplesOptions& options_;
  gym::api::Judge& judge_;
  std::vector<std::optional<Verdict>> verdicts_;
  std::vector<std::string> faults_;  // why the gym gave no verdict
  std::size_t finished_ = 0;
  int accepted_ = 0;
  Progress progress_;
};

}  // namespace

Result<JudgedSamples> judge_samples(std::span<const FolderSample> samples,
                                    const JudgeSamplesOptions& options, gym::api::Judge& judge) {
  CHECK(!samples.empty(), "no samples to judge");
  return FolderSession(samples, options, judge).run();
}

}  // namespace tritonsmith::eval
