// Writes a finished sketch as a Python file in KernelBench's format, in the sketch's style.
#pragma once

#include <string>

#include "curriculum/zoo/sketch.h"

namespace tritonsmith::curriculum::zoo {

std::string module_source(const Sketch& sketch, Rng& rng);

// Replaces the marks of named sizes by their numbers.
std::string with_numbers(std::string text, const Sketch& sketch);

}  // namespace tritonsmith::curriculum::zoo
