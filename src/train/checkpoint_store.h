// CheckpointStore: the directory `checkpoints/` of a run. A checkpoint is written under a hidden
// name, synced, and renamed to step-N; the file `latest` then names it. Whenever the process dies,
// `latest` names a whole checkpoint. Of several ranks each writes its part under a name of its own,
// and the first joins them. Older ones go by policy, renamed away before they are removed.
// What is in a checkpoint is not known here.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <vector>

#include "base/config.h"

namespace tritonsmith::train {

struct CheckpointConfig {
  std::int64_t every = 100;  // steps; the last step always gets one. 0: no checkpoints at all
  std::int64_t keep_last = 2;
  std::int64_t keep_every = 0;  // 0: none beyond keep_last
  static Fields<CheckpointConfig> fields();
};

class CheckpointStore {
 public:
  // Removes what a killed process left half written or half removed.
  static Result<CheckpointStore> open(const std::filesystem::path& directory,
                                      const CheckpointConfig& config);
  // As the other ranks of a job see the first one's: nothing is touched.
  static CheckpointStore of_first_rank(std::filesystem::path directory,
                                       const CheckpointConfig& config) {
    return {std::move(directory), config};
  }

  // The step of the checkpoint to go on from; nothing in a run without any.
  Result<std::optional<std::int64_t>> latest() const { return latest_in(directory_); }
  // Likewise, where nothing may be touched.
  static Result<std::optional<std::int64_t>> latest_in(const std::filesystem::path& directory);
  std::filesystem::path path_of(std::int64_t step) const;
  // Without, a run leaves its records alone, and begins anew when it is called again.
  bool is_in_use() const { return config_.every > 0; }
  bool is_due(std::int64_t step) const { return config_.every > 0 && step % config_.every == 0; }

  // `write` fills the directory it is given.
  using Write = std::function<Status(const std::filesystem::path&)>;
  Status save(std::int64_t step, const Write& write) const;
  // The same in two: the part of one rank under its hidden name, synced; then, by the first, when
  // all have written theirs, what makes it the run's latest.
  struct Part {
    std::int64_t step = 0;
    int rank = 0;
  };
  Status write_part(const Part& part, const Write& write) const;
  Status publish(std::int64_t step, int ranks) const;

  // Which of these steps the policy gives up once `newest` was saved: later ones (someone pointed
  // `latest` back, and went another way), and all but the last few and the chosen multiples. Step 0
  // (the model the run began with) is always kept. Pure.
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
