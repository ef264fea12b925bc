// Place: where a referee's tensors live, and all that it does to them besides LibTorch's operators:
// seeding, poisoned memory, waiting, seeing whether something changed, comparing. The CPU's is
// here, the GPU's in cuda_device.h. Used by the referee's one thread.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "base/clock.h"
#include "gym/compare/compare.h"
#include "gym/tensors/replay_memory.h"
#include "gym/tensors/tensors.h"

namespace tritonsmith::gym::device {

// What a tensor held at one time: its bytes, or a number that only they give.
struct Snapshot {
  at::Tensor bytes;
  std::uint64_t print = 0;
};

// What a trial does to an input that was drawn: x * factor + shift, where all but a share of the
// elements, chosen by chance from the seed, were multiplied by `rest` before.
struct InputChange {
  double factor = 1, shift = 0, kept = 1, rest = 0;
  std::uint64_t seed = 0;
  bool changes() const { return factor != 1 || shift != 0 || kept < 1; }
};

// An input, changed in place, with a copy of its own for the candidate.
struct DrawnInput {
  at::Tensor drawn;
  InputChange change;
  at::Tensor copy;
};

enum class Distribution { uniform, normal };  // of [0, 1); of mean 0 and variance 1

class Device {
 public:
  virtual ~Device() = default;
  virtual c10::Device torch_device() const = 0;
  // Draws of operators that take a generator follow from this.
  virtual void seed(std::uint64_t seed) = 0;
  // New floats, drawn from the seed, where the place draws more quickly than LibTorch.
  virtual std::optional<at::Tensor> draw(Distribution, at::IntArrayRef) { return std::nullopt; }

  // From now on new memory holds the filler, and at most this much is live.
  virtual void begin(tensors::Filler filler, std::int64_t cap_bytes) = 0;
  virtual void set_filler(tensors::Filler filler) = 0;
  virtual void end() = 0;
  // Whether memory ran out since begin().
  virtual bool refused() const = 0;
  virtual void note_refusal() = 0;
  // The most that one job may hold, where it was given `budget`.
  virtual std::int64_t capacity(std::int64_t budget) const = 0;
  // The same tensor with the filler in it, for what an operator allocated without a value.
  virtual at::Tensor filled(at::Tensor made) = 0;

  // The same values in memory of their own where filled() would give it, for what a kernel may
  // write into though an operator has.
  virtual at::Tensor fenced(at::Tensor made) { return made; }

  // Until when work may take that is waited for; beyond it counts as endless.
  virtual void set_patience(Deadline deadline) = 0;
  // Waits for all work so far; says how it failed. Also finds writes beside what filled() and
  // fenced() gave.
  virtual std::optional<VerdictError> wait(Deadline deadline) = 0;
  // Broken for good: the process must end.
  virtual bool spent() const = 0;

  virtual std::vector<Snapshot> snapshots(std::span<const at::Tensor> tensors) = 0;
  // Changes and copies all of them, in one pass over each, which also remembers what they then
  // hold: copied(k) gives that once wait() has returned. False, and nothing is done, where the
  // place cannot do it for one of them.
  virtual bool change_and_copy(std::span<DrawnInput>) { return false; }
  virtual Snapshot copied(std::size_t) const { return {}; }
  virtual bool unchanged(const at::Tensor& now, const Snapshot& before) = 0;
  // The same for many, in their order.
  virtual std::vector<bool> each_unchanged(std::span<const at::Tensor> now,
                                           std::span<const Snapshot> before);
  // each_unchanged() is going to be asked of these, and nothing changes them until then: what it
  // takes may be queued now.
  virtual void foresee(std::span<const at::Tensor>) {}
  // For tensors that the CPU does not reach; null where it does.
  virtual compare::DeviceComparison* comparison() = 0;
  // Gives back memory that is kept for the next job, where it is so much that others on the same
  // device would miss it.
  virtual void release() {}
  // Overwrites the tensors, so that nothing learns what they held.
  virtual void forget(std::span<const at::Tensor> tensors) = 0;
};

Device& cpu_device();

}  // namespace tritonsmith::gym::device
