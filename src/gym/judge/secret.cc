#include "gym/judge/secret.h"

#include <fcntl.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/file.h"

namespace tritonsmith::gym::judge {
namespace {

constexpr std::size_t kSecretBytes = 32;

}  // namespace

Result<std::string> fresh_secret() {
  std::string secret(kSecretBytes, '\0');
  if (::getrandom(secret.data(), secret.size(), 0) != static_cast<ssize_t>(secret.size()))
    return fail_errno("cannot draw a secret");
  return secret;
}

Result<std::string> load_or_make_secret(const std::filesystem::path& file) {
  if (file.has_parent_path()) TRY(make_directories(file.parent_path()));
  TRY_ASSIGN(const std::string fresh, fresh_secret());
  // The file appears complete or not at all, and never replaces another: it is written aside and
  // then linked into place.
  const std::string aside = fmt::format("{}.{}", file.string(), ::getpid());
  const Fd out(::open(aside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (!out) return fail_errno(aside);
  const bool written =
      ::write(out.get(), fresh.data(), fresh.size()) == static_cast<ssize_t>(fresh.size()) &&
      ::fsync(out.get()) == 0;
  if (written) static_cast<void>(::link(aside.c_str(), file.c_str()));
  ::unlink(aside.c_str());
  TRY_ASSIGN(std::string secret, read_file(file));
  if (secret.size() != kSecretBytes)
    return fail("{}: not a secret of {} bytes; remove it, and verdicts are drawn anew",
                file.string(), kSecretBytes);
  return secret;
}

}  // namespace tritonsmith::gym::judge
