#include "gym/cuda/xid_watch.h"

#include <algorithm>
#include <array>

#include "base/log.h"

namespace tritonsmith::gym::cuda {
namespace {

// The program must end within this time.
constexpr unsigned kWaitMs = 500;

}  // namespace

// NVIDIA's catalogue calls these errors of applications. Its device plugin for Kubernetes passes
// over the same ones.
bool is_of_a_program(unsigned long long xid) {
  constexpr std::array<unsigned long long, 6> of_programs = {
      13,    // an exception of the graphics engine, for example an illegal instruction
      31,    // a page fault: an illegal address
      43,    // the GPU stopped processing
      45,    // clean-up after an earlier error
      68,    // an exception of the video processor
      109};  // a context switch timed out, for example behind an endless kernel
  return std::ranges::find(of_programs, xid) != of_programs.end();
}

Result<std::unique_ptr<XidWatch>> XidWatch::start(Nvml nvml, std::span<const WatchedGpu> gpus) {
  std::unique_ptr<XidWatch> watch(new XidWatch(nvml));
  if (const int code = nvml.init(); code != 0)
    return fail_by_fault("NVIDIA's management library does not start (code {})", code);
  if (const int code = nvml.event_set_create(&watch->events_); code != 0)
    return fail_by_fault("NVIDIA's management library gives no events (code {})", code);
  for (const WatchedGpu& gpu : gpus) TRY(watch->watch(gpu));
  watch->thread_ =
      std::jthread([raw = watch.get()](const std::stop_token& stop) { raw->run(stop); });
  return watch;
}

XidWatch::~XidWatch() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
  if (events_ != nullptr) nvml_.event_set_free(events_);
}

Status XidWatch::watch(const WatchedGpu& gpu) {
  Watched watched{.gpu = gpu};
  int code = find_device(nvml_, gpu.bus_id, watched.device);
  if (code == 0) code = nvml_.register_events(watched.device, Nvml::kXidEvents, events_);
  if (code != 0)
    return fail_by_fault("the driver reports no errors of the GPU at {} (NVML code {})", gpu.bus_id,
                         code);
  watched.name = name_of(watched.device);
  watched_.push_back(std::move(watched));
  return ok();
}

std::string XidWatch::name_of(Nvml::Device device) const {
  std::array<char, 96> uuid{};
  const int code = nvml_.device_uuid(device, uuid.data(), static_cast<unsigned>(uuid.size()));
  return code == 0 ? std::string(uuid.data()) : std::string();
}

void XidWatch::run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    Nvml::Event event;
    const int code = nvml_.event_set_wait(events_, &event, kWaitMs);
    if (code == 0) {
      hear(event);
    } else if (code != Nvml::kTimeout) {
      if (code == Nvml::kGpuIsLost) find_lost();
      LOG("gym: the driver reports no more errors of GPUs (NVML code {})", code);
      return;
    }
  }
}

void XidWatch::hear(const Nvml::Event& event) {
  if (event.type != Nvml::kXidEvents || is_of_a_program(event.data)) return;
  const std::string name = name_of(event.device);
  for (const Watched& watched : watched_)
    if (watched.device == event.device || (!name.empty() && watched.name == name))
      report(watched, fmt::format("the driver reported Xid {}", event.data));
}

void XidWatch::find_lost() {
  for (const Watched& watched : watched_)
    if (name_of(watched.device).empty())
      report(watched, "the driver cannot reach it any more (Xid 79, as a rule)");
}

void XidWatch::report(const Watched& watched, std::string reason) {
  const std::lock_guard lock(mutex_);
  faults_.push_back({watched.gpu.uuid, std::move(reason)});
}

std::vector<GpuFault> XidWatch::take() {
  const std::lock_guard lock(mutex_);
  return std::exchange(faults_, {});
}

}  // namespace tritonsmith::gym::cuda
