// CheckpointStore: the directory `checkpoints/` of a run. A checkpoint is written under a hidden
// name, synced, and renamed to step-N. The file `latest` then names it. Whenever the process dies,
// `latest` names a complete checkpoint. Each of several ranks writes its part under its own name,
// and the first rank joins the parts. The policy removes older checkpoints, which are renamed
// first. The store does not know the contents of a checkpoint.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <vector>

#include "base/config.h"

namespace tritonsmith::train {

struct CheckpointConfig {
  std::int64_t every = 100;  // steps; the last step always gets a checkpoint. 0: no checkpoints
  std::int64_t keep_last = 2;
  std::int64_t keep_every = 0;  // also keep multiples of this step; 0: none
  static Fields<CheckpointConfig> fields();
};

class CheckpointStore {
 public:
  // Opens the directory and removes checkpoints that a killed process left incomplete.
  static Result<CheckpointStore> open(const std::filesystem::path& directory,
                                      const CheckpointConfig& config);
  // The first rank's store as another rank sees it. Nothing is changed on opening.
  static CheckpointStore of_first_rank(std::filesystem::path directory,
                                       const CheckpointConfig& config) {
    return {std::move(directory), config};
  }

  // Returns the step of the checkpoint to resume from, or nothing if there is none.
  Result<std::optional<std::int64_t>> latest() const { return latest_in(directory_); }
  // The same without an open store. It changes nothing.
  static Result<std::optional<std::int64_t>> latest_in(const std::filesystem::path& directory);
  std::filesystem::path path_of(std::int64_t step) const;
  // If not in use, a run writes its records only, and starts anew when it is called again.
  bool is_in_use() const { return config_.every > 0; }
  bool is_due(std::int64_t step) const { return config_.every > 0 && step % config_.every == 0; }

  // Fills the given directory.
  using Write = std::function<Status(const std::filesystem::path&)>;
  Status save(std::int64_t step, const Write& write) const;
  // save() in two steps. write_part writes the part of one rank under its hidden name and syncs it.
  // When all ranks have written theirs, the first rank calls publish, which makes the checkpoint
  // the latest.
  struct Part {
    std::int64_t step = 0;
    int rank = 0;
  };
  Status write_part(const Part& part, const Write& write) const;
  Status publish(std::int64_t step, int ranks) const;

  // Returns the steps that the policy removes after `newest` was saved. These are later steps,
  // which exist if `latest` was set back by hand, and all but the last few and the multiples of
  // keep_every. Step 0 (the initial model) is always kept. This function is pure.
  std::vector<std::int64_t> to_remove(std::vector<std::int64_t> steps, std::int64_t newest) const;

 private:
  CheckpointStore(std::filesystem::path directory, const CheckpointConfig& config)
      : directory_(std::move(directory)), config_(config) {}
  std::filesystem::path hidden(const Part& part) const;
  Result<std::vector<std::int64_t>> steps() const;
  Status prune(std::int64_t newest) const;
  std::filesystem::path directory_;
  CheckpointConfig config_;
};

}  // namespace tritonsmith::train
