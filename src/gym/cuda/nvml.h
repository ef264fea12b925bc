// Nvml: NVIDIA's management library, loaded with dlopen at run time, because a machine may lack it.
// It reports errors of GPUs (xid_watch.h), and their clocks, which ClockMeter reads. A referee owns
// the meter of its GPU, and its one thread calls it.
#pragma once

#include <optional>
#include <string>

#include "base/error.h"
#include "data/verdict.h"

namespace tritonsmith::gym::cuda {

// The functions of NVML by their names without its prefix, and the structs and numbers that they
// take, as its own header declares them. Each returns 0 for success. Tests fill the table.
struct Nvml {
  using Device = void*;
  using EventSet = void*;
  struct Event {
    Device device = nullptr;
    unsigned long long type = 0, data = 0;
    unsigned gpu_instance = 0, compute_instance = 0;
  };
  static constexpr unsigned long long kXidEvents = 8;
  static constexpr int kTimeout = 10, kGpuIsLost = 15;
  static constexpr int kMultiprocessorClock = 1, kMemoryClock = 2;

  int (*init)() = nullptr;
  int (*device_by_bus_id)(const char* bus_id, Device*) = nullptr;
  int (*device_uuid)(Device, char* uuid, unsigned length) = nullptr;
  int (*clock_info)(Device, int clock, unsigned* mhz) = nullptr;
  int (*event_set_create)(EventSet*) = nullptr;
  int (*event_set_free)(EventSet) = nullptr;
  int (*register_events)(Device, unsigned long long types, EventSet) = nullptr;
  int (*event_set_wait)(EventSet, Event*, unsigned timeout_ms) = nullptr;
};

Result<Nvml> load_nvml();

// Finds a GPU by its PCI address, as GpuFacts has it. Returns NVML's code.
int find_device(const Nvml& nvml, const std::string& bus_id, Nvml::Device& device);

class ClockMeter {
 public:
  // Fails if NVML does not know the GPU or does not read its clocks. It reads them once, so that
  // later readings open no file.
  static Result<ClockMeter> open(const Nvml& nvml, const std::string& bus_id);
  // Returns the clocks at this moment, or nothing if NVML fails.
  std::optional<Clocks> now() const;

 private:
  ClockMeter(const Nvml& nvml, Nvml::Device device) : nvml_(nvml), device_(device) {}

  Nvml nvml_;
  Nvml::Device device_;
};

}  // namespace tritonsmith::gym::cuda
