// Reads and writes files that may exceed the memory. They are read in pieces, and written in pieces
// under a hidden name until they are whole. A source unpacks gzip and zstd, which it knows by their
// first bytes. A sink packs when the file's name ends with .gz or .zst. One thread uses one stream.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string_view>

#include "base/error.h"

namespace tritonsmith::datasets {

inline constexpr std::size_t kStreamPiece = std::size_t{1} << 18;

class ByteSource {
 public:
  virtual ~ByteSource() = default;
  // Fills `into` from its beginning and returns how many bytes there were; 0 is the end. Fails if
  // the file cannot be read, or if its packed content is damaged or cut off.
  virtual Result<std::size_t> read(std::span<char> into) = 0;
};

Result<std::unique_ptr<ByteSource>> open_bytes(const std::filesystem::path& file);

class ByteSink {
 public:
  // A sink that is destroyed before finish() leaves no file behind.
  virtual ~ByteSink() = default;
  virtual Status write(std::string_view bytes) = 0;
  // Syncs the file and gives it its name.
  virtual Status finish() = 0;
};

Result<std::unique_ptr<ByteSink>> create_bytes(const std::filesystem::path& file);

}  // namespace tritonsmith::datasets
