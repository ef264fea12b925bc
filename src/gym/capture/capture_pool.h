// CapturePool: the part of the gym that runs candidates' Python, and all that others see of it.
// Each capture runs in a guest process of its own, freshly forked from a warm zygote and jailed;
// each compilation in a long-lived jailed worker. What comes back is data the guest made (hostile,
// to be parsed as such) or a typed failure that we established ourselves; never the guest's word
// about its own fate.
//
//   TRY_ASSIGN(auto pool, CapturePool::start({.slots = 2}));
//   pool->capture({.role = CaptureRole::candidate, .source = ..., .init_args_json = ..., ...},
//                 [&](CaptureOutcome outcome) { queue.push(std::move(outcome)); });
//
// One thread of the pool's own owns all processes and calls the callbacks, which must not wait. The
// public functions may be called from any thread. The destructor kills every process and removes
// every file; callbacks of work not yet done get an infrastructure fault.
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
  // Guests at a time, each under a uid of its own; compile workers at a time, which have a little
  // more than half as much to do.
  int slots = std::max(2, usable_cores());
  int compilers = std::max(1, usable_cores() / 2);
  // A second warm zygote stands by, to take the place of one that dies: some 300 MB of memory, and
  // the time of one core for seconds once the first serves.
  bool spare_zygote = usable_cores() >= 4;
  // Seconds that the first has served by then: who wants a few verdicts does not pay for a spare.
  double spare_zygote_after = 2;
  int capture_seconds = 20;  // wall clock of a guest, from its fork; half as much again of CPU time
  int compile_seconds = 60;  // wall clock of one compilation
  int compiles_per_worker = 500;        // then a fresh worker takes over
  int memory_mib = 4096;                // address space beyond what the warm zygote has
  int output_kib = 256;                 // stdout and stderr of a guest, each
  int plan_mib = 16;                    // what a guest may hand over
  int tmp_mib = 64;                     // private temporary folder
  int compile_cache_entries = 4096;     // in memory
  std::string compile_cache_directory;  // empty: in memory only
  // Of Python's packages where they have none beside them; empty: it is not kept.
  std::string bytecode_directory = cache_directory("bytecode");
  std::string python;             // empty: TRITONSMITH_PYTHON of the environment, else of the build
  std::vector<std::string> data;  // folders that guests may read, for tasks that load files
  // Jail layers without which nothing runs; what holds is reported with each outcome. Of a room and
  // Landlock one must: nothing else keeps a guest from GPU nodes, which every user may open.
  std::vector<std::string> required_layers = {"rlimits", "fds", "no_new_privs", "seccomp",
                                              "room|landlock"};
  static Fields<CaptureConfig> fields();
  compile::CompilerLimits compiler_limits() const;
};

enum class CaptureRole { task, candidate };

struct CaptureRequest {
  CaptureRole role = CaptureRole::candidate;
  std::string source;
  std::string path = "candidate.py";  // the name in tracebacks and locs
  // Values of docs/plan.md as JSON text, from the task's plan; empty for a task.
  std::string init_args_json;
  std::string inputs_json;
  std::string tensors_json;  // the plan's "tensors", which the indices in both mean
  std::string target = "sm_90";
  // What the GPU that runs the plan says of itself, by torch's names, as a JSON object; empty: the
  // guest is told of a chip of the target.
  std::string device_json;
};

// What a guest handed over: JSON text in the form of docs/plan.md, unless the guest lied.
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

  // Returns once the zygote is on its way; work submitted meanwhile waits for it (a few seconds).
  static Result<std::unique_ptr<CapturePool>> start(const CaptureConfig& config);
  virtual ~CapturePool() = default;

  // The id serves only to cancel.
  virtual std::uint64_t capture(CaptureRequest request, CaptureDone done) = 0;
  virtual std::uint64_t compile(compile::CompileRequest request, CompileDone done) = 0;
  // The guest is killed; the callback is not called, unless it is being called already.
  virtual void cancel(std::uint64_t id) = 0;

  // Versions of what captures and compiles. Fails when the zygote did not come up, and says why.
  struct Versions {
    std::string python, torch, triton;
    double start_ms = 0;  // of the zygote, imports and warm-up included
  };
  virtual Result<Versions> versions(Deadline deadline) = 0;

  // The same, waiting for the result.
  CaptureOutcome capture_now(CaptureRequest request);
  compile::CompileOutcome compile_now(compile::CompileRequest request);
};

}  // namespace tritonsmith::gym::capture
