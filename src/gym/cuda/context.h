// What the referee holds of its one GPU by the driver: the context that LibTorch uses too, modules,
// events, page-locked memory. Everything runs in the default stream, in which LibTorch works as
// well, so that order needs no further care. One thread owns all of it.
#pragma once

#include <array>
#include <memory>
#include <string>

#include "base/clock.h"
#include "gym/cuda/driver.h"

namespace tritonsmith::gym::cuda {

// The device's primary context, current on this thread; kept until the process ends, as LibTorch
// keeps it.
Status use_device(const Driver& driver, int ordinal);

// Errors after which the context is lost and the process must end: an illegal address, a trap.
bool ends_the_context(CUresult result);

class Module {
 public:
  static Result<Module> load(const Driver& driver, const std::string& cubin);
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
  // CUDA_ERROR_NOT_READY while the device has not come so far.
  CUresult query() const;
  // Milliseconds since `before`; both must have happened.
  double milliseconds_since(const Event& before) const;

 private:
  Event(const Driver& driver, CUevent event) : driver_(&driver), event_(event) {}
  const Driver* driver_;
  CUevent event_;
};

// Polls, since waiting by the driver has no time limit: an endless kernel must be told from a slow
// one. CUDA_ERROR_NOT_READY when the deadline passes first.
CUresult wait_for(const Event& event, Deadline deadline);

struct LaunchShape {
  std::array<unsigned, 3> grid = {1, 1, 1};  // blocks, or clusters where a cluster has several
  unsigned threads = 128;                    // of a block
  unsigned shared_bytes = 0;
  unsigned cluster = 1;  // blocks
};
CUresult launch(const Driver& driver, CUfunction function, const LaunchShape& shape,
                void** parameters);

}  // namespace tritonsmith::gym::cuda
