// PythonReference: a Python process that runs tasks as they are written, for facts that a replay
// cannot show. It tells what forward returns if forward cannot be captured (reference_relay.h), how
// long the eager Python takes, timed as KernelBench does, and how long torch.compile's version
// takes (gym/guest/reference/python_reference.py). It runs the code of tasks, which is trusted, and
// never a candidate's. It starts at the first question. One thread asks: the one that judges on the
// same device, so that nothing else runs there meanwhile.
#pragma once

#include <mutex>
#include <optional>
#include <string>

#include "base/byte_cache.h"
#include "base/process.h"
#include "data/verdict.h"
#include "gym/capture/capture_pool.h"
#include "gym/sandbox/guest_files.h"

namespace tritonsmith::gym::judge {

struct PythonReferenceOptions {
  std::string python;                   // empty: the guests' Python
  std::string bytecode_directory = {};  // as in CaptureConfig
  std::string device = "cuda:0";
  double seconds = 300;  // for one answer, including the start of Python
};

// Returns options for the guests' own Python.
PythonReferenceOptions python_reference_options(const capture::CaptureConfig& config,
                                                std::string device);

class PythonReference {
 public:
  explicit PythonReference(PythonReferenceOptions options) : options_(std::move(options)) {}

  // `how` is "eager" or "torch_compile". A known time is returned again, and is measured anew now
  // and then. Fails with the reason if the task does not run in this way.
  Result<Timing> time(const std::string& task_source, const std::string& how);
  // Returns the socket of the process for questions with tensors, and starts the process if it
  // does not run. A caller that cannot finish a question calls end(), and the next open() starts
  // a new process.
  Result<int> open();
  void end();
  // Ends the process and says why a question about the task got no answer, as the answer to the
  // referee. The process runs the task's code, so the task is to blame if the process ended itself
  // or sent nonsense. If somebody killed it, that is a fault, but not twice for the same task.
  Json end_without_answer(const std::string& task_source, const std::string& what);
  const std::string& device() const { return options_.device; }
  // Ends the present call and every later one. Any thread may call it.
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
  std::string killed_at_;  // the content of the task at which the process was killed last
  ByteCache<Known> known_{std::size_t{4} << 20};  // by `how` and source
};

}  // namespace tritonsmith::gym::judge
