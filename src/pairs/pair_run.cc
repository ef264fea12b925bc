#include "pairs/pair_run.h"

#include <optional>
#include <unordered_set>

#include "base/bounded_queue.h"
#include "base/file.h"
#include "base/hash.h"

namespace tritonsmith::pairs {
namespace {

using gym::api::Judged;

// A solution that a guest wrote, or did not write, of the task at this position.
struct Delivered {
  std::size_t task = 0;
  WrittenPair pair;
};

// A solution that the judge has.
struct Judging {
  WrittenPair pair;
  Json
      plain_row;  // the given text is judged, and this is what its plain form got, if it was refused
};

// The members of a row that say what the solution is.
Json members_of(const WrittenPair& pair) {
  Json members = {{"kernel", pair.kernel}};
  if (!pair.given.empty()) members["form"] = "plain";
  if (!pair.kept_because.empty())
    members.update({{"form", "given"}, {"kept_because", pair.kept_because}});
  return members;
}

// The name of a task in the files: a task under another id is the same one.
std::string key_of(const Task& task) { return content_key(task.source); }

Status note_keys(const std::filesystem::path& file, std::unordered_set<std::string>& keys) {
  std::error_code error;
  if (!std::filesystem::exists(file, error)) return ok();
  TRY_ASSIGN(const auto lines, read_lines(file));
  for (const std::string& line : lines) {
    const auto json = parse_json(line);
    if (json && json->is_object() && json->value("key", Json()).is_string())
      keys.insert((*json)["key"].get<std::string>());
  }
  return ok();
}

Json row_of(const Task& task, const Json& more) {
  Json row = {{"schema", 1}, {"task", task.id}, {"key", key_of(task)}, {"source", task.source}};
  if (task.origin) row["origin"] = to_json(*task.origin);
  row.update(more);
  return row;
}

class Run {
 public:
  Run(std::span<const Task> tasks, const PairOptions& options, const WritePair& write,
      gym::api::Judge* judge)
      : tasks_(tasks),
        options_(options),
        write_(write),
        judge_(judge),
        delivered_(std::make_shared<BoundedQueue<Delivered>>(options.in_flight + 1)) {}

  Result<PairCounts> run(const OnProgress& on_progress) {
    TRY(open_files());
    for (;;) {
      begin_more();
      if (writing_ + judging_.size() == 0) break;
      TRY(take_written());
      TRY(take_verdicts());
      on_progress(counts_);
    }
    return counts_;
  }

 private:
  Status open_files() {
    TRY(make_directories(options_.directory));
    TRY(open_file(failures_, "failures.jsonl"));
    if (judge_ == nullptr) return open_file(written_, "written.jsonl");
    TRY(open_file(accepted_, "pairs.jsonl"));
    return open_file(rejected_, "rejected.jsonl");
  }

  // Tasks that have a line in the file are done.
  Status open_file(std::optional<LineWriter>& file, const char* name) {
    TRY_ASSIGN(file, LineWriter::open(options_.directory / name));
    return note_keys(options_.directory / name, done_);
  }

  void begin_more() {
    while (next_ < tasks_.size() && writing_ + judging_.size() < options_.in_flight) {
      const std::size_t at = next_++;
      if (!done_.insert(key_of(tasks_[at])).second) {
        ++counts_.before;
        continue;
      }
      ++writing_;
      write_(tasks_[at].source, [queue = delivered_, at](WrittenPair pair) {
        (void)queue->push({.task = at, .pair = std::move(pair)}, Deadline::never());
      });
    }
  }

  // Waits for a solution only if no verdict is awaited.
  Status take_written() {
    while (writing_ > 0) {
      const auto wait = judging_.empty() ? Milliseconds(1000) : Milliseconds(0);
      auto delivered = delivered_->pop(Deadline::after(wait));
      if (!delivered) return ok();
      --writing_;
      if (delivered->pair.is_fault) return fail_by_fault("{}", delivered->pair.message);
      TRY(delivered->pair.kernel.empty() ? note_failure(*delivered) : submit(*delivered));
    }
    return ok();
  }

  Status note_failure(const Delivered& delivered) {
    ++counts_.failed;
    ++counts_.reasons[delivered.pair.reason];
    return failures_->append(
        to_line(row_of(tasks_[delivered.task],
                       {{"reason", delivered.pair.reason}, {"message", delivered.pair.message}})));
  }

  Status submit(Delivered& delivered) {
    const WrittenPair& pair = delivered.pair;
    if (!pair.given.empty()) ++counts_.plain;
    if (!pair.kept_because.empty()) ++counts_.kept[pair.kept_because];
    if (judge_ == nullptr) {
      ++counts_.written;
      return written_->append(to_line(row_of(tasks_[delivered.task], members_of(pair))));
    }
    return have_judged(delivered.task, {.pair = std::move(delivered.pair), .plain_row = {}});
  }

  Status have_judged(std::uint64_t id, Judging judging) {
    TRY(judge_->submit({.id = id,
                        .task = tasks_[id],
                        .kernel = judging.pair.kernel,
                        .policy = options_.policy,
                        .backend = options_.backend,
                        .trials = options_.trials}));
    judging_[id] = std::move(judging);
    return ok();
  }

  Status take_verdicts() {
    while (!judging_.empty()) {
      const auto wait = writing_ > 0 ? Milliseconds(20) : Milliseconds(1000);
      TRY_ASSIGN(auto judged, judge_->next(Deadline::after(wait)));
      if (!judged) return ok();
      TRY(note_verdict(*judged));
    }
    return ok();
  }

  Status note_verdict(const Judged& judged) {
    const Verdict& verdict = judged.verdict;
    Judging judging = std::move(judging_.extract(judged.id).mapped());
    if (verdict.fault == Fault::infrastructure)
      return fail_by_fault("the gym failed on a solution of {}: {}", verdict.task_id,
                           verdict.error ? verdict.error->message : "no reason given");
    Json row = row_of(tasks_[judged.id], members_of(judging.pair));
    row["verdict"] = to_json(verdict);
    if (verdict.accepted) return note_accepted(judging, row);
    if (!judging.pair.given.empty())  // perhaps the text as it was given is accepted
      return have_judged(judged.id, {.pair = {.kernel = std::move(judging.pair.given),
                                              .reason = {},
                                              .message = why_rejected(verdict),
                                              .kept_because = "not_accepted"},
                                     .plain_row = std::move(row)});
    ++counts_.rejected;
    const bool was_plain = judging.plain_row.is_object();
    ++counts_.reasons[was_plain ? judging.pair.message : why_rejected(verdict)];
    return rejected_->append(to_line(was_plain ? judging.plain_row : row));
  }

  Status note_accepted(const Judging& judging, const Json& row) {
    ++counts_.accepted;
    if (!judging.pair.given.empty()) ++counts_.plain_accepted;
    if (judging.plain_row.is_object()) ++counts_.kept["not_accepted"];
    return accepted_->append(to_line(row));
  }

  static std::string why_rejected(const Verdict& verdict) {
    if (verdict.error) return class_name(*verdict.error);
    for (const Finding& each : verdict.findings)
      if (each.severity == Severity::reject) return each.rule;
    return "not_accepted";
  }

  std::span<const Task> tasks_;
  const PairOptions& options_;
  const WritePair& write_;
  gym::api::Judge* judge_;
  // Shared: a callback may come after this run has failed.
  std::shared_ptr<BoundedQueue<Delivered>> delivered_;
  std::optional<LineWriter> accepted_, rejected_, failures_, written_;
  std::unordered_set<std::string> done_;
  std::map<std::uint64_t, Judging> judging_;  // by the task's position
  std::size_t next_ = 0, writing_ = 0;
  PairCounts counts_;
};

}  // namespace

Result<PairCounts> make_pairs(std::span<const Task> tasks, const PairOptions& options,
                              const WritePair& write, gym::api::Judge* judge,
                              const OnProgress& on_progress) {
  return Run(tasks, options, write, judge).run(on_progress);
}

}  // namespace tritonsmith::pairs
