// Guest: our end of one forked and jailed process: the frames it sends, what it prints, when its
// time is over, and how it ended. All of it is hostile: frames and output are capped, and what
// became of the guest is established here and by the zygote, never by the guest. Owned by a pool on
// the capture loop's thread; never blocks.
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

// After a kill; a zygote that has not told of it by then does not do its work.
inline constexpr auto kReapTime = std::chrono::seconds(10);

inline double milliseconds_since(TimePoint start) {
  return std::chrono::duration<double, std::milli>(system_clock().now() - start).count();
}

struct GuestLimits {
  std::size_t output_bytes = std::size_t{256} << 10;  // stdout and stderr, each
  std::size_t frame_bytes = std::size_t{16} << 20;
  std::chrono::nanoseconds wall = std::chrono::seconds(20);
};

// What is known about a guest that gives no (further) valid frame.
enum class GuestEnd {
  running,
  timed_out,     // still runs: to be killed
  output_flood,  // likewise
  false_frame,   // likewise
  ended,         // the process is gone; its status says how
};

class Guest {
 public:
  // Asks the zygote to fork it.
  static Result<std::unique_ptr<Guest>> fork(Zygote& zygote, const ForkOrder& order,
                                             const GuestLimits& limits);

  GuestId id() const { return id_; }
  // What the socket does not take at once goes with the next exchange().
  void send(std::string_view frame);
  // From now on it has this long.
  void set_time_limit(std::chrono::nanoseconds wall);

  // Moves bytes both ways. Then next_frame(), and when that has none, end().
  void exchange();
  std::optional<std::string> next_frame() { return reader_.next(); }
  GuestEnd end() const;

  // The zygote reaped it: reads what it left behind.
  void exited(const GuestExited& exited);
  const std::optional<ExitStatus>& status() const { return status_; }
  // Of a guest that was reaped: whether it had a core nearly all of its time; whether it used up
  // what it may.
  bool had_a_core() const;
  bool ran_out_of_cpu() const {
    return status_ == ExitStatus{ExitStatus::Kind::signalled, SIGXCPU};
  }

  void add_polls(std::vector<pollfd>& polls) const;
  Deadline deadline() const { return deadline_; }
  // The beginning of what it printed.
  std::string output() const;

 private:
  struct Stream {
    Fd fd;
    std::string head;  // what is kept
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

// The verdict on a guest that ended without a valid reply. Never GuestEnd::running.
VerdictError error_of_end(GuestEnd end, std::optional<ExitStatus> status,
                          const GuestLimits& limits);

// What a guest or a worker that could not enter its jail means, with the way out.
Error jail_refused(std::string_view unmet);

}  // namespace tritonsmith::gym::sandbox
