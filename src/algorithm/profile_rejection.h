// Profiling-based rejection sampling (PRS, Dr. Kernel, arXiv 2602.05885): lazy kernels, which are
// right but leave the work to torch, are mostly left out of training, by the share of device time
// (coverage) that the candidate's own kernels take:
//   keep probability = 1                                           of what was not accepted
//                    = clip((coverage - begin) / width, 0, 1)      of what was
//                    = 1 besides, where speed-up >= keep_speedup > 0
// A hard cut (width 0) works worse, says the paper. Coverage is the gym's exact one. What has none
// (an evaluated verdict) is kept: nothing is known against it. Pure.
#pragma once

#include "data/verdict.h"

namespace tritonsmith::algorithm {

struct ProfileRejection {
  double begin = 0.3;
  double width = 0.1;
  double keep_speedup = 0;  // 0: speed saves nobody
};

double keep_probability(const Verdict& verdict, const ProfileRejection& options);

}  // namespace tritonsmith::algorithm
