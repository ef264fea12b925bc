// Zygote: the C++ end of the warm Python process that forks guests. gym/guest/zygote.py describes
// the theory of operation. Starting it takes seconds, and it reports when it is ready. This class
// never blocks: it buffers orders and reads events as they arrive. When the zygote fails, every
// process forked from it dies too, and the owner starts another. The capture loop's thread owns and
// calls it. That thread must live as long, because the child dies with the thread.
#pragma once

#include <poll.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/json.h"
#include "base/process.h"
#include "gym/sandbox/guest_files.h"
#include "gym/wire/frame.h"

namespace tritonsmith::gym::sandbox {

using GuestId = std::uint64_t;

// The Python modules for each role. Tests bring their own.
struct GuestModules {
  std::vector<std::string> packages;  // folders put on Python's path, before all others
  std::string warm = "tritonsmith_guest.warm";
  std::string capture = "tritonsmith_guest.capture";
  std::string compiler = "tritonsmith_guest.compile_jobs";
};

struct ZygoteOptions {
  std::string python;
  std::string bytecode_directory;
  std::vector<std::string> data = {};  // folders that guests may read besides Python's own
  GuestModules modules;
  Json profiles;  // "capture" and "compile"; sandbox/shared.cc reads them
  // Start a spare once this zygote has been ready for so long; none: never start one.
  std::optional<std::chrono::nanoseconds> spare_after;
};

struct ForkOrder {
  std::string role;  // "capture", "compile"
  unsigned uid = 0;
  std::uint64_t tmp_bytes = 0;
  bool shared = false;  // the guest serves request after request, until it is killed
};

struct ZygoteReady {
  std::string python, torch, triton;
  double warm_ms = 0;
};
struct GuestExited {
  GuestId id = 0;
  ExitStatus status;
  double cpu_ms = 0;  // of the guest and the children that it waited for
};
using ZygoteEvent = std::variant<ZygoteReady, GuestExited>;

class Zygote {
 public:
  static Result<Zygote> start(const ZygoteOptions& options, const GuestFiles& files);

  // Orders a fork and passes comms, stdout and stderr on to the guest.
  GuestId fork(const ForkOrder& order, Fd comms, Fd out, Fd err);
  void kill(GuestId id);

  // Sends buffered orders and reads the events that have arrived. An error says why the zygote is
  // dead or broken.
  Result<std::vector<ZygoteEvent>> exchange();
  void add_polls(std::vector<pollfd>& polls) const;

 private:
  Zygote(Process process, Fd control, Fd complaints);
  Result<ZygoteEvent> understand(const Json& event);
  void hear_complaints();
  Error dead(std::string_view why) const;

  Process process_;
  Fd control_, complaints_;  // complaints: the zygote's stderr
  wire::FrameReader reader_{1 << 20};
  wire::FrameWriter writer_;
  std::string last_words_;
  GuestId last_id_ = 0;
};

}  // namespace tritonsmith::gym::sandbox
