// FusedOracles: the oracle kernels (oracle_source.h) of the tasks that one referee knows. They are
// compiled beside the referee's work, by a thread of their own, one at a time; until a task's is
// there, LibTorch's operators make its oracle. Tasks whose forwards are alike share one. The
// referee's thread calls everything here.
#pragma once

#include <future>
#include <map>
#include <optional>
#include <string>

#include "gym/cuda/context.h"
#include "gym/cuda/oracle_source.h"

namespace tritonsmith::gym::cuda {

struct FusedOracle {
  CUfunction function = nullptr;
  std::vector<int> leaves;  // OracleSource::leaves
};

class FusedOracles {
 public:
  FusedOracles(const Driver& driver, std::string nvrtc, std::string target)
      : driver_(driver), nvrtc_(std::move(nvrtc)), target_(std::move(target)) {}

  // None while it is being compiled, or where the task has none. Small tasks have none: theirs
  // would cost more than it spares.
  std::optional<FusedOracle> find(const plan::Plan& task);
  // Waits for what is being compiled; for tests.
  void finish();

 private:
  void take_compiled();
  void take(const Result<std::string>& cubin);

  const Driver& driver_;
  std::string nvrtc_, target_;
  struct Made {
    std::optional<Module> module;
    CUfunction function = nullptr;
  };
  std::map<std::string, Made> made_;  // by source; without a function where it does not compile
  std::string compiling_;             // a source
  std::future<Result<std::string>> cubin_;
};

}  // namespace tritonsmith::gym::cuda
