// Ordering: which accesses of other programs happened before what the running program does now, as
// far as atomics say so. A program's life is cut into epochs, one ends at each release; an acquire
// of the same location makes known all that its releases came after (vector clocks, kept by
// location instead of by program: FastTrack, Flanagan and Freund 2009, for many short threads).
// Where too much would have to be kept, more counts as known than is: never a false race.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

namespace tritonsmith::gym::triton_ir {

// 0: none. Never has the top bit.
using Epoch = std::uint32_t;

class Ordering {
 public:
  // Locations and how many of their releases are known, by location.
  using Known = std::vector<std::pair<std::int32_t, std::uint32_t>>;
  // What outlives a program's turn.
  struct Program {
    std::uint32_t program = 0;
    Epoch epoch = 0;
    Known known;
  };
  // Whether atomics of whole blocks count as one location with all others.
  enum class Grain { exact, coarse };

  explicit Ordering(Grain grain) : grain_(grain) {}

  void start(std::uint32_t program);
  Program leave() { return std::exchange(now_, {}); }
  void resume(Program program);

  void acquire(std::int64_t address);
  // What the program does next is of another epoch.
  void release(std::int64_t address);

  Epoch epoch() const { return now_.epoch; }
  bool is_own(Epoch epoch) const { return epoch > forgotten_ && at(epoch).program == now_.program; }
  // Whether all that was done in the epoch is before what the program does now.
  bool is_known(Epoch epoch) const;
  bool has_acquired() const { return !now_.known.empty(); }

 private:
  struct Entry {
    std::uint32_t program = 0;
    std::int32_t location = -1;  // that was released at its end
    std::uint32_t position = 0;  // ... as which of its releases
    Epoch next = 0;              // of the same program
  };
  struct Location {
    std::uint32_t releases = 0;
    Known known;  // by those who released it
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
  std::size_t kept_ = 0;  // of what they know
  std::unordered_map<std::int64_t, std::int32_t> by_address_;
};

}  // namespace tritonsmith::gym::triton_ir
