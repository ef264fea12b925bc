// Why a candidate was not accepted, in one name: what tables count, each sample once.
#pragma once

#include <string>

#include "data/verdict.h"

namespace tritonsmith {

// The rule of the first finding that rejects, else the error's class, else the stage that was
// reached. Empty where the verdict accepts.
std::string failure_of(const Verdict& verdict);

}  // namespace tritonsmith
