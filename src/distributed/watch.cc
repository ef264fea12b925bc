#include "distributed/watch.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>

#include "base/printable.h"

namespace tritonsmith::distributed {
namespace {

template <typename Number>
std::optional<Number> number_in(std::string_view text) {
  Number value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// Returns the first word; `line` keeps the rest.
std::string_view take_word(std::string_view& line) {
  const std::string_view word = line.substr(0, line.find(' '));
  line.remove_prefix(std::min(word.size() + 1, line.size()));
  return word;
}

}  // namespace

Watch::Watch(WatchOptions options, Pipe wake_up)
    : options_(std::move(options)), wake_up_(std::move(wake_up)), peers_(options_.size) {}

Result<std::unique_ptr<Watch>> Watch::of_first(WatchOptions options, Listener listener) {
  TRY_ASSIGN(Pipe wake_up, make_pipe());
  std::unique_ptr<Watch> watch(new Watch(std::move(options), std::move(wake_up)));
  watch->listener_ = std::move(listener.socket);
  watch->start();
  return watch;
}

Result<std::unique_ptr<Watch>> Watch::of_other(WatchOptions options, Fd connection) {
  TRY_ASSIGN(Pipe wake_up, make_pipe());
  std::unique_ptr<Watch> watch(new Watch(std::move(options), std::move(wake_up)));
  keep_alive(connection);
  const WatchOptions& own = watch->options_;
  if (!send_line(connection, fmt::format("{} {} {}", own.token, own.rank, own.self)))
    return fail_by_fault("rank 0 hung up");
  watch->peers_.add(std::move(connection), 0);
  watch->start();
  return watch;
}

void Watch::start() {
  thread_ = std::thread([this] { run(); });
}

Watch::~Watch() {
  {
    const std::lock_guard lock(mutex_);
    is_stopping_ = true;
  }
  // one byte always fits into the pipe
  const auto ignored = ::write(wake_up_.write.get(), "x", 1);
  static_cast<void>(ignored);
  thread_.join();
}

Status Watch::wait_for_all(Deadline deadline) {
  const Waited waited = wait([this] { return are_all_here_; }, deadline);
  if (waited == Waited::ready) return ok();
  const std::lock_guard lock(mutex_);
  if (waited == Waited::lost) return tl::unexpected(*lost_);
  return fail_by_fault(
      "{} did not come; start every rank, all with the same MASTER_ADDR and MASTER_PORT",
      options_.rank == 0 ? peers_.missing() : "some rank");
}

Watch::Waited Watch::wait(const std::function<bool()>& is_ready, Deadline deadline) {
  std::unique_lock lock(mutex_);
  while (!is_ready()) {
    if (lost_) return Waited::lost;
    if (deadline.passed()) return Waited::late;
    if (deadline.at() == Deadline::never().at())
      changed_.wait(lock);
    else
      changed_.wait_until(lock, deadline.at());
  }
  return Waited::ready;
}

void Watch::wake() {
  const std::lock_guard lock(mutex_);
  changed_.notify_all();
}

std::optional<Error> Watch::lost() const {
  const std::lock_guard lock(mutex_);
  return lost_;
}

void Watch::call_at_loss(std::function<void()> call) {
  {
    const std::lock_guard lock(mutex_);
    if (!lost_) return calls_at_loss_.push_back(std::move(call));
  }
  call();
}

void Watch::note(std::uint64_t number, std::string_view what) {
  if (options_.rank == 0) return;
  const std::lock_guard lock(mutex_);
  // If rank 0 is gone, the watch's thread notices it.
  send_line(peers_.all().front()->connection, fmt::format("at {} {}", number, what));
}

std::string Watch::latecomers(std::uint64_t number) const {
  const std::lock_guard lock(mutex_);
  return options_.rank == 0 ? peers_.behind(number) : "";
}

void Watch::leave() {
  const std::lock_guard lock(mutex_);
  if (!has_left_ && !lost_) peers_.tell_all("done");
  has_left_ = true;
}

void Watch::fail_for(const Error& error) {
  const std::lock_guard lock(mutex_);
  if (!has_left_ && !lost_) {
    if (options_.rank == 0)
      peers_.tell_all(fmt::format("lost {} failed: {}",
                                  name_of_rank(0, options_.size, options_.self), error.message));
    else
      peers_.tell_all(fmt::format("failed {}", error.message));
  }
  has_left_ = true;
}

void Watch::run() {
  while (poll_once()) {
  }
}

// Returns false when the thread must stop.
bool Watch::poll_once() {
  std::vector<pollfd> fds = {{.fd = wake_up_.read.get(), .events = POLLIN, .revents = 0}};
  if (listener_) fds.push_back({.fd = listener_.get(), .events = POLLIN, .revents = 0});
  const std::size_t first_peer = fds.size();
  for (const auto& peer : peers_.all())
    fds.push_back({.fd = peer->connection.get(), .events = POLLIN, .revents = 0});
  const int timeout = grace_ends_ ? grace_ends_->poll_timeout() : -1;
  if (::poll(fds.data(), fds.size(), timeout) < 0 && errno != EINTR) return false;
  std::vector<std::function<void()>> calls;
  {
    const std::lock_guard lock(mutex_);
    if (is_stopping_) return false;
    for (std::size_t i = first_peer; i < fds.size(); ++i)
      if (fds[i].revents != 0) read_from(*peers_.all()[i - first_peer]);
    if (listener_ && fds[1].revents != 0) accept_one();
    peers_.drop_closed();
    if (lost_) std::swap(calls, calls_at_loss_);
  }
  for (const auto& call : calls) call();
  end_when_stuck();
  return true;
}

void Watch::accept_one() {
  auto accepted = accept_from(listener_);
  if (!accepted) return;  // the peer has closed the connection again
  keep_alive(*accepted);
  peers_.add(*std::move(accepted));
}

void Watch::read_from(Peer& peer) {
  std::vector<std::string> lines;
  const LineReader::State state = peer.reader.read(peer.connection, lines);
  for (const std::string& line : lines) take_line(peer, line);
  if (state == LineReader::State::open) return;
  peer.is_closed = true;
  if (peer.rank >= 0 && !peer.has_left)
    lose(fmt::format(
        "{} is gone: its process ended without a word; the same call goes on from the last "
        "checkpoint",
        name_of(peer)));
}

void Watch::take_line(Peer& peer, const std::string& line) {
  if (peer.rank < 0) return greet(peer, line);
  std::string_view rest = line;
  const std::string_view word = take_word(rest);
  if (word == "at") {
    peer.number = number_in<std::uint64_t>(take_word(rest)).value_or(peer.number);
  } else if (word == "done") {
    peer.has_left = true;
  } else if (word == "failed") {
    peer.has_left = true;
    lose(fmt::format("{} failed: {}", name_of(peer), rest));
  } else if (word == "lost") {
    peer.has_left = true;
    lose(std::string(rest));
  } else if (word == "all") {
    are_all_here_ = true;
    peer.self = rest;
    changed_.notify_all();
  }
}

// Checks the first line of an unknown peer.
void Watch::greet(Peer& peer, const std::string& line) {
  std::string_view rest = line;
  const bool knows_token = take_word(rest) == options_.token;
  const auto rank = number_in<int>(take_word(rest));
  if (!knows_token || !rank || *rank <= 0 || *rank >= options_.size) {
    peer.is_closed = true;
    return;
  }
  if (peers_.has(*rank)) {
    send_line(peer.connection, fmt::format("lost two processes say that they are rank {}", *rank));
    peer.is_closed = true;
    return;
  }
  peer.rank = *rank;
  peer.self = rest;
  if (!peers_.are_complete()) return;
  are_all_here_ = true;
  peers_.tell_all(fmt::format("all {}", options_.self));
  changed_.notify_all();
}

void Watch::lose(std::string sentence) {
  if (lost_ || has_left_) return;
  lost_ = Error{std::move(sentence), ErrorKind::fault};
  grace_ends_ = Deadline::after(options_.grace);
  if (options_.rank == 0) peers_.tell_all("lost " + lost_->message);
  changed_.notify_all();
}

// Ends the process when a wait cannot be interrupted.
void Watch::end_when_stuck() {
  if (!grace_ends_ || !grace_ends_->passed()) return;
  const std::lock_guard lock(mutex_);
  grace_ends_.reset();
  if (has_left_) return;
  fmt::print(stderr, "tritonsmith: {}\n", printable(lost_->message));
  std::fflush(nullptr);
  ::_exit(3);  // a fault, as cli/call/exit_code.h has it
}

}  // namespace tritonsmith::distributed
