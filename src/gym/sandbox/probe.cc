#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "gym/sandbox/jail.h"
#include "gym/sandbox/sandbox_root.h"

namespace tritonsmith::gym::sandbox {
namespace {

// Enters namespaces and a sandbox root as the zygote does. The calling process is the probe's own
// and never leaves them.
std::vector<JailLayer> enter_surroundings(const std::string& staging) {
  std::string no_namespaces, no_root = "needs namespaces";
  if (::unshare(static_cast<int>(kZygoteNamespaces)) != 0)
    no_namespaces = std::strerror(errno);
  else
    no_root = enter_sandbox_root({.staging = staging});
  return {{.name = "namespaces", .held = no_namespaces.empty(), .why = no_namespaces},
          {.name = "sandbox_root", .held = no_root.empty(), .why = no_root}};
}

// Writes one line for each layer: its name, a tab, and the reason why it did not hold.
void tell(const JailReport& report, int fd) {
  std::string text;
  for (const auto& layer : report.layers) text += layer.name + "\t" + layer.why + "\n";
  const char* at = text.data();
  for (std::size_t left = text.size(); left > 0;) {
    const ssize_t written = ::write(fd, at, left);
    if (written <= 0) return;
    at += written;
    left -= static_cast<std::size_t>(written);
  }
}

std::string drain(int fd) {
  std::string text;
  char buffer[512];
  for (ssize_t got = 0; (got = ::read(fd, buffer, sizeof buffer)) > 0;)
    text.append(buffer, static_cast<std::size_t>(got));
  return text;
}

JailReport heard(const std::string& text) {
  JailReport report;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    const std::size_t tab = text.find('\t', begin);
    if (end == std::string::npos || tab > end) break;
    JailLayer layer{.name = text.substr(begin, tab - begin),
                    .why = text.substr(tab + 1, end - tab - 1)};
    layer.held = layer.why.empty();
    report.layers.push_back(std::move(layer));
    begin = end + 1;
  }
  return report;
}

}  // namespace

JailReport probe_jail_layers() {
  constexpr unsigned kProbeUid = 57999;  // just below those that slots take
  int ends[2];
  JailReport nothing{.refusal = "cannot start a process to probe with"};
  std::string staging = "/tmp/tritonsmith-probe-XXXXXX";
  if (::mkdtemp(staging.data()) == nullptr || ::pipe(ends) != 0) return nothing;
  const pid_t child = ::fork();
  if (child == 0) {
    const JailProfile profile{.uid = ::geteuid() == 0 ? kProbeUid : 0,
                              .keep_fds = {ends[1]},
                              .outside = enter_surroundings(staging)};
    tell(enter_jail(profile), ends[1]);
    ::_exit(0);
  }
  ::close(ends[1]);
  const std::string text = child > 0 ? drain(ends[0]) : "";
  ::close(ends[0]);
  if (child > 0) ::waitpid(child, nullptr, 0);
  ::rmdir(staging.c_str());
  return child > 0 ? heard(text) : nothing;
}

}  // namespace tritonsmith::gym::sandbox
