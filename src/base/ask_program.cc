#include "base/ask_program.h"

#include <sys/mman.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/process.h"

namespace tritonsmith {
namespace {

// Files in memory take questions and answers of any size, so nobody waits for a full pipe.
Result<Fd> memory_file(std::string_view content) {
  Fd fd(::memfd_create("question", MFD_CLOEXEC));
  if (!fd) return fail_errno("cannot make a file in memory");
  while (!content.empty()) {
    const ssize_t wrote = ::write(fd.get(), content.data(), content.size());
    if (wrote <= 0) return fail_errno("cannot write to a file in memory");
    content.remove_prefix(static_cast<std::size_t>(wrote));
  }
  if (::lseek(fd.get(), 0, SEEK_SET) != 0) return fail_errno("lseek");
  return fd;
}

Result<std::string> content_of(const Fd& fd) {
  std::string content;
  char buffer[4096];
  for (off_t at = 0;;) {
    const ssize_t got = ::pread(fd.get(), buffer, sizeof buffer, at);
    if (got < 0) return fail_errno("cannot read what the program wrote");
    if (got == 0) return content;
    content.append(buffer, static_cast<std::size_t>(got));
    at += got;
  }
}

}  // namespace

Result<Json> ask_program(const std::vector<std::string>& argv, const Json& question,
                         Deadline deadline) {
  TRY_ASSIGN(const Fd input, memory_file(question.dump()));
  TRY_ASSIGN(const Fd output, memory_file(""));
  TRY_ASSIGN(Process program, Process::spawn({.argv = argv,
                                              .environment = {"LC_ALL=C.UTF-8"},
                                              .fds = {{.ours = input.get(), .theirs = 0},
                                                      {.ours = output.get(), .theirs = 1}}}));
  TRY_ASSIGN(const ExitStatus status, program.wait(deadline));
  if (!status.success()) return fail("{} {}", argv.front(), describe(status));
  TRY_ASSIGN(const std::string answer, content_of(output));
  return parse_json(answer);
}

}  // namespace tritonsmith
