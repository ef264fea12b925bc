// ReferenceShell: a Python process that runs tasks as they are written, for what replaying them
// cannot tell: what forward returns where it cannot be captured (reference_relay.h), how long the
// eager Python takes, timed as KernelBench does, and what torch.compile makes of it
// (gym/guest/reference_shell.py). It runs the code of tasks, which is trusted, and never a
// candidate's. Started when it is first asked. One thread asks, the one that judges on the same
// device, so that nothing else runs there meanwhile.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "base/process.h"
#include "data/verdict.h"
#include "gym/capture/capture_pool.h"
#include "gym/sandbox/guest_files.h"

namespace tritonsmith::gym::judge {

struct PythonReferenceOptions {
  std::string python;                   // empty: the guests'
  std::string bytecode_directory = {};  // as CaptureConfig's
  std::string device = "cuda:0";
  double seconds = 300;  // for one answer, the start of Python included
};

// With the guests' own Python.
PythonReferenceOptions python_reference_options(const capture::CaptureConfig& config,
                                                std::string device);

class PythonReference {
 public:
  explicit PythonReference(PythonReferenceOptions options) : options_(std::move(options)) {}

  // `how`: "eager" or "torch_compile". What was measured before is told again, and measured anew
  // now and then. Fails where the task does not run so, and says why.
  Result<Timing> time(const std::string& task_source, const std::string& how);
  // The socket of the shell, started where it does not run, for questions with tensors. Whoever
  // cannot finish one ends the shell: it is started anew.
  Result<int> open();
  void end();
  const std::string& device() const { return options_.device; }
  // From any thread: ends what is under way, and every later call.
  void interrupt();

 private:
  struct Live {
    Process process;
    Fd socket;
  };
  struct Known {
    Timing timing;
    int uses = 0;
  };
  Result<Timing> measure(const std::string& task_source, const std::string& how);
  Status start();

  PythonReferenceOptions options_;
  std::optional<sandbox::GuestFiles> files_;
  std::mutex mutex_;  // guards interrupted_, and live_ against an interrupt
  bool interrupted_ = false;
  std::optional<Live> live_;
  std::map<std::string, Known> known_;  // by how and source
};

}  // namespace tritonsmith::gym::judge
