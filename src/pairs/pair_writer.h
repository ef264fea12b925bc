// PairWriter: makes a Triton solution of a PyTorch module from what torch.compile's Inductor writes
// for it, on a machine without a GPU (python/tritonsmith_pairs). The module is foreign code. So each
// one runs in a jailed guest of its own, forked from a warm zygote, as captures do. One thread of the
// pool calls the callbacks, which must not block.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>

#include "base/temp_dir.h"
#include "gym/capture/capture_pool.h"
#include "gym/sandbox/guest_files.h"

namespace tritonsmith::pairs {

// The Python that the guests run. The build makes it.
std::span<const gym::sandbox::EmbeddedFile> embedded_pair_files();

struct WrittenPair {
  std::string kernel;  // the solution's source; empty: there is none
  // Say why a module has no solution: a word for counting ("graph_break"), and a sentence.
  std::string reason, message;
  bool is_fault = false;  // the guests are broken, which is no fault of the module
};

class PairWriter {
 public:
  using Done = std::function<void(WrittenPair)>;

  // With Policy::strict, matrix products are Triton too, and modules that leave another operator to
  // torch have no solution.
  static Result<std::unique_ptr<PairWriter>> start(gym::capture::CaptureConfig config,
                                                   Policy policy);
  void write(std::string source, Done done);

 private:
  PairWriter(TempDir files, std::unique_ptr<gym::capture::CapturePool> pool)
      : files_(std::move(files)), pool_(std::move(pool)) {}
  TempDir files_;
  std::unique_ptr<gym::capture::CapturePool> pool_;
};

}  // namespace tritonsmith::pairs
