// CapturePool: the part of the gym that runs candidates' Python, and its public interface. Each
// capture runs in a guest process of its own, freshly forked from a warm zygote and jailed. Each
// compilation runs in a long-lived jailed worker. A result is data that the guest made, which the
// caller must parse as hostile, or a typed failure that the pool established itself. The pool never
// asks a guest how it ended.
//
//   TRY_ASSIGN(auto pool, CapturePool::start({.slots = 2}));
//   pool->capture({.role = CaptureRole::candidate, .source = ..., .init_args_json = ..., ...},
//                 [&](CaptureOutcome outcome) { queue.push(std::move(outcome)); });
//
// One thread of the pool owns all processes and calls the callbacks, which must not block. Any
// thread may call the public functions. The destructor kills every process and removes every file.
// Callbacks of unfinished work receive an infrastructure fault.
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
#include "gym/sandbox/guest_failure.h"

namespace tritonsmith::gym::capture {

struct CaptureConfig {
  // The numbers of guests and of compile workers that run at a time, each guest under its own uid.
  // Compile workers have a little more than half as much to do.
  int slots = std::max(2, usable_cores());
  int compilers = std::max(1, usable_cores() / 2);
  // Whether a second warm zygote stands by to replace one that dies. It costs some 300 MB of memory
  // and the time of one core for seconds, once the first serves.
  bool spare_zygote = usable_cores() >= 4;
  // Seconds that the first zygote serves before the spare starts, so that short runs do not pay for
  // it.
  double spare_zygote_after = 2;
  // Wall clock of a guest, from its fork. Its CPU time may be half as much again.
  int capture_seconds = 20;
  int compile_seconds = 60;             // wall clock of one compilation
  int compiles_per_worker = 500;        // a fresh worker then takes over
  int memory_mib = 4096;                // address space beyond that of the warm zygote
  int output_kib = 256;                 // stdout and stderr of a guest, each
  int plan_mib = 16;                    // the largest plan that a guest may send
  int tmp_mib = 64;                     // private temporary folder
  int compile_cache_entries = 4096;     // in memory
  std::string compile_cache_directory;  // empty: in memory only
  // A folder for the bytecode of Python packages that have none beside them; empty: none is kept.
  std::string bytecode_directory = cache_directory("bytecode");
  // Empty: TRITONSMITH_PYTHON of the environment, else the build's Python.
  std::string python;
  // Jail layers that must hold before anything runs. Each outcome reports the layers that held. A
  // sandbox root or Landlock must hold, because nothing else keeps a guest from GPU device files,
  // which every user may open.
  std::vector<std::string> required_layers = {"rlimits", "fds", "no_new_privs", "seccomp",
                                              "room|landlock"};
  static Fields<CaptureConfig> fields();
  compile::CompilerLimits compiler_limits() const;
};

enum class CaptureRole { task, candidate };

struct CaptureRequest {
  CaptureRole role = CaptureRole::candidate;
  std::string source;
  std::string path = "candidate.py";  // the name in tracebacks and in the IR's locations
  // Values of docs/plan.md as JSON text, from the task's plan; empty for a task.
  std::string init_args_json;
  std::string inputs_json;
  std::string tensors_json;  // the plan's "tensors", to which the indices in both refer
  std::string target = "sm_90";
  // The properties of the GPU that runs the plan, by torch's names, as a JSON object. If it is
  // empty, the guest sees a typical chip of the target.
  std::string device_json;
};

// A guest's plan as JSON text in the form of docs/plan.md. A guest can lie, so the text is hostile.
struct CapturedPlan {
  std::string json;
};
struct CaptureOutcome {
  std::variant<CapturedPlan, sandbox::CandidateFailure, sandbox::InfrastructureFault> result;
  sandbox::StageTimes stage_ms;          // "queue", "fork", "jail", "capture"
  std::vector<std::string> jail_layers;  // those that held: "uid", "namespaces", "landlock=7", ...
  std::string output;                    // the first KiB of the candidate's output, for people
};
class CapturePool {
 public:
  using CaptureDone = std::function<void(CaptureOutcome)>;
  using CompileDone = gym::compile::CompileDone;

  // Returns once the zygote is starting. Work that is submitted meanwhile waits a few seconds for
  // it.
  static Result<std::unique_ptr<CapturePool>> start(const CaptureConfig& config);
  virtual ~CapturePool() = default;

  // Both functions return an id, which only cancel takes.
  virtual std::uint64_t capture(CaptureRequest request, CaptureDone done) = 0;
  virtual std::uint64_t compile(compile::CompileRequest request, CompileDone done) = 0;
  // Kills the guest. The callback is not called, unless a call of it has already begun.
  virtual void cancel(std::uint64_t id) = 0;

  // The versions that capture and compile. Fails with the reason when the zygote did not start.
  struct Versions {
    std::string python, torch, triton;
    double start_ms = 0;  // start of the zygote, imports and warm-up included
  };
  virtual Result<Versions> versions(Deadline deadline) = 0;

  // These two do the same and block until the result.
  CaptureOutcome capture_now(CaptureRequest request);
  compile::CompileOutcome compile_now(compile::CompileRequest request);
};

}  // namespace tritonsmith::gym::capture
