// VerdictStore: verdicts by the content of their jobs, in one SQLite file that several programs may
// share. The key covers everything that decides a verdict: task, kernel, policy, comparison,
// backend, trials and versions. Infrastructure faults are never kept. One thread uses a store. If
// the disk is full, calls fail with one clear error, and earlier verdicts stay.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "base/sqlite.h"
#include "gym/api/judge.h"

namespace tritonsmith::gym::judge {

// Raise this number whenever judging changes what verdicts say, so that older ones are not reused.
inline constexpr int kJudgingVersion = 18;

// The parts of a verdict's key that name the program and the machine.
struct JudgeVersions {
  std::string evaluate, replay;  // empty: unknown; `replay` is also empty without a GPU
  const std::string& of(Backend backend) const {
    return backend == Backend::replay ? replay : evaluate;
  }
};
// Returns the backend that `automatic` means with these versions.
Backend resolved(Backend backend, const JudgeVersions& versions);

// `versions` names PyTorch's and Triton's version, the target chip, and other facts that decide.
std::string verdict_key(const api::JudgeJob& job, Backend backend, std::string_view versions);

class VerdictStore {
 public:
  // Makes the file and its folder if they are missing. With write-ahead logging, a crash loses at
  // most the last verdicts.
  static Result<VerdictStore> open(const std::filesystem::path& file);
  // Returns a verdict with from_store set, or nothing.
  Result<std::optional<Verdict>> find(const std::string& key);
  // Replaces the verdict of an equal key. CHECKs that the verdict is no infrastructure fault.
  // `gpu`: the UUID of the GPU that ran its plan, if one did.
  Status put(const std::string& key, const Verdict& verdict, const std::string& gpu = "");
  // Forgets all verdicts for which this GPU ran a plan.
  Status forget(const std::string& gpu);

 private:
  explicit VerdictStore(std::unique_ptr<Sqlite> database) : database_(std::move(database)) {}

  std::unique_ptr<Sqlite> database_;
};

}  // namespace tritonsmith::gym::judge
