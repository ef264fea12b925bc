// BlobFile: the content of one file of a repository while it arrives, under a name that ends with
// .incomplete. What an earlier process left there counts. The file gets its own name only when its
// size and its checksum are right. One thread owns it, and holds the blob's lock (cache_lock.h).
#pragma once

#include <filesystem>
#include <memory>
#include <string_view>

#include "base/fd.h"
#include "hub/remote_file.h"

namespace tritonsmith::hub {

class BlobFile {
 public:
  // `target` is the name that the whole file will have.
  static Result<BlobFile> open(const std::filesystem::path& target, const RemoteFile& file);
  BlobFile(BlobFile&&) noexcept;
  ~BlobFile();

  std::int64_t size() const { return size_; }
  bool is_whole() const { return size_ == file_.size; }
  Status append(std::string_view bytes);
  // Forgets what is there.
  Status restart();
  // Fails if the checksum is wrong. The bytes are then gone, because none of them can be trusted.
  Status finish();

 private:
  class Checksum;
  BlobFile(Fd fd, std::filesystem::path target, RemoteFile file);
  std::filesystem::path incomplete() const;
  Status read_what_is_there();

  Fd fd_;
  std::filesystem::path target_;
  RemoteFile file_;
  std::int64_t size_ = 0;
  std::unique_ptr<Checksum> checksum_;
};

}  // namespace tritonsmith::hub
