#include "gym/judge/python_reference.h"

#include <cmath>
#include <csignal>
#include <cstdlib>

#include "base/hash.h"
#include "base/log.h"
#include "gym/wire/frame.h"

namespace tritonsmith::gym::judge {
namespace {

constexpr int kShellFd = 3;
constexpr int kUsesOfOneMeasurement = 64;
constexpr double kStillTheSame = 0.05;  // as a share of the median
constexpr const char* kBoot =
    "import sys; sys.path.insert(0, sys.argv[1]); from tritonsmith_guest import python_reference; "
    "python_reference.main()";

// torch.compile looks for a compiler. Its results are deleted with the folder.
std::vector<std::string> environment(const std::string& folder, bool on_gpu) {
  std::vector<std::string> list = {"LANG=C.UTF-8",
                                   "HOME=" + folder,
                                   "TMPDIR=" + folder,
                                   "TRITON_CACHE_DIR=" + folder + "/triton",
                                   "TORCHINDUCTOR_CACHE_DIR=" + folder + "/inductor",
                                   "TRITONSMITH_PYTHON_REFERENCE=1"};
  if (!on_gpu) {  // as for the referee beside it
    list.insert(list.end(), {"OMP_NUM_THREADS=1", "MKL_NUM_THREADS=1"});
  }
  for (const std::string name : {"PATH", "LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES", "CUDA_HOME"})
    if (const char* value = std::getenv(name.c_str())) list.push_back(name + "=" + value);
  return list;
}

}  // namespace

PythonReferenceOptions python_reference_options(const capture::CaptureConfig& config,
                                                std::string device) {
  return {.python = config.python,
          .bytecode_directory = config.bytecode_directory,
          .device = std::move(device)};
}

Result<Timing> PythonReference::time(const std::string& task_source, const std::string& how) {
  const std::string key = content_key(how + "\n" + task_source);
  Known* known = known_.find(key);
  if (known != nullptr && ++known->uses % kUsesOfOneMeasurement != 0) return known->timing;
  TRY_ASSIGN(const Timing timing, measure(task_source, how));
  if (known != nullptr) {
    const double before = known->timing.median;
    if (std::abs(timing.median - before) > kStillTheSame * before)
      LOG("{} of a task took {:.4f} ms and now takes {:.4f} ms", how, before, timing.median);
    known->timing = timing;
  } else {
    known_.add(key, {.timing = timing}, sizeof(Known));
  }
  return timing;
}

Result<Timing> PythonReference::measure(const std::string& task_source, const std::string& how) {
  if (!live_) TRY(start());
  const Deadline deadline = Deadline::in_seconds(options_.seconds);
  const Json request = {{"source", task_source}, {"how", how}, {"device", options_.device}};
  const int socket = live_->socket.get();
  auto frame = wire::write_frame(socket, to_line(request), deadline).and_then([&] {
    return wire::read_frame(socket, deadline);
  });
  if (!frame) {
    end();
    return fail("{}: the Python reference gave no answer: {}", how, frame.error().error.message);
  }
  TRY_ASSIGN(const Json answer, parse_json(frame->payload));
  JsonReader reader(answer);
  if (reader.has("error")) return fail("{}: {}", how, reader.string("error"));
  JsonReader times(reader.object("time_ms"));
  const Timing timing{.median = times.number("median"),
                      .mean = times.number("mean"),
                      .p10 = times.number("p10"),
                      .p90 = times.number("p90"),
                      .n = static_cast<int>(times.integer("n"))};
  TRY(times.status());
  return timing;
}

Result<int> PythonReference::open() {
  if (!live_) TRY(start());
  return live_->socket.get();
}

Status PythonReference::start() {
  if (!files_) {
    TRY_ASSIGN(files_, sandbox::GuestFiles::write());
  }
  TRY_ASSIGN(SocketPair sockets, make_socket_pair());
  TRY_ASSIGN(
      Process process,
      Process::spawn({.argv = {sandbox::guest_python(options_.python), "-I", "-B", "-c", kBoot,
                               files_->package_root().string(), options_.bytecode_directory},
                      .environment = environment(files_->folders().string(),
                                                 options_.device.starts_with("cuda")),
                      .fds = {{sockets.theirs.get(), kShellFd}, {2, 2}}}));
  const std::lock_guard lock(mutex_);
  if (interrupted_) return fail("the judge was shut down");
  live_ = Live{std::move(process), std::move(sockets.ours)};
  return ok();
}

void PythonReference::end() {
  const std::lock_guard lock(mutex_);
  live_.reset();
}

Json PythonReference::end_without_answer(const std::string& task_source, const std::string& what) {
  Result<ExitStatus> ended = fail("it does not run");
  if (live_) ended = live_->process.wait(Deadline::in_seconds(1));
  end();
  const bool signalled = ended && ended->kind == ExitStatus::Kind::signalled;
  const bool killed = signalled && ended->code == SIGKILL;
  const std::string how =
      ended ? fmt::format("its process {}{}", signalled ? "was " : "", describe(*ended)) : what;
  const std::string task = content_key(task_source);
  if (interrupted_ || (killed && killed_at_ != task)) {
    killed_at_ = task;
    return {{"fault", "it broke off: " + how}};
  }
  return {{"error",
           {{"class", name_of(ErrorClass::task_failed)},
            {"message", "forward gave no result in the Python reference: " + how}}}};
}

void PythonReference::interrupt() {
  const std::lock_guard lock(mutex_);
  interrupted_ = true;
  if (live_) live_->process.kill_tree();
}

}  // namespace tritonsmith::gym::judge
