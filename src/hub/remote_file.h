// RemoteFile: one file of a repository at one commit. The hub lists them over its API, and
// huggingface_hub keeps the list in the cache as trees/COMMIT.json. Both are foreign bytes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/json.h"

namespace tritonsmith::hub {

struct RemoteFile {
  std::string path;  // relative to the repository
  std::int64_t size = 0;
  std::string git_sha1;  // of git's blob: of the file, or of the pointer that stands for it (LFS)
  std::string sha256;    // of the content of a large file (LFS); empty for the others
  // The name of its content in the cache, and its checksum.
  const std::string& blob() const { return sha256.empty() ? git_sha1 : sha256; }
  bool operator==(const RemoteFile&) const = default;
};

// A page of the API's answer to .../tree/COMMIT. Folders are left out. Fails if a path leads out of
// its repository, or if a checksum is none.
Result<std::vector<RemoteFile>> files_from_api(const Json& page);

// The text of trees/COMMIT.json and back.
std::string tree_text(const std::vector<RemoteFile>& files);
Result<std::vector<RemoteFile>> files_from_tree(const Json& tree);

}  // namespace tritonsmith::hub
