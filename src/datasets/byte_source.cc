#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <vector>

#include "base/fd.h"
#include "datasets/byte_stream.h"

namespace tritonsmith::datasets {
namespace {

class FileSource : public ByteSource {
 public:
  FileSource(Fd fd, std::string name) : fd_(std::move(fd)), name_(std::move(name)) {}

  Result<std::size_t> read(std::span<char> into) override {
    ssize_t got = 0;
    do got = ::read(fd_.get(), into.data(), into.size());
    while (got < 0 && errno == EINTR);
    if (got < 0) return fail_errno(fmt::format("cannot read {}", name_));
    return static_cast<std::size_t>(got);
  }

 private:
  Fd fd_;
  std::string name_;
};

// Both decoders share this: the packed bytes that were read and not yet unpacked.
class PackedSource : public ByteSource {
 public:
  PackedSource(FileSource file, std::string name)
      : file_(std::move(file)), name_(std::move(name)), packed_(kStreamPiece) {}

 protected:
  // Returns the packed bytes at hand. Nothing: the file has ended.
  Result<std::span<char>> packed() {
    if (begin_ == end_ && !ended_) {
      begin_ = 0;
      TRY_ASSIGN(end_, file_.read(packed_));
      ended_ = end_ == 0;
    }
    return std::span<char>(packed_).subspan(begin_, end_ - begin_);
  }
  void used(std::size_t bytes) { begin_ += bytes; }
  tl::unexpected<Error> damaged(std::string_view why) const {
    return fail("{}: its packed content is damaged ({}); fetch the file again", name_, why);
  }
  tl::unexpected<Error> cut() const {
    return fail("{}: its packed content is cut off; fetch the file again", name_);
  }

 private:
  FileSource file_;
  std::string name_;
  std::vector<char> packed_;
  std::size_t begin_ = 0, end_ = 0;
  bool ended_ = false;
};

class GzipSource : public PackedSource {
 public:
  GzipSource(FileSource file, std::string name) : PackedSource(std::move(file), std::move(name)) {
    inflateInit2(&stream_, 15 + 16);  // a gzip header is demanded
  }
  GzipSource(const GzipSource&) = delete;
  GzipSource& operator=(const GzipSource&) = delete;
  ~GzipSource() override { inflateEnd(&stream_); }

  Result<std::size_t> read(std::span<char> into) override {
    for (;;) {
      TRY_ASSIGN(const auto bytes, packed());
      if (bytes.empty()) {
        if (in_member_) return cut();
        return std::size_t{0};
      }
      if (!in_member_) inflateReset(&stream_);  // a file may hold several members
      in_member_ = true;
      stream_.next_in = reinterpret_cast<Bytef*>(bytes.data());
      stream_.avail_in = static_cast<uInt>(bytes.size());
      stream_.next_out = reinterpret_cast<Bytef*>(into.data());
      stream_.avail_out = static_cast<uInt>(std::min<std::size_t>(into.size(), 1U << 30));
      const uInt room = stream_.avail_out;
      const int status = inflate(&stream_, Z_NO_FLUSH);
      used(bytes.size() - stream_.avail_in);
      if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR)
        return damaged(stream_.msg != nullptr ? stream_.msg : "gzip");
      if (status == Z_STREAM_END) in_member_ = false;
      if (stream_.avail_out < room) return std::size_t{room - stream_.avail_out};
    }
  }

 private:
  z_stream stream_ = {};
  bool in_member_ = false;
};

class ZstdSource : public PackedSource {
 public:
  ZstdSource(FileSource file, std::string name)
      : PackedSource(std::move(file), std::move(name)), stream_(ZSTD_createDStream()) {}
  ZstdSource(const ZstdSource&) = delete;
  ZstdSource& operator=(const ZstdSource&) = delete;
  ~ZstdSource() override { ZSTD_freeDStream(stream_); }

  Result<std::size_t> read(std::span<char> into) override {
    for (;;) {
      TRY_ASSIGN(const auto bytes, packed());
      if (bytes.empty() && !in_frame_) return std::size_t{0};
      ZSTD_inBuffer in = {.src = bytes.data(), .size = bytes.size(), .pos = 0};
      ZSTD_outBuffer out = {.dst = into.data(), .size = into.size(), .pos = 0};
      const std::size_t status = ZSTD_decompressStream(stream_, &out, &in);
      if (ZSTD_isError(status) != 0) return damaged(ZSTD_getErrorName(status));
      used(in.pos);
      in_frame_ = status != 0;
      if (out.pos > 0) return out.pos;
      if (bytes.empty() && in_frame_) return cut();
    }
  }

 private:
  ZSTD_DStream* stream_;
  bool in_frame_ = false;
};

}  // namespace

Result<std::unique_ptr<ByteSource>> open_bytes(const std::filesystem::path& file) {
  const std::string name = file.string();
  std::error_code error;
  if (std::filesystem::is_directory(file, error))
    return fail("{} is a directory, not a file", name);
  TRY_ASSIGN(Fd fd, open_fd(file, O_RDONLY));
  std::array<unsigned char, 4> head = {};
  const ssize_t got = ::pread(fd.get(), head.data(), head.size(), 0);
  FileSource plain(std::move(fd), name);
  constexpr std::array<unsigned char, 4> kZstd = {0x28, 0xB5, 0x2F, 0xFD};
  std::unique_ptr<ByteSource> source;
  if (got >= 2 && head[0] == 0x1F && head[1] == 0x8B)
    source = std::make_unique<GzipSource>(std::move(plain), name);
  else if (got == 4 && head == kZstd)
    source = std::make_unique<ZstdSource>(std::move(plain), name);
  else
    source = std::make_unique<FileSource>(std::move(plain));
  return source;
}

}  // namespace tritonsmith::datasets
