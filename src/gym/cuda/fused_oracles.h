// FusedOracles: the oracle kernels (oracle_source.h) of the tasks that one referee knows. A thread
// of its own compiles them, one at a time, while the referee works. Until a task's kernel is ready,
// LibTorch's operators compute its oracle. Tasks with equal forwards share a kernel. Only the
// referee's thread calls this class.
#pragma once

#include <future>
#include <optional>
#include <string>

#include "base/byte_cache.h"
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

  // Returns nothing while the kernel is being compiled, or if the task has none. Small tasks have
  // none, because compiling costs more than it saves.
  std::optional<FusedOracle> find(const plan::Plan& task);
  // Waits for the compilation in progress, for tests.
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
  // The kernels by their source. An entry has no function if its source did not compile.
  ByteCache<Made> made_{std::size_t{64} << 20};
  std::string compiling_;  // the source that is being compiled
  std::future<Result<std::string>> cubin_;
};

}  // namespace tritonsmith::gym::cuda
