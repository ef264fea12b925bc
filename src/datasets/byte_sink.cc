#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <cerrno>
#include <vector>

#include "base/fd.h"
#include "base/file.h"
#include "datasets/byte_stream.h"

namespace tritonsmith::datasets {
namespace {

namespace fs = std::filesystem;

// Writes beside the target. finish() renames, the destructor removes what was not finished.
class FileSink : public ByteSink {
 public:
  static Result<std::unique_ptr<FileSink>> make(const fs::path& file) {
    if (file.has_parent_path()) TRY(make_directories(file.parent_path()));
    const fs::path beside = file.string() + fmt::format(".new-{}", ::getpid());
    Fd fd(::open(beside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
    if (!fd) return fail_errno(fmt::format("cannot write {}", file.string()));
    return std::unique_ptr<FileSink>(new FileSink(std::move(fd), file, beside));
  }
  ~FileSink() override {
    if (!finished_) ::unlink(beside_.c_str());
  }

  Status write(std::string_view bytes) override {
    while (!bytes.empty()) {
      const ssize_t written = ::write(fd_.get(), bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) return fail_errno(fmt::format("cannot write {}", file_.string()));
      bytes.remove_prefix(static_cast<std::size_t>(written));
    }
    return ok();
  }

  Status finish() override {
    if (::fsync(fd_.get()) != 0 || ::rename(beside_.c_str(), file_.c_str()) != 0)
      return fail_errno(fmt::format("cannot write {}", file_.string()));
    finished_ = true;
    return ok();
  }

 private:
  FileSink(Fd fd, fs::path file, fs::path beside)
      : fd_(std::move(fd)), file_(std::move(file)), beside_(std::move(beside)) {}
  Fd fd_;
  fs::path file_, beside_;
  bool finished_ = false;
};

class GzipSink : public ByteSink {
 public:
  explicit GzipSink(std::unique_ptr<ByteSink> file)
      : file_(std::move(file)), packed_(kStreamPiece) {
    deflateInit2(&stream_, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  }
  GzipSink(const GzipSink&) = delete;
  GzipSink& operator=(const GzipSink&) = delete;
  ~GzipSink() override { deflateEnd(&stream_); }

  Status write(std::string_view bytes) override { return pack(bytes, Z_NO_FLUSH); }
  Status finish() override {
    TRY(pack({}, Z_FINISH));
    return file_->finish();
  }

 private:
  Status pack(std::string_view bytes, int flush) {
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    stream_.avail_in = static_cast<uInt>(bytes.size());
    do {
      stream_.next_out = reinterpret_cast<Bytef*>(packed_.data());
      stream_.avail_out = static_cast<uInt>(packed_.size());
      deflate(&stream_, flush);
      TRY(file_->write({packed_.data(), packed_.size() - stream_.avail_out}));
    } while (stream_.avail_out == 0);
    return ok();
  }

  std::unique_ptr<ByteSink> file_;
  std::vector<char> packed_;
  z_stream stream_ = {};
};

class ZstdSink : public ByteSink {
 public:
  explicit ZstdSink(std::unique_ptr<ByteSink> file)
      : file_(std::move(file)), packed_(kStreamPiece), stream_(ZSTD_createCStream()) {}
  ZstdSink(const ZstdSink&) = delete;
  ZstdSink& operator=(const ZstdSink&) = delete;
  ~ZstdSink() override { ZSTD_freeCStream(stream_); }

  Status write(std::string_view bytes) override { return pack(bytes, ZSTD_e_continue); }
  Status finish() override {
    TRY(pack({}, ZSTD_e_end));
    return file_->finish();
  }

 private:
  Status pack(std::string_view bytes, ZSTD_EndDirective how) {
    ZSTD_inBuffer in = {.src = bytes.data(), .size = bytes.size(), .pos = 0};
    std::size_t left = 0;
    do {
      ZSTD_outBuffer out = {.dst = packed_.data(), .size = packed_.size(), .pos = 0};
      left = ZSTD_compressStream2(stream_, &out, &in, how);
      if (ZSTD_isError(left) != 0) return fail("cannot pack: {}", ZSTD_getErrorName(left));
      TRY(file_->write({packed_.data(), out.pos}));
    } while (in.pos < in.size || (how == ZSTD_e_end && left > 0));
    return ok();
  }

  std::unique_ptr<ByteSink> file_;
  std::vector<char> packed_;
  ZSTD_CStream* stream_;
};

}  // namespace

Result<std::unique_ptr<ByteSink>> create_bytes(const fs::path& file) {
  TRY_ASSIGN(std::unique_ptr<ByteSink> sink, FileSink::make(file));
  if (file.extension() == ".gz") sink = std::make_unique<GzipSink>(std::move(sink));
  if (file.extension() == ".zst") sink = std::make_unique<ZstdSink>(std::move(sink));
  return sink;
}

}  // namespace tritonsmith::datasets
