// The form of KernelLLM's prompts: one solved example, the module, and code alone as the answer.
#pragma once

#include <string>

namespace tritonsmith::text {

std::string prompt_with_example(const std::string& source);

}  // namespace tritonsmith::text
