// Defines a compile worker's request and reply. The code is the candidate's, hence hostile, so the
// worker that reads it is jailed.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <variant>

#include "data/verdict.h"
#include "gym/plan/kernel_language.h"
#include "gym/sandbox/guest_failure.h"

namespace tritonsmith::gym::compile {

struct CompileRequest {
  plan::KernelLanguage language = plan::KernelLanguage::triton_ir;
  std::string code;
  int num_warps = 4;
  int num_stages = 3;
  int num_ctas = 1;
  int maxnreg = 0;  // 0: the compiler sets no limit
  bool enable_fp_fusion = true;
  std::string target = "sm_90";
  // Edited PTX, which is assembled in place of the compiler's own. Empty: there is none.
  std::string ptx;
  bool wants_ptx = false;  // the reply then holds the compiler's own PTX
  std::uint64_t job = 0;   // the kernel's job, as jobs are served round-robin; 0: a job of its own
};

struct CompiledKernel {
  std::string cubin;  // bytes
  std::string name;
  int registers = 0, spills = 0, shared_bytes = 0;
  // Global memory for each program. Descriptors that are made on the device need it.
  int scratch_bytes = 0;
  int num_warps = 0;  // per block; 0: the request's number
  // The compiler's own PTX and, of edited PTX, its instructions in words. Both are empty unless the
  // request asks for them.
  std::string ptx, instructions;
  bool operator==(const CompiledKernel&) const = default;
};
struct CompileOutcome {
  std::variant<CompiledKernel, sandbox::CandidateFailure, sandbox::InfrastructureFault> result;
  sandbox::StageTimes stage_ms;  // "queue", "compile"
  bool from_cache = false;
};

using CompileDone = std::function<void(CompileOutcome)>;

// The part of CaptureConfig that concerns compile workers.
struct CompilerLimits {
  int workers = 1;                // that compile at the same time
  int seconds = 60;               // wall clock of one compilation
  double budget_seconds = 180;    // compile time of one job
  int compiles_per_worker = 500;  // then a fresh worker takes over
  int cache_mib = 256;            // in memory
  std::string cache_directory;    // empty: in memory only
  int cache_disk_mib = 4096;      // in the directory
};

}  // namespace tritonsmith::gym::compile
