// Repository: a model or data set of the hub at one commit, in the cache that all programs of the
// user share. It knows the names of all files, and fetches those that somebody needs.
//
// Without a network it goes on with what the cache has: the commit that the revision stood for when
// it was last looked up. One thread uses a repository. Several processes may fetch the same files.
#pragma once

#include <memory>

#include "hub/cache_layout.h"
#include "hub/hub_settings.h"

namespace tritonsmith::hub {

class Repository {
 public:
  // Fails in one line: a name that the hub does not have, a gated one, a token that it refuses, and
  // a hub that cannot be reached while the cache has nothing.
  static Result<Repository> open(const HubSettings& settings, RepositoryKind kind,
                                 const HubName& name);

  const std::string& id() const { return name_.id; }
  const std::string& commit() const { return commit_; }
  // Holds the files that were fetched, each under its path.
  std::filesystem::path folder() const { return layout_.snapshot(commit_); }
  const std::vector<RemoteFile>& files() const { return files_; }
  bool has(const std::string& path) const { return find(path) != nullptr; }

  // Fetches those of the files that the cache lacks, several at a time, and shows the progress.
  Status fetch(const std::vector<std::string>& paths) const;

 private:
  Repository(const HubSettings& settings, RepositoryKind kind, const HubName& name)
      : settings_(settings), kind_(kind), name_(name), layout_(settings.cache, kind, name) {}
  class Fetching;
  Status look_up();
  Status use_cache();
  std::string api_path(std::string_view what, std::string_view revision) const;
  std::string file_path(const RemoteFile& file) const;
  const RemoteFile* find(const std::string& path) const;
  Result<std::vector<RemoteFile>> missing_of(const std::vector<std::string>& paths) const;
  Status check_space(const std::vector<RemoteFile>& missing) const;

  HubSettings settings_;
  RepositoryKind kind_;
  HubName name_;
  CacheLayout layout_;
  std::string commit_;
  std::vector<RemoteFile> files_;  // by path
  std::string unreachable_;        // why the network cannot be used; empty: it can
};

}  // namespace tritonsmith::hub
