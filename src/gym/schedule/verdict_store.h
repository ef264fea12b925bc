// VerdictStore: verdicts by the content they were reached from, in one SQLite file that several
// programs may share. The key covers all that decides a verdict: task, kernel, policy, backend,
// trials and versions. Infrastructure faults are never kept. One thread uses a store. A full disk
// is one clear error, and what was stored before stays.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "base/error.h"
#include "gym/client/judge.h"

struct sqlite3;

namespace tritonsmith::gym {

// Raised whenever judging changes what verdicts say, so that older ones are not used again.
inline constexpr int kJudgingVersion = 2;

// `versions`: torch's and triton's, the target chip; whatever of the machine decides.
std::string verdict_key(const JudgeJob& job, Backend backend, std::string_view versions);

class VerdictStore {
 public:
  // Makes the file and its folder where there are none. Write-ahead logging: a crash loses at most
  // the last verdicts.
  static Result<VerdictStore> open(const std::filesystem::path& file);
  VerdictStore(VerdictStore&&) noexcept;
  VerdictStore& operator=(VerdictStore&&) noexcept;
  ~VerdictStore();

  // With from_store set.
  Result<std::optional<Verdict>> find(const std::string& key);
  // A CHECK against infrastructure faults; an equal key is replaced.
  Status put(const std::string& key, const Verdict& verdict);

 private:
  struct Close {
    void operator()(sqlite3* database) const;
  };
  VerdictStore(std::unique_ptr<sqlite3, Close> database, std::filesystem::path file);
  tl::unexpected<Error> failure(std::string_view doing) const;

  std::unique_ptr<sqlite3, Close> database_;
  std::filesystem::path file_;
};

}  // namespace tritonsmith::gym
