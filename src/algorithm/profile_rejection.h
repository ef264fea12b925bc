// Rejects samples by their profile (PRS, Dr. Kernel, arXiv 2602.05885). Lazy kernels are correct
// but leave most work to torch. This filter leaves most of them out of training. It uses the
// coverage: the share of device time that the candidate's own kernels take.
//   keep probability = 1                                        if the kernel was not accepted
//                    = 1                                        if speed-up >= keep_speedup > 0
//                    = clip((coverage - begin) / width, 0, 1)   else
// The paper reports that a hard cut (width 0) works worse. The gym measures the coverage exactly. A
// verdict without coverage (an evaluated one) is always kept. The function is pure.
#pragma once

#include "data/verdict.h"

namespace tritonsmith::algorithm {

struct ProfileRejection {
  double begin = 0.3;
  double width = 0.1;
  double keep_speedup = 0;  // 0: no kernel is kept for its speed
};

double keep_probability(const Verdict& verdict, const ProfileRejection& options);

}  // namespace tritonsmith::algorithm
