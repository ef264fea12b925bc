#include "hub/blob_file.h"

#include <fcntl.h>
#include <openssl/evp.h>
#include <unistd.h>

#include <array>

#include "base/check.h"

namespace tritonsmith::hub {

namespace fs = std::filesystem;

// SHA-256 of a large file's content, or SHA-1 as git names its blobs: of "blob SIZE\0" and the
// content.
class BlobFile::Checksum {
 public:
  explicit Checksum(const RemoteFile& file) : context_(EVP_MD_CTX_new()) {
    const bool is_git = file.sha256.empty();
    const int begun =
        EVP_DigestInit_ex(context_.get(), is_git ? EVP_sha1() : EVP_sha256(), nullptr);
    CHECK(begun == 1, "a checksum cannot begin");
    if (is_git) add(fmt::format("blob {}", file.size) + '\0');
  }
  void add(std::string_view bytes) {
    const int added = EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size());
    CHECK(added == 1, "a checksum cannot go on");
  }
  std::string hex() {
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest = {};
    unsigned size = 0;
    const int ended = EVP_DigestFinal_ex(context_.get(), digest.data(), &size);
    CHECK(ended == 1, "a checksum cannot end");
    std::string text;
    for (unsigned i = 0; i < size; ++i) text += fmt::format("{:02x}", digest[i]);
    return text;
  }

 private:
  struct Free {
    void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
  };
  std::unique_ptr<EVP_MD_CTX, Free> context_;
};

Result<BlobFile> BlobFile::open(const fs::path& target, const RemoteFile& file) {
  fs::path name = target;
  name += ".incomplete";
  constexpr int kMode = 0666;  // less the umask, as huggingface_hub makes blobs
  Fd fd(::open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, kMode));
  if (!fd) return fail_errno(name.string());
  BlobFile blob(std::move(fd), target, file);
  TRY(blob.read_what_is_there());
  return blob;
}

BlobFile::BlobFile(Fd fd, fs::path target, RemoteFile file)
    : fd_(std::move(fd)),
      target_(std::move(target)),
      file_(std::move(file)),
      checksum_(std::make_unique<Checksum>(file_)) {}
BlobFile::BlobFile(BlobFile&&) noexcept = default;
BlobFile::~BlobFile() = default;

fs::path BlobFile::incomplete() const {
  fs::path name = target_;
  name += ".incomplete";
  return name;
}

Status BlobFile::read_what_is_there() {
  std::vector<char> piece(std::size_t{1} << 20);
  for (;;) {
    const ssize_t count = ::read(fd_.get(), piece.data(), piece.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return fail_errno(incomplete().string());
    if (count == 0) break;
    checksum_->add({piece.data(), static_cast<std::size_t>(count)});
    size_ += count;
  }
  return size_ > file_.size ? restart() : ok();
}

Status BlobFile::append(std::string_view bytes) {
  if (size_ + static_cast<std::int64_t>(bytes.size()) > file_.size)
    return fail("{}: the server sends more than its {} bytes", file_.path, file_.size);
  checksum_->add(bytes);
  while (!bytes.empty()) {
    const ssize_t count = ::write(fd_.get(), bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return fail_errno(incomplete().string());
    size_ += count;
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return ok();
}

Status BlobFile::restart() {
  if (::ftruncate(fd_.get(), 0) != 0 || ::lseek(fd_.get(), 0, SEEK_SET) != 0)
    return fail_errno(incomplete().string());
  size_ = 0;
  checksum_ = std::make_unique<Checksum>(file_);
  return ok();
}

Status BlobFile::finish() {
  CHECK(is_whole(), "{} has {} of {} bytes", file_.path, size_, file_.size);
  if (const std::string found = checksum_->hex(); found != file_.blob()) {
    ::unlink(incomplete().c_str());
    return fail("{}: its checksum is {}, but the hub's list says {}", file_.path, found,
                file_.blob());
  }
  if (::fsync(fd_.get()) != 0 || ::rename(incomplete().c_str(), target_.c_str()) != 0)
    return fail_errno(target_.string());
  return ok();
}

}  // namespace tritonsmith::hub
