// Renders Python source as HTML with syntax colours: keywords, strings, comments, numbers, names of
// functions, decorators. Text that is no Python is shown as it is.
#pragma once

#include <string>
#include <string_view>

namespace tritonsmith::report {

// `marked_line` (from 1; 0: none) is shown on a ground of its own.
std::string highlighted(std::string_view source, int marked_line = 0);

}  // namespace tritonsmith::report
