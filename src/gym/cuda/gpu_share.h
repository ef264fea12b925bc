// GpuShare: the part of one referee in a GPU that several referees of a judge use. It has two leases
// (base/lease.h), which die with the referee:
//
// - The turn. A referee that computes holds it together with others, and one that measures time
//   holds it alone. A referee gives it up only while it has no work on the device.
// - The memory. A referee holds it together with others while it keeps device memory. If a job
//   lacked memory, its referee waits until it holds this lease alone: then no other referee keeps
//   any.
//
// A referee that waits for the memory, alone or not, must not hold the turn. The judge makes the
// files and keeps a copy of the descriptors until the referee's process has ended. So nobody gets
// the turn while the driver still stops a kernel of a killed referee. One thread uses it.
#pragma once

#include <array>
#include <filesystem>
#include <functional>

#include "base/lease.h"

namespace tritonsmith::gym::cuda {

class GpuShare {
 public:
  // Opens the share with this number of referees. All of them name the same file.
  static Result<GpuShare> open(const std::filesystem::path& file, int referees);
  // Takes over the descriptors of another process's share.
  static GpuShare adopt(const std::array<int, 4>& descriptors, int referees);
  std::array<int, 4> descriptors() const;

  int referees() const { return referees_; }
  // `on_wait` is called with true when a wait for other referees begins, and with false when it
  // ends. A wait that ends at once is not told.
  void tell_waits(std::function<void(bool begins)> on_wait) { on_wait_ = std::move(on_wait); }
  double waited_ms() const { return waited_ms_; }  // in all waits so far

  // Takes the turn together with others. Does nothing if it is held.
  void take_turn();
  // The same, if it succeeds before the deadline. Such a wait is not told.
  [[nodiscard]] bool take_turn_by(Deadline deadline);
  // Gives up a turn that is held together with others for a moment if somebody waits for it.
  void let_others_pass();
  void take_turn_alone();
  void give_back_turn() { turn_.give_back(); }
  bool has_turn() const { return turn_.is_held(); }
  bool has_turn_alone() const { return turn_.is_held() && is_alone_; }

  // Takes the memory together with others. Does nothing if it is held.
  void take_memory();
  // The caller has freed what it kept.
  void take_memory_alone();
  void give_back_memory() { memory_.give_back(); }
  bool has_memory() const { return memory_.is_held(); }
  bool has_memory_alone() const { return memory_.is_held() && has_all_memory_; }
  bool is_memory_wanted() const { return memory_.is_wanted(); }

 private:
  GpuShare(Lease turn, Lease memory, int referees)
      : turn_(std::move(turn)), memory_(std::move(memory)), referees_(referees) {}
  void await(Lease& lease, Lease::Hold hold);

  Lease turn_, memory_;
  int referees_;
  bool is_alone_ = false, has_all_memory_ = false;
  double waited_ms_ = 0;
  std::function<void(bool)> on_wait_;
};

}  // namespace tritonsmith::gym::cuda
