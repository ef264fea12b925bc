// CacheLayout: where things lie in the hub's cache, in huggingface_hub's layout:
//   models--OWNER--NAME/refs/main                 the commit that a branch or tag stands for
//   models--OWNER--NAME/snapshots/COMMIT/PATH     a link to the content
//   models--OWNER--NAME/blobs/CHECKSUM            the content
//   models--OWNER--NAME/trees/COMMIT.json         the list of the commit's files
//   .locks/models--OWNER--NAME/CHECKSUM.lock
#pragma once

#include <filesystem>
#include <optional>

#include "hub/hub_name.h"
#include "hub/remote_file.h"

namespace tritonsmith::hub {

class CacheLayout {
 public:
  CacheLayout(std::filesystem::path cache, RepositoryKind kind, const HubName& name);

  std::filesystem::path snapshot(const std::string& commit) const;
  std::filesystem::path blob(const RemoteFile& file) const;
  std::filesystem::path lock(const RemoteFile& file) const;

  // The commit that the revision stood for when it was last looked up.
  std::optional<std::string> commit_of(const std::string& revision) const;
  Status keep_commit(const std::string& revision, const std::string& commit) const;

  std::optional<std::vector<RemoteFile>> tree(const std::string& commit) const;
  Status keep_tree(const std::string& commit, const std::vector<RemoteFile>& files) const;
  // The files of a snapshot whose list nobody kept. Their sizes and checksums are unknown. Files of
  // a numbered series that are missing ("train-00001-of-00003.parquet") are among them.
  std::vector<RemoteFile> files_there(const std::string& commit) const;

  bool has(const std::string& commit, const std::string& path) const;
  // Makes the snapshot's link to a blob that is there.
  Status link(const std::string& commit, const RemoteFile& file) const;

 private:
  RepositoryKind kind_;
  std::filesystem::path repository_, locks_;
};

}  // namespace tritonsmith::hub
