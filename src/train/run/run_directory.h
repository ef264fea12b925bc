// RunDirectory: the files of a run, from which it can be resumed:
//   config.toml    the resolved config
//   steps.jsonl    one line of numbers a step; the same for TensorBoard in events.out.tfevents.*
//   samples.jsonl  each sample with its verdict
//   calls.jsonl    one line for each call that trained: when, and by which program
//   checkpoints/   see checkpoint_store.h
// The judge also keeps its secret and its verdicts there. One process holds a run at a time, by a
// lock that ends with the process. docs/records.md describes each file.
#pragma once

#include <deque>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "base/config.h"
#include "data/sample.h"
#include "data/step.h"
#include "train/run/record_file.h"

namespace tritonsmith::train {

// The lengths of the record files at a checkpoint, in bytes.
struct RecordSizes {
  std::uint64_t steps = 0, samples = 0, events = 0;
  bool operator==(const RecordSizes&) const = default;
};

Json to_json(const RecordSizes& sizes);
Result<RecordSizes> record_sizes_from_json(const Json& json);

class RunDirectory {
 public:
  // Makes the directory, or opens one with a run of the same config. `run.dir` may differ, so that
  // a run can be moved, and so may the judge. A run of another config that has not finished a step
  // is replaced, so that a wrong config can be corrected. Other cases fail with one line that says
  // what to do: another config, a foreign directory, or a second process.
  static Result<RunDirectory> open(const std::filesystem::path& path, const std::string& command,
                                   const Settings& config);
  // Tells whether open() would resume a run. Fails if open() would fail. Writes nothing.
  static Result<bool> would_go_on(const std::filesystem::path& path, const std::string& command,
                                  const Settings& config);
  // The first rank's directory as another rank sees it. Nothing is locked or written.
  static RunDirectory of_first_rank(std::filesystem::path path);
  RunDirectory(RunDirectory&&) noexcept;
  RunDirectory& operator=(RunDirectory&&) noexcept;
  ~RunDirectory();

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path checkpoints() const { return path_ / "checkpoints"; }

  // Cuts the records back to the checkpoint from which the run resumes, and opens them. A second
  // call aborts, and so does any use of the records before this one.
  Status open_records(const RecordSizes& kept);
  Status append(const StepRecord& record);
  Status append(const Sample& sample);
  // For TensorBoard alone: a text under a name, Markdown.
  Status append_text(std::int64_t step, const std::string& name, std::string_view markdown);
  // One more line of calls.jsonl: this call goes on after `step`.
  Status append_call(const std::string& command, const std::string& program,
                     std::int64_t step) const;
  // The numbers of the last `count` steps in the records, oldest first.
  Result<std::deque<Metrics>> last_steps(std::size_t count) const;
  // All records are on the disk; their lengths.
  Result<RecordSizes> sync_records();

  // Stores the run's data (tasks.jsonl, examples.jsonl, references.jsonl) beside its records. A run
  // that has finished a step must get the same data when it resumes.
  Status keep_data(const std::string& name, std::string_view bytes) const;

 private:
  struct Records {
    RecordFile steps, samples, events;
  };
  RunDirectory(std::filesystem::path path, int lock_fd);
  bool is_ours() const { return lock_fd_ >= 0; }
  std::filesystem::path path_;
  int lock_fd_ = -1;  // none: the first rank writes
  std::optional<Records> records_;
};

}  // namespace tritonsmith::train
