// Guest: this program's end of one forked and jailed process. It reads the guest's frames and
// output, keeps its time limit and records how it ended. All of it is hostile, so frames and output
// are capped. This class and the zygote establish how the guest ended and never ask the guest. A
// pool on the capture loop's thread owns it. It never blocks.
#pragma once

#include <poll.h>

#include <csignal>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "data/verdict.h"
#include "gym/sandbox/zygote.h"

namespace tritonsmith::gym::sandbox {

// The time in which the zygote must report a killed guest. A zygote that takes longer is broken.
inline constexpr auto kReapTime = std::chrono::seconds(10);

struct GuestLimits {
  std::size_t output_bytes = std::size_t{256} << 10;  // stdout and stderr, each
  std::size_t frame_bytes = std::size_t{16} << 20;
  std::chrono::nanoseconds wall = std::chrono::seconds(20);
};

// The state of a guest that sends no further valid frame.
enum class GuestEnd {
  running,
  timed_out,     // the guest still runs and must be killed
  output_flood,  // likewise
  false_frame,   // likewise
  ended,         // the process is gone, and its status says how it ended
};

class Guest {
 public:
  // Orders the zygote to fork a guest.
  static Result<std::unique_ptr<Guest>> fork(Zygote& zygote, const ForkOrder& order,
                                             const GuestLimits& limits);

  GuestId id() const { return id_; }
  // Sends a frame. The next exchange() sends the bytes that the socket does not accept at once.
  void send(std::string_view frame);
  // Sets the time limit, counted from now.
  void set_time_limit(std::chrono::nanoseconds wall);

  // Moves bytes both ways. The caller then asks next_frame(), and end() when there is no frame.
  void exchange();
  std::optional<std::string> next_frame() { return reader_.next(); }
  GuestEnd end() const;

  // Records that the zygote reaped the guest, and reads the output that the guest left behind.
  void exited(const GuestExited& exited);
  const std::optional<ExitStatus>& status() const { return status_; }
  // About a guest that was reaped: whether it had a core for nearly all of its time, and whether it
  // used up its CPU time.
  bool had_a_core() const;
  bool ran_out_of_cpu() const {
    return status_ == ExitStatus{ExitStatus::Kind::signalled, SIGXCPU};
  }

  void add_polls(std::vector<pollfd>& polls) const;
  Deadline deadline() const { return deadline_; }
  // The beginning of the guest's output.
  std::string output() const;

 private:
  struct Stream {
    Fd fd;
    std::string head;  // the part that is kept
    std::size_t bytes = 0;
  };
  explicit Guest(const GuestLimits& limits);
  void write_comms();
  void read_comms();
  void read_stream(Stream& stream) const;

  GuestId id_ = 0;
  GuestLimits limits_;
  Deadline deadline_;
  Fd comms_;
  Stream out_, err_;
  wire::FrameReader reader_;
  wire::FrameWriter writer_;
  bool false_frame_ = false;
  std::optional<ExitStatus> status_;
  double cpu_ms_ = 0;
};

// Makes the verdict's error for a guest that ended without a valid reply. `end` must not be
// GuestEnd::running.
VerdictError error_of_end(GuestEnd end, std::optional<ExitStatus> status,
                          const GuestLimits& limits);

// Describes a guest or worker that could not enter its jail, with the way to solve it.
Error jail_refused(std::string_view unmet);

}  // namespace tritonsmith::gym::sandbox
