// RunDirectory: everything a run leaves behind, and everything needed to go on with it:
//   config.toml        the resolved config          steps.jsonl    one line of numbers a step
//   samples.jsonl      each sample with its verdict events.out.tfevents.0.tritonsmith   the numbers
//   for TensorBoard checkpoints/       see checkpoint_store.h       judge.secret   what the judge's
//   draws are keyed by (mode 0600)
// One process holds a run at a time (a lock that dies with it). docs/records.md describes each file
// for readers.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "base/config.h"
#include "data/sample.h"
#include "data/step.h"
#include "train/record_file.h"

namespace tritonsmith::train {

// The lengths of the record files at a checkpoint.
struct RecordSizes {
  std::uint64_t steps = 0, samples = 0, events = 0;
  bool operator==(const RecordSizes&) const = default;
};

Json to_json(const RecordSizes& sizes);
Result<RecordSizes> record_sizes_from_json(const Json& json);

class RunDirectory {
 public:
  // Makes the directory, or reopens one that holds a run of the same config (`run.dir` itself may
  // differ, so that a run may be moved). One that never finished a step begins anew. Another
  // config, a foreign directory or another process in it: one line that says what to do.
  static Result<RunDirectory> open(const std::filesystem::path& path, const std::string& command,
                                   const Settings& config);
  RunDirectory(RunDirectory&&) noexcept;
  RunDirectory& operator=(RunDirectory&&) noexcept;
  ~RunDirectory();

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path checkpoints() const { return path_ / "checkpoints"; }

  // Cuts the records back to the checkpoint the run goes on from, and opens them. Once, before any
  // append.
  Status open_records(const RecordSizes& kept);
  Status append(const StepRecord& record);
  Status append(const Sample& sample);
  // All records are on the disk; their lengths.
  Result<RecordSizes> sync_records();

  // Keeps the data of the run (tasks.jsonl, examples.jsonl) beside its records. A run that goes on
  // must be given the same.
  Status keep_data(const std::string& name, std::string_view bytes) const;

 private:
  struct Records {
    RecordFile steps, samples, events;
  };
  RunDirectory(std::filesystem::path path, int lock_fd);
  std::filesystem::path path_;
  int lock_fd_ = -1;
  std::optional<Records> records_;
};

// 32 random bytes that the judge's draws are keyed by: made, with the directory, when first asked
// for and the same ever after. Asked for before the run is opened, as the judge is there first.
Result<std::string> judge_secret_of(const std::filesystem::path& run_directory);

}  // namespace tritonsmith::train
