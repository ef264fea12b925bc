// A verdict as a few lines of text for users.
#pragma once

#include <string>

#include "data/verdict.h"

namespace tritonsmith::cli {

std::string judge_text(const Verdict& verdict);

}  // namespace tritonsmith::cli
