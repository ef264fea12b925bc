// KernelFolder: compiled kernels in a folder on disk, bounded by bytes. Several processes may share
// the folder without talking to each other. Each of its 256 subfolders gets an equal part of the
// bytes. A process that adds a file looks at that subfolder only, and removes the files there that
// were used longest ago. A kernel whose file is gone is compiled again. One thread uses a
// KernelFolder.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "gym/compile/compile_request.h"

namespace tritonsmith::gym::compile {

class KernelFolder {
 public:
  // An empty path keeps nothing.
  KernelFolder(std::filesystem::path directory, std::uint64_t most_bytes)
      : directory_(std::move(directory)), part_bytes_(most_bytes / kParts) {}

  // Reads a kernel and marks its file as used. Damaged files are not believed.
  std::optional<CompiledKernel> find(const std::string& key) const;
  // Writes a kernel, unless it is larger than its part. After a failure, such as a full disk, this
  // object writes nothing more.
  void add(const std::string& key, const CompiledKernel& kernel);

 private:
  static constexpr std::uint64_t kParts = 256;  // one for each first byte of a key
  std::filesystem::path file_of(const std::string& key) const;

  std::filesystem::path directory_;
  std::uint64_t part_bytes_;
};

}  // namespace tritonsmith::gym::compile
