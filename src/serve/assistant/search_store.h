// SearchStore: all searches and their attempts, in one SQLite file, so that history and links
// outlive the server. Any thread may call it.
#pragma once

#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>

#include "base/sqlite.h"
#include "serve/assistant/search_order.h"

namespace tritonsmith::serve::assistant {

// stopped: its owner stopped it, or went away. failed: the model or the judge broke.
enum class SearchState { queued, running, done, stopped, failed };

// The next server goes on with a search that belongs to its history, and stops one that its client
// waited for.
enum class SearchLife { in_history, with_client };

struct SearchRecord {
  std::string id;
  std::string owner;  // the name of the token that ordered it; empty: everybody's
  std::int64_t created_ms = 0;
  SearchState state = SearchState::queued;
  std::string error;  // why it failed or stopped
  std::string why;    // why a search is done: "16 attempts were made"
  double seconds = 0;
  SearchLife life = SearchLife::in_history;
  SearchOrder order;
  int attempts = 0;
  int kernels = 0, accepted = 0;  // equal kernels count once
  int without_kernel = 0;         // answers
  int best = -1;                  // the number of the best accepted attempt
  std::optional<double> best_speedup;
};

// The record without the sources if `brief`.
enum class Detail { brief, whole };
Json to_json(const SearchRecord& record, Detail detail);

class SearchStore {
 public:
  static Result<std::unique_ptr<SearchStore>> open(const std::filesystem::path& file);

  Status put(const SearchRecord& record);
  Status add_attempt(const std::string& search, int number, const Json& attempt);
  // The events with which a search continues after a kill (search/search_log.h).
  Status add_event(const std::string& search, const Json& event);
  Result<std::vector<Json>> events(const std::string& search) const;
  // Queued and running searches, the oldest first.
  Result<std::vector<SearchRecord>> unfinished() const;
  Result<std::optional<SearchRecord>> find(const std::string& id) const;
  // The newest first, without sources.
  Result<std::vector<SearchRecord>> list(const std::string& owner, int limit) const;
  // From number `from` on.
  Result<Json> attempts(const std::string& search, int from) const;

 private:
  explicit SearchStore(std::unique_ptr<Sqlite> database) : database_(std::move(database)) {}
  mutable std::mutex mutex_;
  std::unique_ptr<Sqlite> database_;
};

}  // namespace tritonsmith::serve::assistant

template <>
inline constexpr auto tritonsmith::enum_names<tritonsmith::serve::assistant::SearchLife> =
    tritonsmith::names<tritonsmith::serve::assistant::SearchLife>(
        {{tritonsmith::serve::assistant::SearchLife::in_history, "in_history"},
         {tritonsmith::serve::assistant::SearchLife::with_client, "with_client"}});
template <>
inline constexpr auto tritonsmith::enum_names<tritonsmith::serve::assistant::SearchState> =
    tritonsmith::names<tritonsmith::serve::assistant::SearchState>(
        {{tritonsmith::serve::assistant::SearchState::queued, "queued"},
         {tritonsmith::serve::assistant::SearchState::running, "running"},
         {tritonsmith::serve::assistant::SearchState::done, "done"},
         {tritonsmith::serve::assistant::SearchState::stopped, "stopped"},
         {tritonsmith::serve::assistant::SearchState::failed, "failed"}});
