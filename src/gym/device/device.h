// Device: the CPU or the GPU on which a referee's tensors live. It does to tensors what LibTorch's
// operators do not do: it seeds generators, fills new memory, waits for work, tells whether a
// tensor changed, and compares. cpu_device() is below; cuda_device.h has the GPU's. Only the
// referee's one thread calls it.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "base/clock.h"
#include "gym/compare/compare.h"
#include "gym/device/input_change.h"
#include "gym/tensors/replay_memory.h"
#include "gym/tensors/tensors.h"

namespace tritonsmith::gym::device {

// The content of a tensor at one time: its bytes, or their fingerprint.
struct Snapshot {
  at::Tensor bytes;
  std::uint64_t print = 0;
};

// An input that is changed in place, and a copy of it for the candidate.
struct DrawnInput {
  at::Tensor drawn;
  InputChange change;
  at::Tensor copy;
};

// uniform: in [0, 1). normal: mean 0, variance 1.
enum class Distribution { uniform, normal };

class Device {
 public:
  virtual ~Device() = default;
  virtual c10::Device torch_device() const = 0;
  // Sets the seed of all operators that draw from a generator.
  virtual void seed(std::uint64_t seed) = 0;
  // Draws a new float32 tensor from the seed, or returns nothing to leave this to LibTorch.
  virtual std::optional<at::Tensor> draw(Distribution, at::IntArrayRef) { return std::nullopt; }

  // From now on, new memory holds the filler, and at most `cap_bytes` may be live.
  virtual void begin(tensors::Filler filler, std::int64_t cap_bytes) = 0;
  virtual void set_filler(tensors::Filler filler) = 0;
  virtual void end() = 0;
  // Tells whether an allocation was refused since begin().
  virtual bool refused() const = 0;
  virtual void note_refusal() = 0;
  // Returns the most bytes that one job may hold: `budget` on the CPU, free memory on a GPU.
  virtual std::int64_t capacity(std::int64_t budget) const = 0;
  // Returns a tensor like `made` that holds the filler, for the result of an operator that
  // allocates without a value.
  virtual at::Tensor filled(at::Tensor made) = 0;

  // Returns the same values in memory of the kind that filled() gives. It serves results of
  // operators that a kernel may write into.
  virtual at::Tensor fenced(at::Tensor made) { return made; }

  // Sets how long a wait for work may take. Work that takes longer counts as endless.
  virtual void set_patience(Deadline deadline) = 0;
  // Waits for all work so far and returns its failure, if any. It also finds writes beside the
  // tensors from filled() and fenced().
  virtual std::optional<VerdictError> wait(Deadline deadline) = 0;
  // Tells whether the device is unusable for good, so that the process must end.
  virtual bool spent() const = 0;

  virtual std::vector<Snapshot> snapshots(std::span<const at::Tensor> tensors) = 0;
  // Changes all inputs, copies them and takes their snapshots, in one pass over each. Once wait()
  // has returned, copied(k) returns the snapshot of input k. If the device cannot do this for one
  // of the inputs, it changes none and returns false.
  virtual bool change_and_copy(std::span<DrawnInput>) { return false; }
  virtual Snapshot copied(std::size_t) const { return {}; }
  virtual bool unchanged(const at::Tensor& now, const Snapshot& before) = 0;
  // The same for several tensors, in their order.
  virtual std::vector<bool> each_unchanged(std::span<const at::Tensor> now,
                                           std::span<const Snapshot> before);
  // Announces a call of each_unchanged() for these tensors. They do not change until then, so the
  // device may queue the work now.
  virtual void foresee(std::span<const at::Tensor>) {}
  // Returns the comparison that runs on this device, or null if the CPU can reach its tensors.
  virtual compare::DeviceComparison* comparison() = 0;
  // Frees memory kept for the next job, if other processes on the device would lack it.
  virtual void release() {}
  // Overwrites the tensors, so that no later code can read their content.
  virtual void forget(std::span<const at::Tensor> tensors) = 0;
};

Device& cpu_device();

}  // namespace tritonsmith::gym::device
