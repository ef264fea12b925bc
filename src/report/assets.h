// Holds the style sheet and the script that every page carries.
#pragma once

#include <string_view>

namespace tritonsmith::report {

extern const std::string_view kStyle;
extern const std::string_view kScript;

}  // namespace tritonsmith::report
