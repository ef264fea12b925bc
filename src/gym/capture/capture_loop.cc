#include "gym/capture/capture_loop.h"

#include <unistd.h>

#include <algorithm>
#include <csignal>

#include "base/clock.h"
#include "base/log.h"
#include "gym/sandbox/required_layers.h"

namespace tritonsmith::gym::capture {
namespace {

constexpr auto kStartTime = std::chrono::seconds(180);
constexpr int kMaxFailures = 3;
// Raise this number whenever guest/compiler.py starts to refuse kernels that it accepted before,
// because cached kernels are not checked again.
constexpr int kCompilerChecks = 2;
constexpr auto kSpareRetry = std::chrono::seconds(30);  // after a spare that failed

Json profile_of(const CaptureConfig& config, std::uint64_t cpu_seconds, std::uint64_t file_mib) {
  return {{"cpu_seconds", cpu_seconds},
          {"memory_bytes", static_cast<std::uint64_t>(config.memory_mib) << 20},
          {"file_bytes", file_mib << 20},
          {"required", config.required_layers}};
}

}  // namespace

Result<std::unique_ptr<CapturePool>> CaptureLoop::start(const CaptureConfig& config,
                                                        sandbox::GuestModules modules) {
  if (const std::string unknown = sandbox::unknown_layer(config.required_layers); !unknown.empty())
    return fail("required_layers: {}", unknown);
  TRY_ASSIGN(sandbox::GuestFiles files, sandbox::GuestFiles::write());
  TRY_ASSIGN(GuestPool guests, GuestPool::make(config));
  TRY_ASSIGN(compile::CompilerPool compilers,
             compile::CompilerPool::make(config.compiler_limits()));
  TRY_ASSIGN(Pipe wake, make_pipe());
  TRY(set_nonblocking(wake.read));
  TRY(set_nonblocking(wake.write));
  const auto capture_cpu =
      static_cast<std::uint64_t>(config.capture_seconds + config.capture_seconds / 2 + 1);
  // The CPU limit covers all compilations of a worker, the wall-clock limit only one.
  const auto compile_cpu = static_cast<std::uint64_t>(config.compile_seconds) *
                           static_cast<std::uint64_t>(config.compiles_per_worker);
  sandbox::ZygoteOptions options{
      .python = sandbox::guest_python(config.python),
      .bytecode_directory = config.bytecode_directory,
      .data = config.data,
      .modules = std::move(modules),
      .profiles = {{"capture",
                    profile_of(config, capture_cpu, static_cast<std::uint64_t>(config.tmp_mib))},
                   {"compile", profile_of(config, compile_cpu, 1024)}},
  };
  if (config.spare_zygote)
    options.spare_after =
        std::chrono::nanoseconds(static_cast<std::int64_t>(1e9 * config.spare_zygote_after));
  return std::unique_ptr<CapturePool>(new CaptureLoop(std::move(files), std::move(guests),
                                                      std::move(compilers), std::move(wake),
                                                      std::move(options)));
}

CaptureLoop::CaptureLoop(sandbox::GuestFiles files, GuestPool guests,
                         compile::CompilerPool compilers, Pipe wake, sandbox::ZygoteOptions options)
    : files_(std::move(files)),
      guests_(std::move(guests)),
      compilers_(std::move(compilers)),
      wake_(std::move(wake)),
      options_(std::move(options)),
      thread_([this](const std::stop_token& stop) { run(stop); }) {}

CaptureLoop::~CaptureLoop() {
  thread_.request_stop();
  post(Cancel{});
  thread_.join();
}

std::uint64_t CaptureLoop::capture(CaptureRequest request, CaptureDone done) {
  std::uint64_t id = 0;
  {
    const std::lock_guard lock(mutex_);
    id = ++last_id_;
  }
  post(CaptureJob{.id = id, .request = std::move(request), .done = std::move(done)});
  return id;
}

std::uint64_t CaptureLoop::compile(compile::CompileRequest request, CompileDone done) {
  std::uint64_t id = 0;
  {
    const std::lock_guard lock(mutex_);
    id = ++last_id_;
  }
  post(compile::CompileJob{.id = id, .request = std::move(request), .done = std::move(done)});
  return id;
}

void CaptureLoop::cancel(std::uint64_t id) { post(Cancel{id}); }

Result<CapturePool::Versions> CaptureLoop::versions(Deadline deadline) {
  std::unique_lock lock(mutex_);
  const auto known = [&] { return versions_.has_value(); };
  if (deadline.at() == TimePoint::max())
    changed_.wait(lock, known);
  else if (!changed_.wait_until(lock, deadline.at(), known))
    return fail("the zygote was not ready in time");
  return *versions_;
}

void CaptureLoop::post(Letter letter) {
  const std::lock_guard lock(mutex_);
  mail_.push_back(std::move(letter));
  const char byte = 0;
  const ssize_t ignored =
      ::write(wake_.write.get(), &byte, 1);  // a full pipe wakes the loop anyway
  static_cast<void>(ignored);
}

void CaptureLoop::run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    read_mail();
    do_what_is_possible();
    wait_for_something();
  }
  spare_.reset();
  zygote_.reset();  // and all guests with it
  read_mail();
  const Error over{"the capture pool was closed"};
  guests_.fail_all(over);
  compilers_.fail_all(over);
}

void CaptureLoop::read_mail() {
  char bytes[256];
  while (::read(wake_.read.get(), bytes, sizeof bytes) > 0) {
  }
  std::vector<Letter> mail;
  {
    const std::lock_guard lock(mutex_);
    mail.swap(mail_);
  }
  for (Letter& letter : mail) {
    if (auto* capture = std::get_if<CaptureJob>(&letter)) guests_.submit(std::move(*capture));
    if (auto* compile = std::get_if<compile::CompileJob>(&letter))
      compilers_.submit(std::move(*compile));
    if (const auto* cancel = std::get_if<Cancel>(&letter))
      if (!guests_.cancel(cancel->id, zygote_ ? &zygote_->zygote : nullptr))
        compilers_.cancel(cancel->id);
  }
}

// Does all work that is possible now. A failure here is the zygote's.
void CaptureLoop::do_what_is_possible() {
  for (Status done = serve_guests(); !done; done = serve_guests()) {
    zygote_failed(done.error());
    if (!zygote_) break;
  }
  tend_spare();
}

Status CaptureLoop::serve_guests() {
  const bool wanted = failures_ < kMaxFailures || !guests_.idle() || !compilers_.idle();
  if (!zygote_ && wanted) {
    TRY_ASSIGN(Warming started, start_zygote());
    zygote_.emplace(std::move(started));
  }
  if (!zygote_) return ok();
  TRY(hear_zygote());
  if (!zygote_->ready && zygote_->ready_by.passed())
    return fail("the zygote was not ready in time");
  if (!zygote_->ready) return ok();
  for (bool heard = true; heard;) {
    TRY(guests_.advance(zygote_->zygote));
    TRY(compilers_.advance(zygote_->zygote, compiler_version_));
    // This sends the orders just given. If a guest's end is among the events, its reply has
    // arrived, and nothing else would wake the loop to read it.
    TRY_ASSIGN(heard, hear_zygote());
  }
  return ok();
}

Result<CaptureLoop::Warming> CaptureLoop::start_zygote() const {
  TRY_ASSIGN(sandbox::Zygote zygote, sandbox::Zygote::start(options_, files_));
  return Warming{.zygote = std::move(zygote), .ready_by = Deadline::after(kStartTime)};
}

Result<bool> CaptureLoop::hear_zygote() {
  TRY_ASSIGN(const std::vector<sandbox::ZygoteEvent> events, zygote_->zygote.exchange());
  for (const sandbox::ZygoteEvent& event : events) {
    if (const auto* exited = std::get_if<sandbox::GuestExited>(&event))
      if (!guests_.exited(*exited)) compilers_.exited(*exited);
    if (const auto* ready = std::get_if<sandbox::ZygoteReady>(&event)) {
      zygote_->ready = true;
      failures_ = 0;
      await_spare();
      compiler_version_ =
          fmt::format("torch {} triton {} checks {}", ready->torch, ready->triton, kCompilerChecks);
      const std::lock_guard lock(mutex_);
      versions_ = Versions{.python = ready->python,
                           .torch = ready->torch,
                           .triton = ready->triton,
                           .start_ms = milliseconds_since(zygote_->started)};
      changed_.notify_all();
    }
  }
  return !events.empty();
}

void CaptureLoop::zygote_failed(const Error& why) {
  LOG("{}; {}", why.message, spare_ ? "its spare takes over" : "starting it again");
  zygote_.reset();
  guests_.lost_all(why);
  compilers_.lost_all(why);
  if (spare_) {
    zygote_.emplace(std::move(*spare_));
    spare_.reset();
    if (zygote_->ready) await_spare();  // else its ready event does
    return;
  }
  if (++failures_ < kMaxFailures) return;
  const Error last{fmt::format("{} (guests run {}); `tritonsmith doctor` says what is missing",
                               why.message, options_.python)};
  guests_.fail_all(last);
  compilers_.fail_all(last);
  const std::lock_guard lock(mutex_);
  versions_ = tl::unexpected<Error>(last);
  changed_.notify_all();
}

void CaptureLoop::await_spare() {
  if (options_.spare_after && !spare_) spare_due_ = Deadline::after(*options_.spare_after);
}

// No work waits for the spare, so its failures are only logged.
void CaptureLoop::tend_spare() {
  const auto step = [this]() -> Status {
    if (!spare_) {
      TRY_ASSIGN(Warming started, start_zygote());
      spare_.emplace(std::move(started));
    }
    TRY_ASSIGN(const std::vector<sandbox::ZygoteEvent> events, spare_->zygote.exchange());
    // it has no guests, so any event means that it is ready
    spare_->ready = spare_->ready || !events.empty();
    if (!spare_->ready && spare_->ready_by.passed()) return fail("it was not ready in time");
    return ok();
  };
  if (!zygote_ || !zygote_->ready || (!spare_ && !spare_due_.passed())) return;
  spare_due_ = Deadline::never();
  if (const Status done = step(); !done) {
    LOG("the spare zygote: {}", done.error().message);
    spare_.reset();
    spare_due_ = Deadline::after(kSpareRetry);
  }
}

void CaptureLoop::wait_for_something() {
  std::vector<pollfd> polls = {{.fd = wake_.read.get(), .events = POLLIN, .revents = 0}};
  TimePoint next = TimePoint::max();
  if (zygote_) {
    zygote_->zygote.add_polls(polls);
    guests_.add_polls(polls);
    compilers_.add_polls(polls);
    next = std::min(guests_.next_deadline(), compilers_.next_deadline());
    if (!zygote_->ready) next = std::min(next, zygote_->ready_by.at());
    if (spare_) {
      spare_->zygote.add_polls(polls);
      if (!spare_->ready) next = std::min(next, spare_->ready_by.at());
    }
    if (zygote_->ready) next = std::min(next, spare_due_.at());
  } else if (failures_ < kMaxFailures) {
    return;  // the loop starts a zygote at once
  }
  const auto left =
      next == TimePoint::max() ? Deadline::never() : Deadline::after(next - system_clock().now());
  ::poll(polls.data(), polls.size(), left.poll_timeout());
}

}  // namespace tritonsmith::gym::capture
