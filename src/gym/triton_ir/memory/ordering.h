// Ordering: tells which accesses of other programs happened, by the kernel's atomics, before the
// running program's next step. A program's run is divided into epochs, and each release ends one.
// An acquire of the same location learns all that happened before its releases. These are vector
// clocks, kept by location instead of by program, for many short threads (FastTrack, Flanagan and
// Freund 2009). If the clocks grow too large, more accesses count as ordered than are, so that no
// race is reported falsely.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

namespace tritonsmith::gym::triton_ir {

// 0 means none. The top bit is always 0.
using Epoch = std::uint32_t;

class Ordering {
 public:
  // The number of known releases of each location, sorted by location.
  using Known = std::vector<std::pair<std::int32_t, std::uint32_t>>;
  // The state that a suspended program keeps.
  struct Program {
    std::uint32_t program = 0;
    Epoch epoch = 0;
    Known known;
  };
  // coarse: all atomics count as one location, those of whole blocks included.
  enum class Grain { exact, coarse };

  explicit Ordering(Grain grain) : grain_(grain) {}

  void start(std::uint32_t program);
  Program leave() { return std::exchange(now_, {}); }
  void resume(Program program);

  void acquire(std::int64_t address);
  // Ends the program's epoch.
  void release(std::int64_t address);

  Epoch epoch() const { return now_.epoch; }
  bool is_own(Epoch epoch) const { return epoch > forgotten_ && at(epoch).program == now_.program; }
  // Tells whether all accesses of the epoch happened before the program's next step.
  bool is_known(Epoch epoch) const;
  bool has_acquired() const { return !now_.known.empty(); }

 private:
  struct Entry {
    std::uint32_t program = 0;
    std::int32_t location = -1;  // the location whose release ended the epoch
    std::uint32_t position = 0;  // the number of that release
    Epoch next = 0;              // the same program's next epoch
  };
  struct Location {
    std::uint32_t releases = 0;
    Known known;  // by the programs that released it
  };
  const Entry& at(Epoch epoch) const { return entries_[epoch - forgotten_ - 1]; }
  std::int64_t key_of(std::int64_t address) const { return grain_ == Grain::coarse ? 0 : address; }
  std::int32_t location_of(std::int64_t address);
  Epoch begin_epoch();
  void forget();
  void coarsen();

  Grain grain_;
  Program now_;
  Epoch forgotten_ = 0;  // epochs up to this one count as known
  std::vector<Entry> entries_;
  std::vector<Location> locations_;
  std::size_t kept_ = 0;  // entries in all locations' `known`
  std::unordered_map<std::int64_t, std::int32_t> by_address_;
};

}  // namespace tritonsmith::gym::triton_ir
