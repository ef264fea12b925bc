// ReplayGpu: a GPU on which plans are run, as verdicts name it; and which of those that are here a
// judge takes. Pure: whoever calls knows what is here.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "gym/cuda/driver.h"

namespace tritonsmith::gym::judge {

struct LocalJudgeConfig;

struct ReplayGpu {
  std::string name, driver;
  std::string target = "sm_90";  // that kernels are compiled for
  int ordinal = 0;               // among those that this process may use
  std::string lease;             // a file; empty: none
  std::string properties;        // told to the guests whose plans run there: a JSON object
};

// Fails where one that is named is not there, and where they are not alike: one plan is captured
// for all of them, compiled once, and its times are compared with those of others.
Result<std::vector<ReplayGpu>> choose_gpus(const LocalJudgeConfig& config,
                                           std::span<const cuda::GpuFacts> here);

}  // namespace tritonsmith::gym::judge
