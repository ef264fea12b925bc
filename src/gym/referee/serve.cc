#include "gym/referee/serve.h"

#include <ATen/ATen.h>
#include <c10/util/Exception.h>
#include <malloc.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "gym/device/cuda_device.h"
#include "gym/referee/equipment.h"
#include "gym/referee/python_reference_source.h"
#include "gym/referee/referee.h"
#include "gym/sandbox/jail.h"
#include "gym/wire/frame.h"

namespace tritonsmith::gym::referee {
namespace {

// Loads what libraries load lazily before the jail closes: oneDNN's and MKL's tables, generators.
void warm_up() {
  const at::Tensor image = at::rand({1, 8, 16, 16});
  const at::Tensor filter = at::rand({8, 8, 3, 3});
  const at::Tensor matrix = at::rand({64, 64});
  static_cast<void>(at::conv2d(image, filter).sum().item<float>());
  static_cast<void>(at::mm(matrix, matrix).softmax(1).to(at::kBFloat16).sum().item<float>());
}

// Closes only those layers of the jail that the GPU driver tolerates, because the driver needs its
// device nodes, its system calls and its own threads. No candidate's code runs in this process; the
// candidates' kernels run on the GPU.
sandbox::JailReport close_jail_beside_gpu() {
  sandbox::JailReport report;
  rlimit no_core{0, 0};
  report.layers.push_back({.name = "rlimits", .held = ::setrlimit(RLIMIT_CORE, &no_core) == 0});
  report.layers.push_back(
      {.name = "no_new_privs", .held = ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0});
  for (const sandbox::JailLayer& layer : report.layers)
    if (!layer.held) report.refusal = layer.name + " does not hold";
  return report;
}

sandbox::JailReport close_jail(int socket, std::int64_t budget) {
  constexpr std::uint64_t usual = std::uint64_t{16} << 30;  // plans have a budget of their own
  const std::uint64_t beside =
      static_cast<std::uint64_t>(std::max<std::int64_t>(budget, 0)) + usual / 2;
  constexpr std::uint64_t never =
      1'000'000'000;  // many jobs share this process, and its client watches the time
  return sandbox::enter_jail({.role = sandbox::JailRole::capture,
                              .keep_fds = {socket},
                              .cpu_seconds = never,
                              .memory_bytes = std::max(usual, beside),
                              .required = sandbox::layers_of_referee()});
}

Json reply_to(Referee& referee, const Json& head, std::string plan, const std::string& binaries) {
  if (head.contains("add_task") && head["add_task"].is_string()) {
    const auto added = referee.add_task(head["add_task"].get<std::string>(), plan);
    return added ? Json{{"added", true}} : Json{{"error", added.error().message}};
  }
  if (head.contains("calibrate")) {
    const auto calibration = referee.calibrate();
    return calibration ? Json{{"calibration", to_json(*calibration)}}
                       : Json{{"error", calibration.error().message}};
  }
  if (!head.contains("judge")) return {{"error", "neither add_task, judge nor calibrate"}};
  auto job = referee_job_from_json(head["judge"]);
  if (!job) return {{"error", job.error().message}};
  if (!referee.knows(job->task_key)) return {{"unknown_task", job->task_key}};
  if (const auto taken = take_binaries(*job, head["judge"], binaries); !taken)
    return {{"error", taken.error().message}};
  job->candidate_plan = std::move(plan);
  RefereeReport report = referee.judge(*job);
  report.spent = referee.spent();
  return {{"report", to_json(report)}};
}

// Without a lease the referee still judges, so a failure to open it is no error.
std::optional<Lease> open_lease(const std::filesystem::path& file) {
  if (file.empty()) return std::nullopt;
  auto lease = Lease::open(file);
  if (lease) return *std::move(lease);
  fmt::print(stderr, "referee: {}; timing without a lease of the GPU\n", lease.error().message);
  return std::nullopt;
}

// Drops LibTorch's warnings: they advise authors of models, and no one here could follow them.
class NoAdvice final : public c10::WarningHandler {
 public:
  void process(const c10::Warning&) override {}
};

Result<std::unique_ptr<Referee>> open_referee(std::optional<int> gpu,
                                              const std::filesystem::path& lease) {
  if (gpu) {
    auto gpu_lease = open_lease(lease);
    TRY_ASSIGN(auto device, device::CudaDevice::open(*gpu, gpu_lease ? &*gpu_lease : nullptr));
    return std::make_unique<Referee>(std::move(device), std::move(gpu_lease));
  }
  auto referee = std::make_unique<Referee>(make_evaluator());
  warm_up();
  return referee;
}

// Gives back memory that was kept for the next job if no job comes.
void await_job(Referee& referee, int socket) {
  constexpr int soon_ms = 200;
  pollfd waiting{.fd = socket, .events = POLLIN, .revents = 0};
  if (::poll(&waiting, 1, soon_ms) == 0) referee.rest();
}

int serve_jobs(Referee& referee, int socket) {
  while (!referee.spent()) {
    await_job(referee, socket);
    auto head = wire::read_frame(socket, Deadline::never());
    if (!head) return head.error().fault == wire::FrameFault::end ? 0 : 1;
    auto plan = wire::read_frame(socket, Deadline::never());
    if (!plan) return 1;
    const auto json = parse_json(head->payload);
    std::string binaries;
    if (json && json->contains("judge") && (*json)["judge"].contains("kernels")) {
      auto frame = wire::read_frame(socket, Deadline::never());
      if (!frame) return 1;
      binaries = std::move(frame->payload);
    }
    const Json reply = json ? reply_to(referee, *json, std::move(plan->payload), binaries)
                            : Json{{"error", json.error().message}};
    if (!wire::write_frame(socket, to_line(reply), Deadline::never())) return 1;
  }
  return 0;
}

}  // namespace

int serve_referee(int socket, const ServeOptions& options) {
  // Trials allocate and free the same few sizes all the time. These settings keep that memory
  // instead of asking the kernel for it each time.
  ::mallopt(M_MMAP_THRESHOLD, 1 << 28);
  ::mallopt(M_TRIM_THRESHOLD, 1 << 28);
  static NoAdvice no_advice;
  c10::WarningUtils::set_warning_handler(&no_advice);
  auto referee = open_referee(options.gpu, options.lease);
  if (!referee) {
    fmt::print(stderr, "referee: {}\n", referee.error().message);
    return 1;
  }
  const sandbox::JailReport jail =
      options.gpu ? close_jail_beside_gpu() : close_jail(socket, options.memory_bytes);
  if (!jail.refusal.empty()) {
    fmt::print(stderr, "referee: {}\n", jail.refusal);
    return 1;
  }
  if (!wire::write_frame(socket, to_line({{"ready", jail.held()}}), Deadline::never())) return 1;
  PythonReferenceSource python_reference(socket);
  (*referee)->use_python_reference(&python_reference);
  const int code = serve_jobs(**referee, socket);
  // The exit handlers of the driver and of LibTorch fail if the context is lost.
  if ((*referee)->spent()) ::_exit(code);
  return code;
}

}  // namespace tritonsmith::gym::referee
