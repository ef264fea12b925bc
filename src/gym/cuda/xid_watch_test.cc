#include "gym/cuda/xid_watch.h"

#include <gtest/gtest.h>

#include <atomic>
#include <deque>
#include <thread>

#include "base/clock.h"

namespace tritonsmith::gym::cuda {
namespace {

// NVML's functions are plain, so all tests share what they answer.
struct NvmlNotes {
  std::mutex mutex;
  std::deque<Nvml::Event> events;
  int end_code = Nvml::kTimeout;  // the answer once no event is left
  bool is_lost = false;
  std::atomic<int> waits_without_event = 0;
  std::vector<std::string> registered;
};
NvmlNotes& notes() {
  static NvmlNotes all;
  return all;
}

Nvml::Device device_at(std::uintptr_t number) { return reinterpret_cast<Nvml::Device>(number); }

Nvml nvml_with_events() {
  notes().events.clear();
  notes().end_code = Nvml::kTimeout;
  notes().is_lost = false;
  notes().waits_without_event = 0;
  notes().registered.clear();
  return {.init = [] { return 0; },
          .device_by_bus_id =
              [](const char* bus_id, Nvml::Device* device) {
                const std::string text = bus_id;
                if (text == "0000:99:00.0") return 6;
                notes().registered.push_back(text);
                *device = device_at(text == "0000:1b:00.0" ? 1 : 2);
                return 0;
              },
          .device_uuid =
              [](Nvml::Device device, char* uuid, unsigned) {
                if (notes().is_lost && device == device_at(2)) return Nvml::kGpuIsLost;
                uuid[0] = device == device_at(1) ? 'a' : 'b';
                uuid[1] = 0;
                return 0;
              },
          .event_set_create =
              [](Nvml::EventSet* events) {
                *events = device_at(9);
                return 0;
              },
          .event_set_free = [](Nvml::EventSet) { return 0; },
          .register_events = [](Nvml::Device, unsigned long long, Nvml::EventSet) { return 0; },
          .event_set_wait =
              [](Nvml::EventSet, Nvml::Event* event, unsigned) {
                const std::lock_guard lock(notes().mutex);
                if (notes().events.empty()) {
                  ++notes().waits_without_event;
                  return notes().end_code;
                }
                *event = notes().events.front();
                notes().events.pop_front();
                return 0;
              }};
}

const std::vector<WatchedGpu> kGpus = {{"GPU-1", "0000:1b:00"}, {"GPU-2", "0000:2c:00"}};

// Starts a watch and lets it hear all events.
std::vector<GpuFault> heard(const Nvml& nvml) {
  auto watch = XidWatch::start(nvml, kGpus);
  EXPECT_TRUE(watch) << watch.error().message;
  while (notes().waits_without_event == 0) std::this_thread::yield();
  std::vector<GpuFault> faults;
  // A lost GPU is looked for after the last event.
  const Deadline deadline = Deadline::in_seconds(10);
  do {
    faults = (*watch)->take();
  } while (faults.empty() && notes().is_lost && !deadline.passed());
  return faults;
}

TEST(XidWatch, NamesTheGpuThatReportedAnError) {
  const Nvml nvml = nvml_with_events();
  notes().events = {{.device = device_at(2), .type = Nvml::kXidEvents, .data = 48}};
  const auto faults = heard(nvml);
  ASSERT_EQ(faults.size(), 1U);
  EXPECT_EQ(faults.at(0).uuid, "GPU-2");
  EXPECT_NE(faults.at(0).reason.find("Xid 48"), std::string::npos);
  EXPECT_EQ(notes().registered, (std::vector<std::string>{"0000:1b:00.0", "0000:2c:00.0"}));
}

// Otherwise any candidate with an illegal address would stop a GPU.
TEST(XidWatch, PassesOverErrorsThatACandidateCanCause) {
  const Nvml nvml = nvml_with_events();
  for (const unsigned long long xid : {13, 31, 43, 45, 68, 109})
    notes().events.push_back({.device = device_at(1), .type = Nvml::kXidEvents, .data = xid});
  EXPECT_TRUE(heard(nvml).empty());
}

TEST(XidWatch, ReportsAGpuThatFellOffTheBus) {
  const Nvml nvml = nvml_with_events();
  notes().is_lost = true;
  notes().end_code = Nvml::kGpuIsLost;
  const auto faults = heard(nvml);
  ASSERT_EQ(faults.size(), 1U);
  EXPECT_EQ(faults.at(0).uuid, "GPU-2");
}

TEST(XidWatch, FailsWithTheAddressOfAGpuThatTheDriverDoesNotWatch) {
  const auto watch =
      XidWatch::start(nvml_with_events(), std::vector<WatchedGpu>{{"GPU-9", "0000:99:00"}});
  ASSERT_FALSE(watch);
  EXPECT_NE(watch.error().message.find("0000:99:00"), std::string::npos);
}

}  // namespace
}  // namespace tritonsmith::gym::cuda
