// TimedDevices: on which devices kernels were timed, by the names of their GPUs. A speed-up on one
// kind of GPU says little about another kind. So whoever compares speed-ups lets only those of one
// kind count: of the one that timed most kernels, unless the caller names another. Plain data.
#pragma once

#include <map>
#include <string>

#include "data/verdict.h"

namespace tritonsmith {

class TimedDevices {
 public:
  // Counts a verdict that has times. Others count nothing.
  void add(const Verdict& verdict);
  void add(const std::string& device) { ++counts_[device]; }

  // Returns the device that timed most kernels, the first by name among equals. Empty: none did.
  std::string most() const;
  // Returns what was timed on devices other than `device`, in words: "3 on NVIDIA A100". Empty:
  // nothing was.
  std::string others_than(const std::string& device) const;

 private:
  std::map<std::string, std::size_t> counts_;
};

// Says whether the verdict has a time or a speed-up.
bool is_timed(const Verdict& verdict);

// Removes the times of a verdict, and all that follows from them.
void forget_times(Verdict& verdict);

}  // namespace tritonsmith
