// Operators that draw from a random generator, as LibTorch's dispatcher tags them.
#pragma once

#include <string>

namespace tritonsmith::gym::plan::operators {

// Whether the dispatcher says that the operator draws from a generator.
bool is_random_operator(const std::string& full_name);

}  // namespace tritonsmith::gym::plan::operators
