// The signature of a launch plan: what is called on what, without shapes, numbers and locations in
// the source. Two tasks of one signature compute the same, on inputs of other sizes. Two kernels of
// one signature are the same Triton IR, launched in the same order. Pure functions.
#pragma once

#include <string>

#include "gym/plan/plan.h"

namespace tritonsmith::curate {

// Returns the signature of a task's forward. Empty: it has no plan.
std::string task_signature(const gym::plan::Plan& plan);
std::string kernel_signature(const gym::plan::Plan& plan);

}  // namespace tritonsmith::curate
