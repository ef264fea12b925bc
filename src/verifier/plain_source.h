// Removes from a kernel's source what only speaks to readers: comments, and strings that stand
// alone as statements. A model that reviews the kernel must not be talked to by it. Lines keep
// their numbers.
#pragma once

#include <string>

namespace tritonsmith::verifier {

std::string without_comments(const std::string& source);

}  // namespace tritonsmith::verifier
