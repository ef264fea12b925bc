#include "gym/sandbox/zygote.h"

#include <unistd.h>

#include <cstdlib>

#include "base/log.h"
#include "gym/sandbox/sandbox_root.h"

namespace tritonsmith::gym::sandbox {
namespace {

constexpr std::size_t kLastWordsBytes = 2048;
constexpr const char* kBoot =
    "import sys; sys.path.insert(0, sys.argv[1]); from tritonsmith_guest import zygote; "
    "zygote.main()";

std::vector<std::string> environment() {
  std::vector<std::string> list = {
      "PATH=/usr/bin:/bin", "LANG=C.UTF-8", "HOME=/tmp", "USER=guest", "LOGNAME=guest",
      // No thread pool may start, because a fork keeps only one thread.
      "OMP_NUM_THREADS=1", "OPENBLAS_NUM_THREADS=1", "MKL_NUM_THREADS=1", "NUMEXPR_NUM_THREADS=1",
      // Guests see a virtual GPU, never a real one.
      "CUDA_VISIBLE_DEVICES=", "TORCH_CPP_LOG_LEVEL=ERROR"};
  if (const char* path = std::getenv("LD_LIBRARY_PATH"))
    list.push_back(fmt::format("LD_LIBRARY_PATH={}", path));
  return list;
}

}  // namespace

Result<Zygote> Zygote::start(const ZygoteOptions& options, const GuestFiles& files) {
  TRY_ASSIGN(SocketPair control, make_socket_pair());
  TRY_ASSIGN(Pipe complaints, make_pipe());
  const std::string root = files.package_root().string();
  TRY_ASSIGN(Process process,
             Process::spawn({.argv = {options.python, "-I", "-B", "-c", kBoot, root},
                             .environment = environment(),
                             .fds = {{complaints.write.get(), 2}, {control.theirs.get(), 3}},
                             .namespaces = kZygoteNamespaces}));
  TRY(set_nonblocking(complaints.read));
  const bool own_namespaces = process.namespaces() != 0;
  Zygote zygote(std::move(process), std::move(control.ours), std::move(complaints.read));
  std::vector<std::string> packages = options.modules.packages;
  packages.push_back(root);
  zygote.writer_.add(to_line({{"jail_library", files.jail_library().string()},
                              {"no_driver", files.no_driver().string()},
                              {"packages", packages},
                              {"bytecode_folder", options.bytecode_directory},
                              {"data", options.data},
                              {"warm_module", options.modules.warm},
                              {"capture_module", options.modules.capture},
                              {"compile_module", options.modules.compiler},
                              {"own_namespaces", own_namespaces},
                              {"staging", files.staging().string()},
                              {"folders", files.folders().string()},
                              {"profiles", options.profiles}}));
  return zygote;
}

Zygote::Zygote(Process process, Fd control, Fd complaints)
    : process_(std::move(process)),
      control_(std::move(control)),
      complaints_(std::move(complaints)) {}

GuestId Zygote::fork(const ForkOrder& order, Fd comms, Fd out, Fd err) {
  std::vector<Fd> fds;
  fds.push_back(std::move(comms));
  fds.push_back(std::move(out));
  fds.push_back(std::move(err));
  writer_.add(to_line({{"order", "fork"},
                       {"id", ++last_id_},
                       {"role", order.role},
                       {"uid", order.uid},
                       {"tmp_bytes", order.tmp_bytes},
                       {"shared", order.shared}}),
              std::move(fds));
  return last_id_;
}

void Zygote::kill(GuestId id) { writer_.add(to_line({{"order", "kill"}, {"id", id}})); }

Result<std::vector<ZygoteEvent>> Zygote::exchange() {
  hear_complaints();
  std::vector<ZygoteEvent> events;
  const auto written = writer_.write_some(control_.get());
  const auto alive = reader_.read_some(control_.get());
  while (auto text = reader_.next()) {
    TRY_ASSIGN(const Json event, parse_json(*text));
    if (JsonReader(event).string("event", "") == "forked") continue;
    TRY_ASSIGN(ZygoteEvent understood, understand(event));
    events.push_back(std::move(understood));
  }
  if (!alive || !*alive || !written)
    return tl::unexpected<Error>(
        dead(alive ? "it closed its control socket" : alive.error().error.message));
  return events;
}

Result<ZygoteEvent> Zygote::understand(const Json& event) {
  JsonReader reader(event);
  const std::string kind = reader.string("event");
  if (kind == "failed") {
    last_words_.clear();  // a stack trace that ends in the same text
    return tl::unexpected<Error>(dead(reader.string("why")));
  }
  if (kind == "exited") {
    const GuestExited exited{
        .id = static_cast<GuestId>(reader.integer("id")),
        .status = exit_status_from_wait(static_cast<int>(reader.integer("status"))),
        .cpu_ms = reader.number("cpu_ms")};
    TRY(reader.status());
    return exited;
  }
  const std::string no_root = reader.string("no_sandbox_root");
  ZygoteReady ready{.python = reader.string("python"),
                    .torch = reader.string("torch"),
                    .triton = reader.string("triton"),
                    .warm_ms = reader.number("warm_ms")};
  TRY_WITHIN("the zygote's first word", reader.status());
  if (!no_root.empty()) TRACE("guests have no root of their own: {}", no_root);
  return ready;
}

void Zygote::hear_complaints() {
  char buffer[4096];
  ssize_t got = 0;
  while ((got = ::read(complaints_.get(), buffer, sizeof buffer)) > 0) {
    last_words_.append(buffer, static_cast<std::size_t>(got));
    if (last_words_.size() > kLastWordsBytes)
      last_words_.erase(0, last_words_.size() - kLastWordsBytes);
  }
}

Error Zygote::dead(std::string_view why) const {
  std::string_view words = last_words_;
  while (words.ends_with('\n')) words.remove_suffix(1);
  words.remove_prefix(words.rfind('\n') + 1);  // npos + 1 is 0, which keeps all of it
  return Error{words.empty()
                   ? fmt::format("the zygote failed: {}", why)
                   : fmt::format("the zygote failed: {}; its last words: {}", why, words)};
}

void Zygote::add_polls(std::vector<pollfd>& polls) const {
  const short writing = writer_.empty() ? 0 : POLLOUT;
  polls.push_back(
      {.fd = control_.get(), .events = static_cast<short>(POLLIN | writing), .revents = 0});
  polls.push_back({.fd = complaints_.get(), .events = POLLIN, .revents = 0});
}

}  // namespace tritonsmith::gym::sandbox
