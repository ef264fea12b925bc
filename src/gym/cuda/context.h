// Uses the referee's share of its one GPU through the CUDA driver: the context that LibTorch uses
// too, modules, events and launches. All work runs in the default stream, as LibTorch's does. So no
// other synchronisation is needed. One thread owns all objects here.
#pragma once

#include <array>
#include <memory>
#include <string>

#include "base/clock.h"
#include "gym/cuda/driver.h"

namespace tritonsmith::gym::cuda {

// Makes the device's primary context current on this thread. The context stays until the process
// ends, as LibTorch keeps it.
Status use_device(const Driver& driver, int ordinal);

// Tells whether the context is lost after this error, so that the process must end. Examples are an
// illegal address and a trap.
bool ends_the_context(CUresult result);

class Module {
 public:
  // `result`, if given, gets what the driver answered.
  static Result<Module> load(const Driver& driver, const std::string& cubin,
                             CUresult* result = nullptr);
  Module(Module&& other) noexcept;
  Module& operator=(Module&& other) noexcept;
  ~Module();
  Result<CUfunction> function(const std::string& name) const;

 private:
  Module(const Driver& driver, CUmodule module) : driver_(&driver), module_(module) {}
  const Driver* driver_;
  CUmodule module_;
};

// A point in the stream, with its time.
class Event {
 public:
  static Result<Event> make(const Driver& driver);
  Event(Event&& other) noexcept;
  Event& operator=(Event&& other) noexcept;
  ~Event();
  CUresult record();
  // Returns CUDA_ERROR_NOT_READY while the device has not reached the event.
  CUresult query() const;
  // Returns the milliseconds since `before`. The device must have reached both events.
  double milliseconds_since(const Event& before) const;

 private:
  Event(const Driver& driver, CUevent event) : driver_(&driver), event_(event) {}
  const Driver* driver_;
  CUevent event_;
};

// Polls the event, because the driver's own wait has no time limit and an endless kernel must be
// told from a slow one. Returns CUDA_ERROR_NOT_READY when the deadline passes first.
CUresult wait_for(const Event& event, Deadline deadline);

struct LaunchShape {
  std::array<unsigned, 3> grid = {1, 1, 1};  // blocks, or clusters if `cluster` is above 1
  unsigned threads = 128;                    // per block
  unsigned shared_bytes = 0;
  unsigned cluster = 1;  // blocks per cluster
};
CUresult launch(const Driver& driver, CUfunction function, const LaunchShape& shape,
                void** parameters);

}  // namespace tritonsmith::gym::cuda
