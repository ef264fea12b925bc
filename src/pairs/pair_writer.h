// PairWriter: makes a Triton solution of a PyTorch module from what torch.compile's Inductor writes
// for it, on a machine without a GPU (python/tritonsmith_pairs). The module is foreign code as a rule.
// So each one runs in a jailed guest of its own, forked from a warm zygote, as captures do. Modules
// that this program made itself follow each other in a few such guests, which takes less time. One
// thread of the pool calls the callbacks, which must not block.
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
  // The rewriter sets one of these. If `kernel` is the plain form, `given` is the text that it was made
  // of, which is judged if the plain form is not accepted. Else `kernel` is the given text, and
  // `kept_because` is the word for why.
  std::string given, kept_because;
};

// Returns `plain`, which a guest made of the given solution, or the solution as given if it made none.
WrittenPair plain_or_given(WrittenPair plain, std::string given);

enum class ModuleOrigin { foreign, own };  // own: this program made the modules' text

class PairWriter {
 public:
  using Done = std::function<void(WrittenPair)>;

  // With Policy::strict, matrix products are Triton too, and modules that leave another operator to
  // torch have no solution.
  static Result<std::unique_ptr<PairWriter>> start(gym::capture::CaptureConfig config,
                                                   Policy policy, ModuleOrigin origin);
  void write(std::string source, Done done);

  // A writer that only rewrites.
  static Result<std::unique_ptr<PairWriter>> start_rewriter(gym::capture::CaptureConfig config);
  void rewrite(std::string given, Done done);

 private:
  static Result<std::unique_ptr<PairWriter>> start_with(gym::capture::CaptureConfig config,
                                                        const char* module, bool shares_guests);
  PairWriter(TempDir files, std::unique_ptr<gym::capture::CapturePool> pool, bool shares_guests)
      : files_(std::move(files)), shares_guests_(shares_guests), pool_(std::move(pool)) {}
  void write_in(bool shared_guest, std::string source, Done done);
  TempDir files_;
  bool shares_guests_;
  std::unique_ptr<gym::capture::CapturePool> pool_;
};

}  // namespace tritonsmith::pairs
