// How much processor time the processes of a judge have used so far, by what they do. For
// benchmarks: on a machine that does other things too, this says more than the clock.
#pragma once

#include <map>
#include <string>

namespace tritonsmith {

// Seconds by "judge" (this program), "zygote" (forking and reaping), "guests", "compilers", "ptxas"
// and "referees".
std::map<std::string, double> processor_seconds();

}  // namespace tritonsmith
