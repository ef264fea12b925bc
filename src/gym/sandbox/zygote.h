// Zygote: the C++ end of the warm Python process that forks guests (theory of operation:
// gym/guest/zygote.py). Starting it takes seconds; it says when it is ready. It never blocks:
// orders wait in a buffer, events are read as they come. When it fails, everything forked from it
// dies with it, and whoever owns it makes another. Owned and called by the capture loop's thread,
// which must live as long (the child dies with the thread).
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

// Which Python modules play which part; tests bring their own.
struct GuestModules {
  std::vector<std::string> packages;  // folders put on Python's path, before all others
  std::string warm = "tritonsmith_guest.warm";
  std::string capture = "tritonsmith_guest.capture";
  std::string compiler = "tritonsmith_guest.compiler";
};

struct ZygoteOptions {
  std::string python;
  std::string bytecode_directory;
  std::vector<std::string> data = {};  // folders that guests may read besides Python's own
  GuestModules modules;
  Json profiles;  // "capture" and "compile": sandbox/shared.cc reads them
  std::optional<std::chrono::nanoseconds> spare_after;  // ready that long; none: it gets no spare
};

struct ForkOrder {
  std::string role;  // "capture", "compile"
  unsigned uid = 0;
  std::uint64_t tmp_bytes = 0;
};

struct ZygoteReady {
  std::string python, torch, triton;
  double warm_ms = 0;
};
struct GuestExited {
  GuestId id = 0;
  ExitStatus status;
  double cpu_ms = 0;  // it and those of its children that it waited for
};
using ZygoteEvent = std::variant<ZygoteReady, GuestExited>;

class Zygote {
 public:
  static Result<Zygote> start(const ZygoteOptions& options, const GuestFiles& files);

  // The guest gets comms, stdout and stderr.
  GuestId fork(const ForkOrder& order, Fd comms, Fd out, Fd err);
  void kill(GuestId id);

  // Sends what waits and reads what is there. An error means that it is dead or broken, and says
  // why.
  Result<std::vector<ZygoteEvent>> exchange();
  void add_polls(std::vector<pollfd>& polls) const;

 private:
  Zygote(Process process, Fd control, Fd complaints);
  Result<ZygoteEvent> understand(const Json& event);
  void hear_complaints();
  Error dead(std::string_view why) const;

  Process process_;
  Fd control_, complaints_;  // complaints: its stderr
  wire::FrameReader reader_{1 << 20};
  wire::FrameWriter writer_;
  std::string last_words_;
  GuestId last_id_ = 0;
};

}  // namespace tritonsmith::gym::sandbox
