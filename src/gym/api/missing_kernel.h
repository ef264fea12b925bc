// Makes the verdict of a completion that holds no kernel. The caller makes it without asking the
// gym.
#pragma once

#include "data/kernel.h"
#include "data/task.h"
#include "data/verdict.h"

namespace tritonsmith::gym::api {

// Returns stage none and error class no_kernel, with the findings of the extraction. The kernel's
// source must be empty.
Verdict missing_kernel_verdict(const Task& task, const Kernel& kernel, Policy policy);

}  // namespace tritonsmith::gym::api
