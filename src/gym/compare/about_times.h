// Says in words how many times an error exceeds the allowed error.
#pragma once

#include <string>

namespace tritonsmith::gym::compare {

// Returns "1.5 times", "about 1,500 times" or "about a million times or more".
std::string about_times(double factor);

}  // namespace tritonsmith::gym::compare
