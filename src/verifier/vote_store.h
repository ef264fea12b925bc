// VoteStore keeps the answers of a verifier's model by the content of the question. A question that
// has an answer is never asked again, neither by later calls nor by other programs that share the
// file. One thread calls a store.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "base/sqlite.h"
#include "data/completion.h"

namespace tritonsmith::verifier {

struct Vote {
  std::string text;  // the model's answer, whether it can be read or not
  Usage usage;
};

class VoteStore {
 public:
  // An empty path keeps the answers in memory.
  static Result<std::unique_ptr<VoteStore>> open(const std::filesystem::path& file);

  Result<std::optional<Vote>> find(const std::string& key) const;
  Status put(const std::string& key, const Vote& vote);

 private:
  explicit VoteStore(std::unique_ptr<Sqlite> database) : database_(std::move(database)) {}
  std::unique_ptr<Sqlite> database_;
};

}  // namespace tritonsmith::verifier
