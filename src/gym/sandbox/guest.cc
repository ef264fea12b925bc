#include "gym/sandbox/guest.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>

#include "base/check.h"

namespace tritonsmith::gym::sandbox {
namespace {

constexpr std::size_t kKeptOutputBytes = 1024;

}  // namespace

Guest::Guest(const GuestLimits& limits)
    : limits_(limits), deadline_(Deadline::after(limits.wall)), reader_(limits.frame_bytes) {}

Result<std::unique_ptr<Guest>> Guest::fork(Zygote& zygote, const ForkOrder& order,
                                           const GuestLimits& limits) {
  TRY_ASSIGN(SocketPair comms, make_socket_pair());
  TRY_ASSIGN(Pipe out, make_pipe());
  TRY_ASSIGN(Pipe err, make_pipe());
  TRY(set_nonblocking(out.read));
  TRY(set_nonblocking(err.read));
  std::unique_ptr<Guest> guest(new Guest(limits));
  guest->comms_ = std::move(comms.ours);
  guest->out_.fd = std::move(out.read);
  guest->err_.fd = std::move(err.read);
  guest->id_ =
      zygote.fork(order, std::move(comms.theirs), std::move(out.write), std::move(err.write));
  return guest;
}

void Guest::set_time_limit(std::chrono::nanoseconds wall) {
  limits_.wall = wall;
  deadline_ = Deadline::after(wall);
}

void Guest::send(std::string_view frame) {
  writer_.add(frame);
  write_comms();
}

void Guest::exchange() {
  write_comms();
  read_comms();
  read_stream(out_);
  read_stream(err_);
}

void Guest::write_comms() {
  if (!comms_ || writer_.empty()) return;
  const auto written = writer_.write_some(comms_.get());
  // the guest closed its end; its exit status will say more
  if (!written) writer_ = wire::FrameWriter();
}

void Guest::read_comms() {
  // One buffer a round, so that a guest that floods the socket cannot stop the loop.
  if (!comms_ || false_frame_) return;
  const auto alive = reader_.read_some(comms_.get());
  if (alive && *alive) return;
  const bool broken = !alive && (alive.error().fault == wire::FrameFault::too_large);
  if (broken) false_frame_ = true;
  comms_.reset();
}

void Guest::read_stream(Stream& stream) const {
  char buffer[1 << 14];
  while (stream.fd && stream.bytes <= limits_.output_bytes) {
    const ssize_t got = ::read(stream.fd.get(), buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) return;
    if (got <= 0) {
      stream.fd.reset();
      return;
    }
    const std::size_t room = kKeptOutputBytes - std::min(kKeptOutputBytes, stream.head.size());
    stream.head.append(buffer, std::min(room, static_cast<std::size_t>(got)));
    stream.bytes += static_cast<std::size_t>(got);
  }
}

GuestEnd Guest::end() const {
  if (false_frame_) return GuestEnd::false_frame;
  if (std::max(out_.bytes, err_.bytes) > limits_.output_bytes) return GuestEnd::output_flood;
  if (status_) return GuestEnd::ended;
  if (deadline_.passed()) return GuestEnd::timed_out;
  return GuestEnd::running;
}

void Guest::exited(const GuestExited& exited) {
  status_ = exited.status;
  cpu_ms_ = exited.cpu_ms;
  // The guest's reply may still lie in the socket, which holds at most a few hundred KiB.
  for (int round = 0; round < 256 && comms_; ++round) read_comms();
  read_stream(out_);
  read_stream(err_);
}

bool Guest::had_a_core() const {
  constexpr double nearly_all = 0.75;
  const double wall_ms = std::chrono::duration<double, std::milli>(limits_.wall).count();
  return cpu_ms_ >= nearly_all * wall_ms;
}

void Guest::add_polls(std::vector<pollfd>& polls) const {
  const auto add = [&](const Fd& fd, short events) {
    if (fd) polls.push_back({.fd = fd.get(), .events = events, .revents = 0});
  };
  if (!false_frame_) add(comms_, static_cast<short>(POLLIN | (writer_.empty() ? 0 : POLLOUT)));
  for (const Stream* stream : {&out_, &err_})
    if (stream->bytes <= limits_.output_bytes) add(stream->fd, POLLIN);
}

std::string Guest::output() const { return (out_.head + err_.head).substr(0, kKeptOutputBytes); }

VerdictError error_of_end(GuestEnd end, std::optional<ExitStatus> status,
                          const GuestLimits& limits) {
  const double seconds = std::chrono::duration<double>(limits.wall).count();
  switch (end) {
    case GuestEnd::timed_out:
      return {.error_class = ErrorClass::timeout,
              .message = fmt::format("did not finish within {} s", seconds)};
    case GuestEnd::output_flood:
      return {.error_class = ErrorClass::output_flood,
              .message = fmt::format("printed more than {} KiB", limits.output_bytes >> 10)};
    case GuestEnd::false_frame:
      return {.error_class = ErrorClass::bad_reply,
              .message = fmt::format("handed over no valid plan of at most {} MiB",
                                     limits.frame_bytes >> 20)};
    case GuestEnd::running:
    case GuestEnd::ended:
      break;
  }
  CHECK(end == GuestEnd::ended && status, "a running guest has no end");
  if (status->kind == ExitStatus::Kind::exited)
    return {.error_class = ErrorClass::exited,
            .message = fmt::format("ended its own process with exit code {}", status->code)};
  if (status->code == SIGXCPU)
    return {.error_class = ErrorClass::timeout, .message = "used up its processor time"};
  if (status->code == SIGKILL)
    return {.error_class = ErrorClass::killed,
            .message = "was killed by the system, as a rule for want of memory"};
  return {.error_class = ErrorClass::crashed, .message = fmt::format("was {}", describe(*status))};
}

Error jail_refused(std::string_view unmet) {
  return Error{
      fmt::format("the jail lacks a layer that required_layers demands ({}): `tritonsmith doctor` "
                  "says how to get it; a required_layers without it judges all the same",
                  unmet)};
}

}  // namespace tritonsmith::gym::sandbox
