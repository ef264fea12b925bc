// VerdictStore: verdicts by the content they were reached from, in one SQLite file that several
// programs may share. The key covers all that decides a verdict: task, kernel, policy, comparison,
// backend, trials and versions. Infrastructure faults are never kept. One thread uses a store. A
// full disk is one clear error, and what was stored before stays.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "base/sqlite.h"
#include "gym/api/judge.h"

namespace tritonsmith::gym::judge {

// Raised whenever judging changes what verdicts say, so that older ones are not used again.
inline constexpr int kJudgingVersion = 17;

// What verdicts' keys say of the program and the machine.
struct JudgeVersions {
  std::string evaluate, replay;  // empty: not known; the latter also where there is no GPU
  const std::string& of(Backend backend) const {
    return backend == Backend::replay ? replay : evaluate;
  }
};
// What `automatic` means there.
Backend resolved(Backend backend, const JudgeVersions& versions);

// `versions`: torch's and triton's, the target chip; whatever of the machine decides.
std::string verdict_key(const api::JudgeJob& job, Backend backend, std::string_view versions);

class VerdictStore {
 public:
  // Makes the file and its folder where there are none. Write-ahead logging: a crash loses at most
  // the last verdicts.
  static Result<VerdictStore> open(const std::filesystem::path& file);
  // With from_store set.
  Result<std::optional<Verdict>> find(const std::string& key);
  // A CHECK against infrastructure faults; an equal key is replaced.
  Status put(const std::string& key, const Verdict& verdict);

 private:
  explicit VerdictStore(std::unique_ptr<Sqlite> database) : database_(std::move(database)) {}

  std::unique_ptr<Sqlite> database_;
};

}  // namespace tritonsmith::gym::judge
