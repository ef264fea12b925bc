// The processor time that the processes of a judge have used so far, by kind. On a machine with
// other work this is more informative than the clock.
#pragma once

#include <map>
#include <string>

namespace tritonsmith {

// Seconds by "judge" (this program), "zygote" (forking and reaping), "guests", "compilers", "ptxas"
// and "referees".
std::map<std::string, double> processor_seconds();

}  // namespace tritonsmith
