// ReplayGpu: a GPU that runs plans, as verdicts name it. choose_gpus() selects a judge's GPUs among
// those of the machine. Pure: the caller knows the machine's GPUs.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "gym/cuda/driver.h"

namespace tritonsmith::gym::judge {

struct LocalJudgeConfig;

struct ReplayGpu {
  std::string name, driver, uuid;
  std::string target = "sm_90";  // the chip for which kernels are compiled
  int ordinal = 0;               // its number among the GPUs that this process may use
  std::string lease;             // a file; empty: none
  std::string properties;        // a JSON object for the guests whose plans run there
};

// Leaves out GPUs of another chip than the config's target, on which its kernels do not run. Fails
// if a named GPU is missing, or if the GPUs are not alike: one plan is captured for all of
// them and compiled once, and times are compared across them.
Result<std::vector<ReplayGpu>> choose_gpus(const LocalJudgeConfig& config,
                                           std::span<const cuda::GpuFacts> here);
// Returns the config without the GPUs of these UUIDs, which are in quarantine. Fails if that leaves
// none of the judge's GPUs: it would become a judge on the CPU, whose verdicts say less.
Result<LocalJudgeConfig> without_gpus(LocalJudgeConfig config, std::span<const cuda::GpuFacts> here,
                                      std::span<const std::string> quarantined);
// Returns the chip that kernels are compiled for.
std::string target_of(const LocalJudgeConfig& config, std::span<const ReplayGpu> chosen);

}  // namespace tritonsmith::gym::judge
