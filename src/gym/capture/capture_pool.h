// CapturePool: the part of the gym that runs candidates' Python, and the interface to it. Each
// capture runs in a jailed guest process of its own, freshly forked from a warm zygote, unless its
// request lets it share one. Each compilation runs in a long-lived jailed worker. The result is data
// that the guest made, or a typed failure. The data is hostile, and its parser must expect that. The
// pool itself observes how a guest ended, and believes nothing that the guest says about it.
//
//   TRY_ASSIGN(auto pool, CapturePool::start({.slots = 2}));
//   pool->capture({.role = CaptureRole::candidate, .source = ..., .init_args_json = ..., ...},
//                 [&](CaptureOutcome outcome) { queue.push(std::move(outcome)); });
//
// One thread of the pool owns all processes and calls the callbacks, which must not block. Any
// thread may call the public functions. The destructor kills every process and removes every file.
// Callbacks of unfinished work get an infrastructure fault.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/cache_directory.h"
#include "base/clock.h"
#include "base/config.h"
#include "base/cores.h"
#include "data/verdict.h"
#include "gym/compile/compile_request.h"
#include "gym/sandbox/default_layers.h"
#include "gym/sandbox/guest_failure.h"

namespace tritonsmith::gym::capture {

// Fails, and names the folder, if tasks cannot be shown one of these folders: it is no folder by its
// absolute path, or the sandbox has a folder of its own there.
Status check_data_folders(const std::vector<std::string>& folders);

struct CaptureConfig {
  // The number of guests that run at the same time, each under a uid of its own.
  int slots = std::max(2, usable_cores());
  // The number of compile workers. They have a little more than half of the guests' work. With a
  // single one, all jobs would at times wait for it on one core.
  int compilers = std::max(2, usable_cores() / 2);
  // Keeps a second warm zygote, which takes over if the first one dies. The spare costs some 300 MB
  // of memory, and several seconds of one core once.
  bool spare_zygote = usable_cores() >= 4;
  // The spare starts so many seconds after the first zygote was ready. So a short run with a few
  // verdicts does not pay for it.
  double spare_zygote_after = 2;
  // Wall-clock limit of a guest, from its fork. The limit of CPU time is half as much again.
  int capture_seconds = 20;
  int compile_seconds = 60;             // wall clock of one compilation
  double compile_budget_seconds = 180;  // compile time of all kernels of one job
  int compiles_per_worker = 500;        // after so many, a fresh worker takes over
  int memory_mib = 4096;                // address space in addition to the warm zygote's
  int output_kib = 256;                 // limit of a guest's stdout and of its stderr
  int plan_mib = 16;                    // limit of a guest's plan
  int tmp_mib = 64;                     // size of the private temporary folder
  int compile_cache_mib = 256;          // compiled kernels in memory
  std::string compile_cache_directory;  // empty: in memory only
  int compile_cache_disk_mib = 4096;    // compiled kernels in the directory
  // A folder for the bytecode of Python packages whose own folder holds none. Empty: it is not
  // kept.
  std::string bytecode_directory = cache_directory("bytecode");
  std::string python;             // empty: $TRITONSMITH_PYTHON, else the build's
  std::vector<std::string> data;  // folders that guests may read, for tasks that load files
  // The jail layers that must hold before anything runs. Each outcome reports the layers that hold.
  std::vector<std::string> required_layers = sandbox::layers_of_guest();
  static Fields<CaptureConfig> fields();
  compile::CompilerLimits compiler_limits() const;
};

enum class CaptureRole { task, candidate };

struct CaptureRequest {
  CaptureRole role = CaptureRole::candidate;
  std::string source;
  std::string path = "candidate.py";  // the name in tracebacks and locs
  // Values in the form of docs/plan.md as JSON text, from the task's plan. Empty for a task.
  std::string init_args_json;
  std::string inputs_json;
  std::string tensors_json;      // the plan's "tensors", to which the indices in all three refer
  std::string known_json;        // facts about the inputs' values that follow from the task alone
  bool first_call_only = false;  // later calls of the task take other steps (Plan::first_call_only)
  bool in_eval_mode = false;     // the candidate's module is in evaluation mode
  bool ignores_mode = false;     // the task's forward does the same in both modes
  std::string target = "sm_90";
  // The properties of the GPU that runs the plan, by torch's names, as a JSON object. If empty, the
  // guest sees a chip of the target.
  std::string device_json;
  // The guest may have served other such requests before this one, which saves a fork and keeps what
  // the guest has learned. Sources of strangers, who could change each other's results, must not ask
  // for it.
  bool shares_guest = false;
};

// The guest's result: JSON text in the form of docs/plan.md, unless the guest lied.
struct CapturedPlan {
  std::string json;
};
struct CaptureOutcome {
  std::variant<CapturedPlan, sandbox::CandidateFailure, sandbox::InfrastructureFault> result;
  sandbox::StageTimes stage_ms;          // "queue", "fork", "jail", "capture"
  std::vector<std::string> jail_layers;  // those that held: "uid", "namespaces", "landlock=7", ...
  std::string output;                    // the first KiB of what the candidate printed, for people
};
class CapturePool {
 public:
  using CaptureDone = std::function<void(CaptureOutcome)>;
  using CompileDone = gym::compile::CompileDone;

  // Returns when the zygote has begun to start, which takes some seconds. Requests wait for it.
  static Result<std::unique_ptr<CapturePool>> start(const CaptureConfig& config);
  virtual ~CapturePool() = default;

  // Queue the request and return its id for cancel(). The pool calls `done` on its thread.
  virtual std::uint64_t capture(CaptureRequest request, CaptureDone done) = 0;
  virtual std::uint64_t compile(compile::CompileRequest request, CompileDone done) = 0;
  // Kills the guest. The pool does not call the callback, unless the call has already begun.
  virtual void cancel(std::uint64_t id) = 0;

  // Returns the versions of Python, torch and Triton in the zygote. Fails if no zygote started.
  struct Versions {
    std::string python, torch, triton;
    double start_ms = 0;  // start of the zygote, including imports and warm-up
  };
  virtual Result<Versions> versions(Deadline deadline) = 0;

  // These do the same and wait for the result.
  CaptureOutcome capture_now(CaptureRequest request);
  compile::CompileOutcome compile_now(compile::CompileRequest request);
};

}  // namespace tritonsmith::gym::capture
